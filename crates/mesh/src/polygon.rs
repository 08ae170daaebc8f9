//! Polygons with shared, counted vertices and coordinates.

mod blocks;
mod check;
mod clip;
mod corner;
mod cut;
mod frame;
mod interpolate;
mod lists;
mod mesh;
mod part;
mod plane;
mod sides;
mod stats;
mod store;
#[cfg(test)]
mod tests;
#[cfg(feature = "triangulate")]
mod triangulate;
mod vertices;

pub use clip::Clipped;
pub use corner::{
    Coordinate, CoordinateHandle, Corner, CornerRef, Corners, Polygon, PolygonHandle, Projected,
    Vertex, VertexHandle,
};
pub use interpolate::Interpolate;
pub use lists::{IndexRuns, VertexLists};
pub use mesh::MeshVertex;
pub use part::{Lifetime, PartCorner};
pub use plane::{Plane, frustum, portal, pyramid};
pub use stats::PolygonStats;
pub use store::PolygonStore;
#[cfg(feature = "triangulate")]
pub use triangulate::Triangulator;
