use super::store::Polygons;
use super::vertices::Vertices;
use super::{PolygonStore, VertexLists};

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
    /// coordinate of its own. Less than `bytes` where vertices share coordinates whose first
    /// vertex is gone.
    pub unshared_bytes: u64,
    /// Bytes of memory that the store has asked for to keep these, free records included.
    pub reserved_bytes: u64,
}

impl PolygonStats {
    pub(super) fn of<T, L: VertexLists>(store: &PolygonStore<T, L>) -> Self {
        let PolygonStore { polygons, vertices, lists, .. } = store;
        let per_polygon = Polygons::<L>::RECORD_BYTES as u64;
        let per_whole = Vertices::<T>::WHOLE_BYTES as u64;
        let per_seam = Vertices::<T>::SEAM_BYTES as u64;
        let number = size_of::<u32>() as u64;
        let corners = store.corner_count;
        let listed = u64::from(polygons.len()) * per_polygon + corners * number;
        let reserved = polygons.reserved_bytes()
            + vertices.reserved_bytes()
            + lists.reserved_bytes()
            + store.blocks.reserved_bytes();
        Self {
            polygons: polygons.len(),
            temporaries: store.temporaries.len() as u32,
            corners,
            vertices: vertices.len(),
            coordinates: vertices.coordinate_count(),
            bytes: listed
                + u64::from(vertices.coordinate_count()) * per_whole
                + u64::from(vertices.seam_count()) * per_seam,
            unshared_bytes: listed + corners * per_whole,
            reserved_bytes: reserved as u64,
        }
    }
}
