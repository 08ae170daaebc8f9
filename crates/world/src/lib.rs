//! Where voxels come from: a generated world and files, chunk by chunk or whole in memory.
//!
//! ```text
//!  GeneratedWorld ─┐
//!                  ├─ Source ──► chunk by chunk
//!  VoxFile (.vox) ─┘        └──► World: all chunks in memory ──► PaddedChunk ──► mesher
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
//!
//! # Which one?
//! * [`open_source`] when a user names the source, [`GeneratedWorld`] and [`VoxFile`] when
//!   the program does.
//! * [`World`] to look at neighbours, to count or to edit; a bare [`Source`] to go through
//!   the chunks once.
//!
//! # Limits
//! A [`World`] takes [`World::MAX_CHUNKS`] chunks, a generated one as many; what a `.vox`
//! file may hold is listed at [`VoxFile`].
#![forbid(unsafe_code)]

mod error;
mod generate;
mod model;
mod source;
mod vox;
mod voxel_box;
mod world;

pub use error::WorldError;
pub use generate::{GeneratedWorld, GeneratorConfig};
pub use model::{
    Model, ModelBounds, ModelMaterial, ModelOptions, ModelPart, ModelVertex, ModelWarning,
    ReadBeside, WarningKind, Warnings,
};
pub use source::{SUPPORTED_SOURCES, Source, open_source};
pub use vox::{VoxFile, VoxLayer, VoxSummary};
pub use voxel_box::VoxelBox;
pub use world::World;
