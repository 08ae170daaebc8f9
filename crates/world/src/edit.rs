//! Changing voxels: what a ray meets, what an edit changes, taking it back, keeping it.

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

/// Voxels that can be looked at chunk by chunk, near each other ones fast: a [`World`] or
/// [`LodData`].
pub trait Voxels {
    /// Voxels a side of every chunk.
    fn side(&self) -> u32;

    /// The chunk at `position`, which shares its voxels with the one that is kept; all air
    /// where nothing is. `None` where nothing can be set: outside of a world that has an end,
    /// and where what is there cannot be read.
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
