use std::path::PathBuf;

use drystone_formats::{EditStore, Saving, SourceError};
use drystone_voxel::{Chunk, ChunkPos};

use super::StoredWorld;
use super::committer::Committer;

impl EditStore for StoredWorld {
    fn path(&self) -> PathBuf {
        self.path().into()
    }

    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), SourceError> {
        self.put(chunks)
    }

    fn flush(&self) -> Result<(), SourceError> {
        self.flush()
    }

    fn saving(&self) -> Saving {
        self.committer.as_ref().map_or_else(Saving::default, Committer::saving)
    }

    fn waiting(&self) -> Vec<(ChunkPos, Chunk)> {
        self.committer.as_ref().map_or_else(Vec::new, Committer::waiting_chunks)
    }
}
