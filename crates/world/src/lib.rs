#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod edit;
mod generate;
mod lod;
mod moving;
mod open;
mod orientation;
mod shape;
mod world;

pub use edit::{
    Clipboard, Copying, Edit, EditDirection, EditHistory, EditParts, EditSummary, Filling,
    PasteAir, Placement, VoxelAccess, VoxelHit, VoxelRay,
};
pub use generate::{GeneratedWorld, GeneratorConfig};
pub use lod::{
    BlockedLight, CubeSink, LodCamera, LodConfig, LodCount, LodData, LodTree, Meshing, NodeSink,
    PixelScale, Unsaved,
};
pub use moving::{CraterLand, MovingConfig, MovingKind, MovingWorld};
pub use open::{OpenOptions, Opened, open, open_voxels};
pub use orientation::{Axis, Orientation};
pub use shape::VoxelShape;
pub use world::World;
