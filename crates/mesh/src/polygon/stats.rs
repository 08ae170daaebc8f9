use super::store::Polygons;
use super::vertices::Vertices;
use super::{PolygonStore, VertexLists};

/// Statistics of a [`PolygonStore`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolygonStats {
    /// Number of polygons, including temporary ones.
    pub polygons: u32,
    /// Number of temporary polygons of this frame, including those already removed.
    pub temporaries: u32,
    /// Number of corners of all polygons, which is the number of vertices without sharing.
    pub corners: u64,
    /// Number of vertices.
    pub vertices: u32,
    /// Number of coordinates.
    pub coordinates: u32,
    /// Size of all records in use and of the vertex lists, in bytes.
    pub bytes: u64,
    /// Size without sharing, in bytes: each corner with a vertex and a coordinate of its own. Can
    /// be below `bytes` if vertices share coordinates whose first vertex was removed.
    pub unshared_bytes: u64,
    /// Size of the reserved memory in bytes, including free records.
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
