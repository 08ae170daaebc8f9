//! Editing voxels: ray casts, edits, undo history and edit stores.

mod change;
mod filling;
mod history;
mod parts;
mod ray;
mod store;
#[cfg(test)]
mod tests;

use drystone_voxel::{Chunk, ChunkPos};

pub use change::Edit;
pub use filling::Filling;
pub use history::EditHistory;
pub use parts::EditParts;
pub use ray::{VoxelHit, VoxelRay};
pub use store::{EditStore, Saving};

use crate::{LodData, World};

/// Voxels that are read chunk by chunk: a [`World`] or [`LodData`]. Reads of nearby voxels are
/// fast.
pub trait Voxels {
    /// Returns the side of every chunk, in voxels.
    fn side(&self) -> u32;

    /// Returns the chunk at `position`, which shares its voxels with the stored one. A missing
    /// chunk is all air. `None` means that nothing can be set: the position is outside the world,
    /// or its chunk cannot be read.
    fn chunk_at(&self, position: ChunkPos) -> Option<Chunk>;
}

impl Voxels for World {
    fn side(&self) -> u32 {
        self.side()
    }

    fn chunk_at(&self, position: ChunkPos) -> Option<Chunk> {
        let air = || Chunk::new(self.side(), drystone_voxel::Material::AIR);
        let chunk = || self.chunk(position).map_or_else(air, Chunk::snapshot);
        self.is_readable(position).then(chunk)
    }
}

impl Voxels for LodData {
    fn side(&self) -> u32 {
        Chunk::SIDE
    }

    fn chunk_at(&self, position: ChunkPos) -> Option<Chunk> {
        self.is_inside(position.into()).then(|| self.readable_chunk(position.into()))?
    }
}
