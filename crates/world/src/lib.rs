//! Where voxels come from: a generated world and files, chunk by chunk or whole in memory;
//! and polygon models from files.
//!
//! ```text
//!  GeneratedWorld ────────┐
//!  VoxFile (.vox) ────────┤
//!  MinecraftWorld (.mca) ─┼─ Source ──► chunk by chunk
//!  HeightMap (.png, …) ───┤        ├──► World: all chunks in memory ──► PaddedChunk ──► mesher
//!  StoredWorld ───────────┘        └──► LodData ─► LodTree: meshes, fine near the eye
//!      ▲                                and coarse far away, made on threads
//!      └─ import: any of the others
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
//! A model, as a program that is told of a file would open it:
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
//! * [`open_source`] when a user names the source, [`parse_source`] where there are only bytes, [`GeneratedWorld`], [`VoxFile`] and
//!   [`MinecraftWorld`] when the program does; [`HeightMap`] too, or when a height map's
//!   scale is known.
//! * [`World`] to look at neighbours, to count or to edit; a bare [`Source`] to go through
//!   the chunks once; [`LodTree`] over [`LodData`] to show what memory cannot hold.
//! * [`VoxelRay`] for what is looked at, [`Edit`] and [`EditHistory`] to change voxels and take
//!   that back, in a [`World`] or [`LodData`] alike; a [`StoredWorld`] keeps what is put into
//!   it, an [`EditedSource`] keeps the edits of any other source in a file beside it. Where there
//!   are no files, a [`MemoryFile`] is one.
//! * [`Model`] for polygons; [`Model::is_model`] tells by the name which of the two a file
//!   is.
//!
//! # Limits
//! A [`World`] takes [`World::MAX_CHUNKS`] chunks, a streamed one any number; what a `.vox`
//! file may hold is listed at [`VoxFile`], what a height map may at [`HeightMap`], what a
//! model may at [`ModelOptions`].
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
