use std::path::PathBuf;

use drystone_formats::{EditDestination, EditStore, Saving, SeparateEdits, SourceError, WorldFile};
use drystone_voxel::{Chunk, ChunkPos, NodePos};

use super::EditedSource;

impl EditStore for EditedSource {
    fn path(&self) -> PathBuf {
        self.store().path()
    }

    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), SourceError> {
        let positions: Vec<ChunkPos> = chunks.iter().map(|&(position, _)| position).collect();
        let renumbered =
            |(position, chunk): (ChunkPos, Chunk)| (position, self.numbers.to_file(chunk));
        if !self.can_write {
            return Err(SourceError::ReadOnly { path: self.path() });
        }
        if chunks.is_empty() {
            return Ok(());
        }
        if let Some(store) = self.in_place() {
            return store.put_edited(chunks);
        }
        self.edits.open_for_writing()?;
        // This comes before the chunks are stored, so that a chunk that is made meanwhile is not
        // cached.
        self.note_above(&positions);
        self.edits.put_edited(chunks.into_iter().map(renumbered).collect())?;
        let mut coarse = self.coarse();
        coarse.begin_epoch(positions.iter().copied());
        for position in positions {
            let mut node = NodePos::from(position);
            while node.level < NodePos::MAX_LEVEL {
                node = node.parent();
                coarse.remove(node);
            }
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), SourceError> {
        self.store().flush()
    }

    fn saving(&self) -> Saving {
        self.store().saving()
    }

    fn waiting(&self) -> Vec<(ChunkPos, Chunk)> {
        match self.in_place() {
            Some(store) => store.waiting(),
            None => {
                let waiting = self.edits.waiting().into_iter();
                waiting.map(|(at, chunk)| (at, self.numbers.to_source(chunk))).collect()
            }
        }
    }
}

impl SeparateEdits for EditedSource {
    fn destination(&self) -> EditDestination {
        match self.edits.file_path() {
            Some(path) => EditDestination::File(path),
            None if self.in_place().is_some() => EditDestination::Source,
            None => EditDestination::None,
        }
    }

    fn save_to(&self, file: WorldFile<'_>) -> Result<(), SourceError> {
        if !self.can_write {
            return Err(SourceError::ReadOnly { path: self.path() });
        }
        let waiting = self.in_place().map_or_else(Vec::new, EditStore::waiting);
        self.edits.make(file)?;
        self.put_edited(waiting)
    }
}
