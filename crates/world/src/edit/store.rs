use std::path::PathBuf;

use drystone_voxel::{Chunk, ChunkPos};

use crate::WorldError;

/// Persists edited chunks in a file.
pub trait EditStore {
    /// Returns the file that the edits are saved to.
    fn path(&self) -> PathBuf;

    /// Takes edited chunks, including empty ones. The source returns them from now on. They are
    /// committed later, many at once.
    ///
    /// # Errors
    /// When an earlier commit failed. Nothing is taken then until [`flush`](Self::flush) succeeds.
    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), WorldError>;

    /// Waits until all edits are on disk. Tries again what failed before.
    ///
    /// # Errors
    /// When the file cannot be written. The edits are kept and can be flushed again.
    fn flush(&self) -> Result<(), WorldError>;

    /// Returns the state of the edits that are not on disk yet.
    fn saving(&self) -> Saving;

    /// Returns the chunks that are not on disk yet.
    fn waiting(&self) -> Vec<(ChunkPos, Chunk)>;
}

/// State of the edits that are not on disk yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saving {
    /// Number of chunks that are not on disk yet.
    pub waiting_chunks: u64,
    /// Error of the last commit, if it failed.
    pub failure: Option<String>,
}
