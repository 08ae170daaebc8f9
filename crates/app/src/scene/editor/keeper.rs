use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use drystone_voxel::{Chunk, ChunkPos};
use drystone_world::{Edit, EditStore, EditedSource, LevelData, Source, Voxels, WorldError};

/// What keeps edits beyond the program's end.
pub enum KeptBy {
    /// Nothing.
    Nobody,
    /// The source that a world was loaded from: its edit store, or the file that an
    /// [`EditedSource`] without one is given later.
    Source(Box<dyn Source>),
    /// The source of a world at levels of detail.
    Levels(Arc<LevelData>),
}

/// Hands edited chunks to what keeps them, and has them until they are taken.
///
/// # Cost
/// Memory: of a world that is in memory itself, the chunks that were not taken yet, whose
/// voxels the scene shares as long as it does not change them again.
pub struct EditKeeper {
    kept_by: KeptBy,
    /// Of a world in memory, as they are now; levels have their own.
    waiting: BTreeMap<ChunkPos, Chunk>,
    failure: Option<String>,
    was_edited: bool,
}

/// What became of the edits so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveState {
    /// There are none.
    Unedited,
    /// Nothing keeps them.
    NotKept,
    /// They will be on disk soon: so many chunks are not yet.
    Unsaved(u64),
    /// They could not be written, for this reason; they are in memory.
    Failed(String),
    /// They are on disk.
    Saved,
}

impl EditKeeper {
    /// A keeper that has nothing yet.
    pub const fn new(kept_by: KeptBy) -> Self {
        Self { kept_by, waiting: BTreeMap::new(), failure: None, was_edited: false }
    }

    fn source(&self) -> Option<&dyn Source> {
        match &self.kept_by {
            KeptBy::Nobody => None,
            KeptBy::Source(source) => Some(source.as_ref()),
            KeptBy::Levels(data) => Some(data.source()),
        }
    }

    fn store(&self) -> Option<&dyn EditStore> {
        self.source()?.edit_store()
    }

    /// What could keep the edits in a file that it has not yet.
    fn without_file(&self) -> Option<&EditedSource> {
        let source: &dyn Any = self.source()?;
        source.downcast_ref().filter(|source: &&EditedSource| source.lacks_file())
    }

    /// Whether nothing keeps the edits, but [`keep_at`](Self::keep_at) could have them kept.
    pub fn lacks_file(&self) -> bool {
        self.without_file().is_some()
    }

    /// Has a new file keep all edits so far and those to come, once they are
    /// [saved](Self::save).
    ///
    /// # Errors
    /// A file that is there already, or that cannot be made: nothing keeps the edits then.
    pub fn keep_at(&self, path: &Path) -> Result<(), WorldError> {
        self.without_file().map_or(Ok(()), |source| source.keep_at(path))
    }

    /// Whether edits are kept beyond the program's end.
    pub fn is_keeping(&self) -> bool {
        self.store().is_some()
    }

    /// Takes the chunks that an edit has changed. Where they cannot be saved now, they wait.
    pub fn take(&mut self, voxels: &dyn Voxels, edit: &Edit) {
        self.was_edited |= !edit.is_empty();
        let is_keeping = self.is_keeping();
        if !is_keeping && !self.lacks_file() {
            return;
        }
        if matches!(self.kept_by, KeptBy::Source(_)) {
            for (position, _) in edit.chunks() {
                self.waiting.extend(voxels.chunk_at(position).map(|chunk| (position, chunk)));
            }
        }
        if !is_keeping {
            return;
        }
        self.failure = self.hand_over().err().map(|error| error.to_string());
    }

    /// Gives what waits to the store, if that takes it.
    fn hand_over(&mut self) -> Result<(), WorldError> {
        let Some(store) = self.store() else { return Ok(()) };
        if let KeptBy::Levels(data) = &self.kept_by {
            let unsaved = data.unsaved();
            store.put_edited(unsaved.chunks.clone())?;
            data.saved(&unsaved);
        } else {
            let chunks = self.waiting.iter().map(|(&position, chunk)| (position, chunk.snapshot()));
            store.put_edited(chunks.collect())?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// Returns when all edits are on disk; tries again what failed before.
    ///
    /// # Errors
    /// When they cannot be written: they are kept in memory.
    pub fn save(&mut self) -> Result<(), WorldError> {
        let saved = self.try_save();
        self.failure = saved.as_ref().err().map(WorldError::to_string);
        saved
    }

    fn try_save(&mut self) -> Result<(), WorldError> {
        let flush = |keeper: &Self| keeper.store().map_or(Ok(()), EditStore::flush);
        // What the store has goes first: while that fails, it takes no more.
        flush(self)?;
        self.hand_over()?;
        flush(self)
    }

    /// What became of the edits.
    pub fn state(&self) -> SaveState {
        let Some(store) = self.store() else {
            return if self.was_edited { SaveState::NotKept } else { SaveState::Unedited };
        };
        let saving = store.saving();
        if let Some(failure) = self.failure.clone().or(saving.failure) {
            return SaveState::Failed(failure);
        }
        let held = match &self.kept_by {
            KeptBy::Levels(data) => data.unsaved_count(),
            _ => self.waiting.len(),
        };
        match held as u64 + saving.waiting_chunks {
            0 if self.was_edited => SaveState::Saved,
            0 => SaveState::Unedited,
            count => SaveState::Unsaved(count),
        }
    }
}

impl std::fmt::Debug for EditKeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EditKeeper").field("state", &self.state()).finish_non_exhaustive()
    }
}
