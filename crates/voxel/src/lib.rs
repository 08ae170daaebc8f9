//! Voxel chunks and the meshers that turn them into quads: pure functions, no I/O, no
//! threads.
//!
//! ```text
//!  Chunk n³ ─┐                              ┌► opaque quads
//!            ├─► PaddedChunk (n+2)³ ─mesh──►┤
//!  26 others ┘   a halo of one voxel        └► see-through quads
//! ```
//!
//! Y is up, coordinates are right-handed, one voxel is one unit.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod chunk;
mod material;
mod padded;
mod position;

pub use chunk::Chunk;
pub use material::{Material, MaterialKind, MaterialTable};
pub use padded::PaddedChunk;
pub use position::{ChunkPos, LocalPos, VoxelPos};
