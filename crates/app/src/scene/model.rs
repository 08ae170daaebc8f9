//! Polygon models on their way to a renderer: cut into triangles, with the normals that
//! they are shaded by, and placed in the world at a size that can be looked at.

mod normals;
mod place;
mod split;
mod triangles;

pub use place::ModelTransform;
pub use triangles::{ModelTriangles, PartTriangles, Shade};
