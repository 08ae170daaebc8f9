#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod box_mesher;
mod chunk;
mod chunk_box;
mod chunk_mesh;
mod conforming;
mod downsample;
mod error;
mod greedy_mesher;
mod keyed_mesh;
mod material;
mod material_counts;
mod material_texture;
mod mesher_options;
mod node_pos;
mod occlusion;
mod padded;
mod pieces;
mod position;
mod shape;
mod shape_mesher;
#[allow(unsafe_code)]
mod simd;
mod skirt;
mod surface_mesher;
mod unit_mesher;
mod visibility;
mod voxel_array;
mod voxel_box;

pub use box_mesher::BoxMesher;
pub use chunk::{Chunk, StorageKind, Voxels};
pub use chunk_box::ChunkBox;
pub use chunk_mesh::ChunkMesh;
pub use downsample::{downsample, downsample_block};
pub use drystone_mesh::{Face, Quad, QuadBuffer};
pub use error::Error;
pub use greedy_mesher::{GreedyMesher, Remesher};
pub use keyed_mesh::{KeyedMesh, KeyedQuad};
pub use material::{Material, MaterialKind, MaterialTable};
pub use material_counts::MaterialCounts;
pub use material_texture::MaterialTexture;
pub use mesher_options::{Merging, MesherOptions};
pub use node_pos::NodePos;
pub use padded::PaddedChunk;
pub use position::{ChunkPos, LocalPos, VoxelPos};
pub use shape::{Shape, ShapeBox, ShapeKind};
pub use shape_mesher::ShapeMesher;
pub use skirt::mesh_skirt;
pub use surface_mesher::SurfaceMesher;
pub use unit_mesher::{mesh_unit, mesh_unit_shaded};
pub use visibility::face_is_visible;
pub use voxel_array::{Halo, Visibility, Voxel, VoxelArray};
pub use voxel_box::VoxelBox;
