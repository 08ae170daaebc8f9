//! Voxel chunks, and meshers that convert them to quads. Pure functions without I/O or threads.
//!
//! ```text
//!  Chunk n³ ─┐                              ┌► opaque quads       ┐ ChunkMesh: face directions in
//!            ├─► PaddedChunk (n+2)³ ─mesh──►┤                     ├ the order of Face::ALL,
//!  26 others ┘   a halo of one voxel        └► translucent quads  ┘ each sorted back to front
//! ```
//!
//! Y is up, coordinates are right-handed, and one voxel is one unit.
//!
//! # Which mesher?
//!
//! | | quads | time for 32³ of terrain | use it for |
//! |---|---|---|---|
//! | [`GreedyMesher`] | few large ones | 50 to 70 µs | drawing |
//! | [`GreedyMesher`] with [`Merging::Conforming`] | more, without T-junctions | longer | pictures without stray pixels |
//! | [`mesh_unit`], or [`Merging::Unit`] | one per visible face | longest | tests, and faces with separate corners |
//!
//! All meshers use one rule for visibility, [`face_is_visible`], and cover exactly the same faces.
//! The quads do not overlap, and each has one material.
//!
//! # Examples
//! ```
//! use drystone_voxel::{Chunk, ChunkMesh, GreedyMesher, LocalPos, MaterialTable, PaddedChunk};
//!
//! let mut table = MaterialTable::new();
//! let stone = table.insert("stone", [120, 120, 120, 255]).unwrap();
//! let glass = table.insert("glass", [200, 220, 255, 90]).unwrap();
//!
//! // A stone floor with one block of glass on it.
//! let mut chunk = Chunk::new(32, drystone_voxel::Material::AIR);
//! for (x, z) in (0..32).flat_map(|x| (0..32).map(move |z| (x, z))) {
//!     chunk.set(LocalPos::new(x, 0, z), stone);
//! }
//! chunk.set(LocalPos::new(5, 1, 5), glass);
//!
//! // No neighbours: air all around. Reuse padded chunk, mesher and mesh for many chunks; they
//! // keep their memory.
//! let (mut padded, mut mesher, mut mesh) =
//!     (PaddedChunk::new(), GreedyMesher::new(), ChunkMesh::new());
//! padded.fill(&chunk, |_offset| None);
//! mesher.mesh(&padded, &table, &mut mesh);
//!
//! assert_eq!(mesh.opaque.len(), 6); // the floor is visible through the glass: one quad per side
//! assert_eq!(mesh.translucent.len(), 5); // the glass has no face towards the stone
//! assert_eq!(mesh.opaque.quads()[0].size(), [1, 32]);
//! ```
//!
//! For LOD voxels, [`downsample`] merges eight chunks into one. [`mesh_skirt`] closes the gap
//! between a chunk's mesh and a neighbour at another level of detail.
//!
//! # Limits
//! - Chunks are cubes of 1 to 64 voxels per side. All chunks of a world have one size.
//! - Material numbers have 16 bits. The only shape is the cube. The only lighting in quads is the
//!   ambient occlusion (AO) of [`GreedyMesher::ambient_occlusion`].
//! - A mesher reads one chunk and its halo. A missing neighbour counts as air, so each mesh is
//!   closed.
//! - Merged quads meet in T-junctions, which a rasteriser may show as single pixels.
//!   [`Merging::Conforming`] avoids them within a chunk, but not at chunk borders: a cut can
//!   continue through many chunks, which a mesher of one chunk cannot detect. Cutting all borders
//!   at each voxel gave 95 to 100 % as many quads as single faces (a generated world and two
//!   models). Use [`Merging::Unit`] for a world without any T-junctions.
//! - Translucent quads of one face direction blend correctly in their stored order. The caller
//!   sorts between face directions and between chunks.
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod chunk;
mod chunk_mesh;
mod conforming;
mod downsample;
mod greedy_mesher;
mod material;
mod occlusion;
mod padded;
mod position;
#[allow(unsafe_code)]
mod simd;
mod skirt;
mod unit_mesher;
mod visibility;

pub use chunk::{Chunk, StorageKind, Voxels};
pub use chunk_mesh::ChunkMesh;
pub use downsample::{downsample, downsample_block};
pub use greedy_mesher::{GreedyMesher, Merging, Remesher};
pub use material::{Material, MaterialKind, MaterialTable};
pub use padded::PaddedChunk;
pub use position::{ChunkPos, LocalPos, VoxelPos};
pub use skirt::mesh_skirt;
pub use unit_mesher::{mesh_unit, mesh_unit_shaded};
pub use visibility::face_is_visible;
