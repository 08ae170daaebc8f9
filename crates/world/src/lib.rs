#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod edit;
mod generate;
mod lod;
mod moving;
mod open;
mod shape;
mod world;

pub use edit::{
    Edit, EditDirection, EditHistory, EditParts, Filling, VoxelAccess, VoxelHit, VoxelRay,
};
pub use generate::{GeneratedWorld, GeneratorConfig};
pub use lod::{
    CubeSink, LodCamera, LodConfig, LodCount, LodData, LodTree, Meshing, NodeSink, PixelScale,
    Unsaved,
};
pub use moving::{CraterLand, MovingConfig, MovingKind, MovingWorld};
pub use open::{OpenOptions, Opened, open, open_voxels};
pub use shape::VoxelShape;
pub use world::World;
