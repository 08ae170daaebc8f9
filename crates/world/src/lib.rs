#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod chunk_box;
mod edit;
mod edited;
mod error;
mod generate;
mod height_map;
mod identity;
mod import;
mod lod;
mod minecraft;
mod model;
mod node;
mod open;
mod qb;
mod shape;
mod source;
mod stored;
mod vox;
mod voxel_box;
mod voxelize;
mod world;

pub use chunk_box::ChunkBox;
pub use edit::{
    Edit, EditHistory, EditParts, EditStore, Filling, Saving, VoxelHit, VoxelRay, Voxels,
};
pub use edited::EditedSource;
pub use error::WorldError;
pub use generate::{GeneratedWorld, GeneratorConfig};
pub use height_map::{HeightMap, HeightMapOptions, HeightMapSummary, Voids};
pub use import::{ImportOptions, ImportProgress, import};
pub use lod::{
    LodCamera, LodConfig, LodCount, LodData, LodTree, NodeMesh, NodeSink, PixelScale, Unsaved,
};
pub use minecraft::MinecraftWorld;
pub use model::{
    Model, ModelBounds, ModelMaterial, ModelOptions, ModelPart, ModelVertex, ModelWarning,
    ReadNamedFile, WarningKind, Warnings,
};
pub use node::NodePos;
pub use open::{Format, Input, OpenOptions, Opened, open, open_voxels};
pub use qb::QbFile;
pub use shape::VoxelShape;
pub use source::Source;
pub use stored::{
    CommitPolicy, MemoryFile, NotClosed, StoredLater, StoredSummary, StoredWorld, WorldCheck,
};
pub use vox::{VoxFile, VoxLayer, VoxSummary};
pub use voxel_box::VoxelBox;
pub use voxelize::VoxelModel;
pub use world::World;
