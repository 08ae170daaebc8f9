//! Polygon models for rendering: triangulated, with normals for shading, and scaled to a fixed size
//! in the world.

// First, so that the documentation of the triangles begins with their constructor.
mod triangles;

mod hit;
mod normals;
mod split;
mod surfaces;
mod transform;

pub use transform::ModelTransform;
pub use triangles::{ModelTriangles, PartTriangles, Shade};
