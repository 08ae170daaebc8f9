//! Voxel chunks and the meshers that turn them into quads: pure functions, no I/O, no
//! threads.
//!
//! ```text
//!  Chunk n³ ─┐                              ┌► opaque quads       ┐ ChunkMesh, facings in
//!            ├─► PaddedChunk (n+2)³ ─mesh──►┤                     ├ the order of Face::ALL,
//!  26 others ┘   a halo of one voxel        └► translucent quads  ┘ each back to front
//! ```
//!
//! Y is up, coordinates are right-handed, one voxel is one unit.
//!
//! # Which mesher?
//!
//! | | quads | time for 32³ of terrain | take it for |
//! |---|---|---|---|
//! | [`GreedyMesher`] | few large ones | 50 to 70 µs | drawing |
//! | the same with [`Merging::Conforming`] | more, without T-junctions | longer | pictures without a stray pixel |
//! | [`mesh_unit`], or [`Merging::Unit`] | one a visible face | longest | checking, and where every face needs its own four corners |
//!
//! Both follow one rule for what is visible, [`face_is_visible`], and cover exactly the
//! same faces: the union of the quads is what the rule says, without overlap, one material
//! a quad.
//!
//! # Examples
//! ```
//! use drystone_voxel::{Chunk, ChunkMesh, GreedyMesher, LocalPos, MaterialTable, PaddedChunk};
//!
//! let mut table = MaterialTable::new();
//! let stone = table.insert("stone", [120, 120, 120, 255]).unwrap();
//! let glass = table.insert("glass", [200, 220, 255, 90]).unwrap();
//!
//! // A floor of stone with one block of glass on it.
//! let mut chunk = Chunk::new(32, drystone_voxel::Material::AIR);
//! for (x, z) in (0..32).flat_map(|x| (0..32).map(move |z| (x, z))) {
//!     chunk.set(LocalPos::new(x, 0, z), stone);
//! }
//! chunk.set(LocalPos::new(5, 1, 5), glass);
//!
//! // No neighbours: air all around. Padded chunk, mesher and mesh keep their memory; use
//! // them for one chunk after the other.
//! let (mut padded, mut mesher, mut mesh) =
//!     (PaddedChunk::new(), GreedyMesher::new(), ChunkMesh::new());
//! padded.fill(&chunk, |_offset| None);
//! mesher.mesh(&padded, &table, &mut mesh);
//!
//! assert_eq!(mesh.opaque.len(), 6); // the floor shows under the glass: one quad a side
//! assert_eq!(mesh.translucent.len(), 5); // the glass shows none to the stone
//! assert_eq!(mesh.opaque.quads()[0].size(), [1, 32]);
//! ```
//!
//! For what is seen from afar, [`downsample`] makes one chunk of larger voxels of eight, and
//! [`mesh_skirt`] closes a chunk's mesh towards a neighbour that is shown at another level.
//!
//! # Limits
//! - Chunks are cubes of 1 to 64 voxels a side, all chunks of one world of one side.
//! - Materials are 16 bits; there is no shape but the cube, and no light in the quads but
//!   the darkened corners of [`GreedyMesher::ambient_occlusion`].
//! - A mesher sees one chunk and its halo. A neighbour that is missing counts as air, so
//!   that every mesh is a closed hull.
//! - Merged quads meet in T-junctions, which a rasteriser may show as single pixels; where
//!   that matters, take [`Merging::Conforming`]. Between chunks they remain, on the planes,
//!   edges and corners where chunks meet. A cut runs on through every quad that it meets, and
//!   so through chunk after chunk, for as long as the surface goes on: no mesher that sees one
//!   chunk and its halo can know which cuts come in. It would have to allow for all of them,
//!   and what is cut at every voxel of its border ends up in single faces (a generated world
//!   and two models took 95 to 100 % as many quads): so [`Merging::Unit`] is the mode that has
//!   none there either.
//! - Translucent quads of one facing blend correctly as they lie; between facings and
//!   between chunks the caller orders.
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
