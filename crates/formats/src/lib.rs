#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod error;
mod export;
mod fault;
mod file;
mod format;
mod height_map;
mod identity;
mod input;
mod memory_file;
mod minecraft;
mod model;
mod qb;
mod source;
mod vox;
mod voxelize;

pub use error::SourceError;
pub use export::{
    ExportFormat, ExportNodes, ExportOptions, ExportProgress, ExportSummary, ExportVoxels,
    FaceColors, OnProgress, ReadNode, UpAxis, export_model, export_voxels,
};
pub use format::Format;
pub use height_map::{HeightMap, HeightMapOptions, HeightMapSummary, Voids};
pub use input::Input;
pub use memory_file::MemoryFile;
pub use minecraft::MinecraftWorld;
pub use model::{
    Model, ModelBounds, ModelMaterial, ModelOptions, ModelPart, ModelVertex, ModelWarning,
    ReadNamedFile, WarningKind, Warnings,
};
pub use qb::QbFile;
pub use source::{
    EditDestination, EditStore, MAX_LOADED_CHUNKS, Motion, Saving, SeparateEdits, Source, WorldFile,
};
pub use vox::{VoxFile, VoxLayer, VoxSummary};
pub use voxelize::VoxelModel;
