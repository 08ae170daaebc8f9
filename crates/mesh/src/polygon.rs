//! Polygons with shared, counted vertices and coordinates.

// First, so that the documentation of the store begins with its constructors.
mod store;

mod blocks;
mod clip;
mod corner;
mod corners;
mod cut;
mod insert;
mod interpolate;
mod lists;
mod part;
mod plane;
mod sides;
#[cfg(test)]
mod tests;
#[cfg(feature = "triangulate")]
mod triangulate;
mod vertices;

pub use clip::Clipped;
pub use corner::{
    Coordinate, CoordinateHandle, Corner, Polygon, PolygonHandle, Projected, Vertex, VertexHandle,
};
pub use corners::{CornerRef, Corners};
pub use insert::MeshVertex;
pub use interpolate::Interpolate;
pub use lists::{IndexRunOptions, IndexRuns, ListStats, VertexLists};
pub use part::{Lifetime, PartCorner};
pub use plane::{Plane, frustum, portal, pyramid};
pub use store::{PolygonStats, PolygonStore};
#[cfg(feature = "triangulate")]
pub use triangulate::Triangulator;
