use std::path::Path;

use drystone_formats::SourceError;
use drystone_voxel::{Chunk, ChunkPos};

use super::batch::{Batch, IMPORT};
use super::database::{META, damaged};
use super::{CommitPolicy, StoredWorld, WRONG_SUM, meta, of_one_side, publish};

impl StoredWorld {
    /// Opens a world to resume an import, and compresses on `threads` threads. Removes temporary
    /// files of killed imports.
    pub(crate) fn open_import(
        path: &Path,
        policy: CommitPolicy,
        threads: usize,
    ) -> Result<Self, SourceError> {
        publish::remove_leftovers(path);
        Self::open_on(path, policy, threads)
    }

    /// Adds chunks and the import's progress, to be committed in one transaction.
    pub(crate) fn put_import(
        &self,
        chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
        progress: Vec<u8>,
    ) -> Result<(), SourceError> {
        let batch = Batch::of_chunks(of_one_side(chunks)?);
        self.put_batch(Batch { import: Some(progress), ..batch })
    }

    /// Progress of an unfinished import; `None` if there is none.
    pub(crate) fn import_progress(&self) -> Result<Option<Vec<u8>>, SourceError> {
        let bytes = self.store.read(|transaction| {
            let table = transaction.open_table(META)?;
            Ok(table.get(IMPORT)?.map(|bytes| bytes.value().to_vec()))
        })?;
        let Some(bytes) = bytes else { return Ok(None) };
        let opened = meta::opened(&bytes).map(<[u8]>::to_vec);
        opened.map(Some).ok_or_else(|| damaged(self.path(), "import", WRONG_SUM))
    }
}
