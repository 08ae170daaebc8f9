//! Polygon models for rendering: triangulated, with normals for shading, and scaled to a fixed size
//! in the world.

mod normals;
mod split;
mod transform;
mod triangles;

pub use transform::ModelTransform;
pub use triangles::{ModelTriangles, PartTriangles, Shade};
