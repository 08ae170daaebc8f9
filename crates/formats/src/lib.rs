#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(
        feature = "export",
        feature = "gltf",
        feature = "minecraft",
        feature = "obj",
        feature = "png",
        feature = "qb",
        feature = "textures",
        feature = "tiff",
        feature = "vox"
    )),
    allow(dead_code, reason = "formats share helpers, and no format uses all")
)]

mod arrivals;
#[cfg(any(feature = "height-map", feature = "minecraft"))]
mod cache;
mod error;
#[cfg(feature = "export")]
mod export;
mod fault;
#[cfg(any(feature = "height-map", feature = "minecraft"))]
mod faults;
mod file;
mod format;
#[cfg(feature = "height-map")]
mod height_map;
mod identity;
mod input;
mod memory_file;
#[cfg(feature = "minecraft")]
mod minecraft;
#[cfg(feature = "model")]
mod model;
#[cfg(feature = "qb")]
mod qb;
mod source;
#[cfg(any(feature = "export", feature = "model"))]
mod up_axis;
#[cfg(feature = "vox")]
mod vox;
#[cfg(feature = "model")]
mod voxelize;

pub use arrivals::{ArrivalFailure, ArrivalState, Arrivals};
pub use error::SourceError;
#[cfg(feature = "export")]
pub use export::{
    ExportFormat, ExportNodes, ExportOptions, ExportProgress, ExportSummary, ExportVoxels,
    FaceColors, OnProgress, ReadNode, export_model, export_voxels,
};
pub use format::Format;
#[cfg(feature = "height-map")]
pub use height_map::{HeightMap, HeightMapOptions, HeightMapSummary, Voids};
pub use input::Input;
pub use memory_file::MemoryFile;
#[cfg(feature = "minecraft")]
pub use minecraft::{MinecraftWorld, RegionFiles};
#[cfg(feature = "model")]
pub use model::{
    AlphaMode, Model, ModelBounds, ModelImage, ModelMaterial, ModelOptions, ModelPart,
    ModelTexture, ModelUp, ModelVertex, ModelWarning, ReadNamedFile, UpReason, WarningKind,
    Warnings, Wrap,
};
#[cfg(feature = "qb")]
pub use qb::QbFile;
pub use source::{
    EditDestination, EditStore, MAX_LOADED_CHUNKS, Motion, Saving, SeparateEdits, Source,
    TILE_CHUNKS, Tiles, WorldFile,
};
#[cfg(any(feature = "export", feature = "model"))]
pub use up_axis::UpAxis;
#[cfg(feature = "vox")]
pub use vox::{VoxFile, VoxLayer, VoxOptions, VoxSummary};
#[cfg(feature = "model")]
pub use voxelize::VoxelModel;
