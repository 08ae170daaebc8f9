use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drystone_formats::{
    EditDestination, EditStore, MemoryFile, SeparateEdits, Source, SourceError, WorldFile,
};
use drystone_world::{Edit, LodData, VoxelAccess};
use web_time::Instant;

/// Passes edited chunks to the edit store of their source. Until the store accepts them, the
/// [`LodData`] holds them.
#[derive(Default)]
pub struct EditSaver {
    /// The edited voxels; `None` for content that cannot be edited.
    data: Option<Arc<LodData>>,
    failure: Option<String>,
    /// Time of the last refusal by the store.
    refused: Option<Instant>,
    edit_count: u64,
}

/// After a refusal, edits wait this long. Otherwise the store would open its file for each of them.
const REFUSED_FOR: Duration = Duration::from_secs(2);

/// State of saving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveState {
    /// There are no edits.
    Unedited,
    /// The edits cannot be saved; they stay in memory.
    NotSaved,
    /// The edits will be on disk soon; this many chunks are not yet.
    Unsaved(u64),
    /// The edits could not be written, for this reason; they stay in memory.
    Failed(String),
    /// The edits are on disk.
    Saved,
}

impl EditSaver {
    /// Creates a saver of the edits of `data`. The default is one for content that cannot be edited.
    pub fn new(data: Arc<LodData>) -> Self {
        Self { data: Some(data), ..Self::default() }
    }

    fn source(&self) -> Option<&dyn Source> {
        self.data.as_ref().map(|data| data.source())
    }

    fn store(&self) -> Option<&dyn EditStore> {
        self.source()?.edit_store()
    }

    /// Returns the edits of the source, if they can be saved to a new file.
    fn separate_edits(&self) -> Option<&dyn SeparateEdits> {
        self.source()?.separate_edits()
    }

    /// Whether edits are not saved, but [`save_at`](Self::save_at) could save them.
    pub fn lacks_file(&self) -> bool {
        self.separate_edits().is_some_and(|it| it.destination() == EditDestination::None)
    }

    /// Whether edits are saved to a file, but [`save_at`](Self::save_at) could save them to
    /// another.
    pub fn can_save_elsewhere(&self) -> bool {
        self.is_saving_edits() && self.separate_edits().is_some()
    }

    /// Returns the separate file of the edits, once there is one. Opening the source with this file
    /// restores them.
    pub fn edits_file(&self) -> Option<PathBuf> {
        match self.separate_edits()?.destination() {
            EditDestination::File(path) => Some(path),
            EditDestination::Source | EditDestination::None => None,
        }
    }

    /// Creates a file for all edits that the world's own file lacks, and for later ones. They are
    /// written by the next [save](Self::save).
    ///
    /// # Errors
    /// If the file exists or cannot be created, or the source does not support edits. Nothing
    /// changes then.
    pub fn save_at(&self, path: &Path) -> Result<(), SourceError> {
        self.save_to(path, WorldFile::Path(path))
    }

    /// Saves edits to a file in memory, as [`save_at`](Self::save_at) does to disk. The caller
    /// stores that file.
    ///
    /// # Errors
    /// Errors of [`SeparateEdits::save_to`]. Nothing changes then.
    pub fn save_in(&self, file: &MemoryFile) -> Result<(), SourceError> {
        self.save_to(file.name(), WorldFile::Memory(file))
    }

    fn save_to(&self, name: &Path, file: WorldFile<'_>) -> Result<(), SourceError> {
        let read_only = || SourceError::ReadOnly { path: name.into() };
        self.separate_edits().ok_or_else(read_only)?.save_to(file)
    }

    /// Returns the number of edits so far, including undone and redone ones.
    pub const fn edit_count(&self) -> u64 {
        self.edit_count
    }

    const fn was_edited(&self) -> bool {
        self.edit_count > 0
    }

    /// Whether edits are saved beyond the program's end.
    pub fn is_saving_edits(&self) -> bool {
        self.store().is_some()
    }

    /// Records an edit that was applied to the data, and passes its chunks to the store. If they
    /// cannot be saved now, they wait for a later edit, some seconds later, or for
    /// [`save`](Self::save).
    pub fn take(&mut self, edit: &Edit) {
        self.edit_count += u64::from(!edit.is_empty());
        if !self.is_saving_edits() || self.refused.is_some_and(|at| at.elapsed() < REFUSED_FOR) {
            return;
        }
        let handed = self.hand_over();
        self.note(&handed);
    }

    fn note(&mut self, saved: &Result<(), SourceError>) {
        self.failure = saved.as_ref().err().map(SourceError::to_string);
        self.refused = self.failure.is_some().then(Instant::now);
    }

    /// Passes unsaved chunks to the store.
    fn hand_over(&mut self) -> Result<(), SourceError> {
        let (Some(data), Some(store)) = (&self.data, self.store()) else { return Ok(()) };
        let unsaved = data.unsaved();
        store.put_edited(unsaved.chunks.clone())?;
        data.saved(&unsaved);
        Ok(())
    }

    /// Saves all edits to disk; retries what failed before.
    ///
    /// # Errors
    /// If they cannot be written; they stay in memory.
    pub fn save(&mut self) -> Result<(), SourceError> {
        let saved = self.try_save();
        self.note(&saved);
        saved
    }

    fn try_save(&mut self) -> Result<(), SourceError> {
        let flush = |saver: &Self| saver.store().map_or(Ok(()), EditStore::flush);
        // Chunks in the store are flushed first: while that fails, it accepts no more.
        flush(self)?;
        self.hand_over()?;
        flush(self)
    }

    /// Bytes of edits in memory that no store has accepted. This memory cannot be freed.
    pub fn held_bytes(&self) -> usize {
        self.data.as_ref().map_or(0, |data| data.edited_bytes())
    }

    /// Whether the store accepts edits, as far as is known.
    pub(super) fn accepts_edits(&self) -> bool {
        self.failure.is_none() && self.store().is_some_and(|store| store.saving().failure.is_none())
    }

    /// Estimates the bytes that an edit adds if it cannot be saved; rather too high than too low.
    ///
    /// # Cost
    /// Reads each of its chunks.
    pub(super) fn more_bytes(&self, edit: &Edit) -> usize {
        /// A uniform chunk may become mixed.
        const MIN_BYTES: usize = 8 << 10;
        /// Factor for the old chunk and LOD chunks that are stored separately.
        const LOD_FACTOR: usize = 4;
        let Some(data) = &self.data else { return 0 };
        let factor = if data.source().makes_levels() { LOD_FACTOR } else { 1 };
        let chunks = edit.positions().filter_map(|position| data.chunk_at(position));
        let bytes: usize = chunks.map(|chunk| chunk.size_bytes().max(MIN_BYTES)).sum();
        bytes * factor + edit.size_bytes()
    }

    /// Returns the state of saving.
    pub fn state(&self) -> SaveState {
        let Some(store) = self.store() else {
            return if self.was_edited() { SaveState::NotSaved } else { SaveState::Unedited };
        };
        let saving = store.saving();
        if let Some(failure) = self.failure.clone().or(saving.failure) {
            return SaveState::Failed(failure);
        }
        let held = self.data.as_ref().map_or(0, |data| data.unsaved_count());
        match held as u64 + saving.waiting_chunks {
            0 if self.was_edited() => SaveState::Saved,
            0 => SaveState::Unedited,
            count => SaveState::Unsaved(count),
        }
    }
}

impl std::fmt::Debug for EditSaver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EditSaver").field("state", &self.state()).finish_non_exhaustive()
    }
}
