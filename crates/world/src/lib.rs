//! Sources of voxels: a generated world and files, read chunk by chunk or whole into memory. Also
//! polygon models from files.
//!
//! ```text
//!  GeneratedWorld ────────┐
//!  VoxFile (.vox) ────────┤
//!  MinecraftWorld (.mca) ─┼─ Source ──► chunk by chunk
//!  HeightMap (.png, …) ───┤        ├──► World: all chunks in memory ──► PaddedChunk ──► mesher
//!  StoredWorld ───────────┘        └──► LodData ─► LodTree: meshes, fine near the camera and
//!      ▲                                           coarse far away, made on threads
//!      └─ import: from any other source
//!
//!  .obj, .gltf, .glb ──► Model: parts ──► polygons that share vertices and coordinates
//! ```
//! Y is up, coordinates are right-handed, one voxel is one unit, chunks are 32³.
//!
//! # Examples
//! ```
//! use drystone_world::{GeneratedWorld, GeneratorConfig, World};
//!
//! let config = GeneratorConfig { size_chunks: [2, 4, 2], ..GeneratorConfig::default() };
//! let world = World::load(&GeneratedWorld::new(config)?)?;
//! assert!(world.solid_count() > 10_000);
//! # Ok::<(), drystone_world::WorldError>(())
//! ```
//! A program that opens a model if the file is one:
//! ```
//! use std::path::Path;
//!
//! use drystone_world::{Model, ModelOptions, WorldError};
//!
//! fn triangles(path: &Path) -> Result<Option<u64>, WorldError> {
//!     if !Model::is_model(path) {
//!         return Ok(None);
//!     }
//!     let model = Model::open(path, &ModelOptions::default())?;
//!     model.warnings.iter().for_each(|it| eprintln!("{} {}", it.count, it.kind));
//!     Ok(Some(model.triangle_count()))
//! }
//! assert!(triangles(Path::new("lost.obj")).is_err());
//! assert!(triangles(Path::new("world.vox")).is_ok_and(|none| none.is_none()));
//! ```
//!
//! # Which one?
//! * [`open_source`] if the user names the source, and [`parse_source`] if there are only bytes.
//!   [`GeneratedWorld`], [`VoxFile`], [`MinecraftWorld`] and [`HeightMap`] if the program selects
//!   the format or sets options.
//! * [`World`] to read neighbours, count or edit voxels in memory; a [`Source`] to read each chunk
//!   once; [`LodTree`] with [`LodData`] to show worlds that do not fit into memory.
//! * [`VoxelRay`] to pick a voxel. [`Edit`] and [`EditHistory`] to change voxels and undo that, in a
//!   [`World`] or [`LodData`].
//! * [`StoredWorld`] to save chunks in a file; [`EditedSource`] to save the edits of any other
//!   source in a separate file. [`MemoryFile`] replaces the file where there is no file system.
//! * [`Model`] for polygons. [`Model::is_model`] checks the file name.
//!
//! # Limits
//! A [`World`] has at most [`World::MAX_CHUNKS`] chunks; a streamed world has no limit. The limits
//! of `.vox` files are listed at [`VoxFile`], those of height maps at [`HeightMap`], and those of
//! models at [`ModelOptions`].
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
    ReadBeside, WarningKind, Warnings,
};
pub use node::NodePos;
pub use shape::VoxelShape;
pub use source::{SUPPORTED_SOURCES, Source, open_source, parse_source};
pub use stored::{
    CommitPolicy, MemoryFile, NotClosed, StoredLater, StoredSummary, StoredWorld, WorldCheck,
};
pub use vox::{VoxFile, VoxLayer, VoxSummary};
pub use voxel_box::VoxelBox;
pub use voxelize::VoxelModel;
pub use world::World;
