#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod counted_pool;
mod cube;
mod error;
mod face;
mod index_pattern;
mod polygon;
mod quad;
mod quad_buffer;
mod quad_triangles;

pub use counted_pool::CountedPool;
pub use cube::Cube;
pub use drystone_alloc::Handle;
pub use error::Error;
pub use face::{Face, FaceSet};
pub use index_pattern::{INDICES_PER_QUAD, VERTICES_PER_QUAD, quad_index_pattern};
#[cfg(feature = "triangulate")]
pub use polygon::Triangulator;
pub use polygon::{
    Clipped, Coordinate, CoordinateHandle, Corner, CornerRef, Corners, IndexRunOptions, IndexRuns,
    Interpolate, Lifetime, ListStats, MeshVertex, PartCorner, Plane, Polygon, PolygonHandle,
    PolygonStats, PolygonStore, Projected, Vertex, VertexHandle, VertexLists, frustum, portal,
    pyramid,
};
pub use quad::{QUAD_WGSL, Quad};
pub use quad_buffer::{QuadBuffer, QuadSink};
pub use quad_triangles::{QuadTriangles, quads_to_triangles};
