use super::store::{Coordinates, PolygonRecord, Vertices};
use super::{PolygonStore, VertexLists};
use crate::counted_pool::CountedPool;

/// What a [`PolygonStore`] holds, and in how many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolygonStats {
    /// Polygons, temporary ones included.
    pub polygons: u32,
    /// Temporaries of this frame, those included that were removed before its end.
    pub temporaries: u32,
    /// Corners of all polygons: vertices, if none were shared.
    pub corners: u64,
    /// Vertices.
    pub vertices: u32,
    /// Coordinates.
    pub coordinates: u32,
    /// Bytes of all records and of the numbers of vertices in lists.
    pub bytes: u64,
    /// Bytes that the same would take without sharing: each corner with a vertex and a
    /// coordinate of its own.
    pub unshared_bytes: u64,
    /// Bytes of memory that the store has asked for to keep these, free records included.
    pub reserved_bytes: u64,
}

impl PolygonStats {
    pub(super) fn of<T, L: VertexLists>(store: &PolygonStore<T, L>) -> Self {
        let PolygonStore { polygons, vertices, coordinates, lists, .. } = store;
        let per_polygon = CountedPool::<PolygonRecord<L::List>>::RECORD_BYTES as u64;
        let per_vertex = Vertices::<T>::RECORD_BYTES as u64;
        let per_coordinate = Coordinates::RECORD_BYTES as u64;
        let number = size_of::<u32>() as u64;
        let corners = store.corner_count;
        let listed = u64::from(polygons.len()) * per_polygon + corners * number;
        let reserved = polygons.reserved_bytes()
            + vertices.reserved_bytes()
            + coordinates.reserved_bytes()
            + lists.reserved_bytes();
        Self {
            polygons: polygons.len(),
            temporaries: store.temporaries.len() as u32,
            corners,
            vertices: vertices.len(),
            coordinates: coordinates.len(),
            bytes: listed
                + u64::from(vertices.len()) * per_vertex
                + u64::from(coordinates.len()) * per_coordinate,
            unshared_bytes: listed + corners * (per_vertex + per_coordinate),
            reserved_bytes: reserved as u64,
        }
    }
}
