//! Editing voxels: ray casts, edits, copies and undo history.

// First, so that the documentation of an edit begins with its constructor.
mod filling;

mod change;
mod clipboard;
mod history;
mod operation;
mod parts;
mod ray;
#[cfg(test)]
mod tests;

use drystone_voxel::{Chunk, ChunkPos};

pub use change::{Edit, EditSummary};
pub use clipboard::{Clipboard, Copying, PasteAir, Placement};
pub use filling::Filling;
pub use history::EditHistory;
pub use parts::{EditDirection, EditParts};
pub use ray::{VoxelHit, VoxelRay};

/// Voxels that are read chunk by chunk: a [`World`](crate::World) or [`LodData`](crate::LodData). Reads of nearby voxels are
/// fast.
pub trait VoxelAccess {
    /// Returns the side of every chunk, in voxels.
    fn side(&self) -> u32;

    /// Returns the chunk at `position`, which shares its voxels with the stored one. A missing
    /// chunk is all air. `None` means that nothing can be set: the position is outside the world,
    /// or its chunk cannot be read.
    fn chunk_at(&self, position: ChunkPos) -> Option<Chunk>;
}
