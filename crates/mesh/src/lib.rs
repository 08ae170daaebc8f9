//! Faces, packed quads and index patterns: what a mesher writes and a renderer reads.
//!
//! ```text
//!  mesher ──push──► QuadBuffer ──quads()──► vertex pool ──► shader: quad = vertex_index / 4
//!                   −X −Y −Z +X +Y +Z       8 bytes a quad          corner = vertex_index % 4
//! ```
//!
//! What is drawn cube by cube has [`Cube`]s instead: 8 bytes a voxel, with its visible faces.
//!
//! # Examples
//! ```
//! use drystone_mesh::{Face, Quad, QuadBuffer, QuadSink};
//!
//! let mut mesh = QuadBuffer::new();
//! mesh.push(Quad::new([3, 0, 31], [4, 1], Face::PosY, 7));
//! assert_eq!(mesh.count(Face::PosY), 1);
//! assert_eq!(size_of_val(mesh.quads()), 8);
//! ```
//!
//! # Limits
//! A quad reaches positions 0 to 63 and sizes 1 to 64, in the integer grid of one chunk;
//! materials are 16 bits.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod cube;
mod face;
mod index_pattern;
mod quad;
mod quad_buffer;

pub use cube::Cube;
pub use face::{Face, FaceSet};
pub use index_pattern::{INDICES_PER_QUAD, VERTICES_PER_QUAD, quad_index_pattern};
pub use quad::Quad;
pub use quad_buffer::{QuadBuffer, QuadSink};
