use std::path::PathBuf;

use drystone_voxel::{Chunk, ChunkPos};

use crate::WorldError;

/// Takes edited chunks and keeps them on disk.
pub trait EditStore {
    /// The file that keeps edits now.
    fn path(&self) -> PathBuf;

    /// Takes chunks as they are now, all-air ones too. The source gives them from now on;
    /// they are committed later, many at once.
    ///
    /// # Errors
    /// When an earlier commit failed: nothing is taken then, until [`flush`](Self::flush) did
    /// it.
    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), WorldError>;

    /// Returns when all that was taken is on disk; tries again what failed before.
    ///
    /// # Errors
    /// When it cannot be written; it is kept and can be tried again.
    fn flush(&self) -> Result<(), WorldError>;

    /// How far what was taken is from being on disk.
    fn saving(&self) -> Saving;

    /// What was taken and is not on disk, as it was taken.
    fn waiting(&self) -> Vec<(ChunkPos, Chunk)>;
}

/// How far edits are from being on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saving {
    /// Chunks that were taken and are not on disk.
    pub waiting_chunks: u64,
    /// Why the last commit failed, if it did.
    pub failure: Option<String>,
}
