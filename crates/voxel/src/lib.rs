#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod chunk;
mod chunk_box;
mod chunk_mesh;
mod conforming;
mod downsample;
mod greedy_mesher;
mod material;
mod material_counts;
mod mesher_options;
mod node_pos;
mod occlusion;
mod padded;
mod position;
#[allow(unsafe_code)]
mod simd;
mod skirt;
mod unit_mesher;
mod visibility;
mod voxel_box;

pub use chunk::{Chunk, StorageKind, Voxels};
pub use chunk_box::ChunkBox;
pub use chunk_mesh::ChunkMesh;
pub use downsample::{downsample, downsample_block};
pub use greedy_mesher::{GreedyMesher, Remesher};
pub use material::{Material, MaterialKind, MaterialTable};
pub use material_counts::MaterialCounts;
pub use mesher_options::{Merging, MesherOptions};
pub use node_pos::NodePos;
pub use padded::PaddedChunk;
pub use position::{ChunkPos, LocalPos, VoxelPos};
pub use skirt::mesh_skirt;
pub use unit_mesher::{mesh_unit, mesh_unit_shaded};
pub use visibility::face_is_visible;
pub use voxel_box::VoxelBox;
