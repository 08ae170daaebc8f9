use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drystone_formats::{
    EditDestination, EditStore, MemoryFile, SeparateEdits, Source, SourceError, WorldFile,
};
use drystone_voxel::{Chunk, ChunkPos};
use drystone_world::{Edit, LodData, VoxelAccess};
use web_time::Instant;

/// Destination of edits.
pub enum EditTarget {
    /// Nowhere: edits stay in memory.
    None,
    /// The source of a world in memory: its edit store, or a file that its
    /// [`SeparateEdits`] get later.
    Source(Arc<dyn Source>),
    /// The source of a world at levels of detail.
    Levels(Arc<LodData>),
}

/// Passes edited chunks to their edit store, and holds them until the store accepts them.
///
/// # Cost
/// For a world in memory, the chunks that are not accepted yet. They share their voxels with the
/// scene until the scene changes them again.
pub struct EditSaver {
    edit_target: EditTarget,
    /// Chunks of a world in memory that wait; worlds at levels of detail hold their own.
    waiting: BTreeMap<ChunkPos, Chunk>,
    /// Bytes of changed chunks of a world in memory that no store has, by chunk and in total.
    sizes: HashMap<ChunkPos, usize>,
    held_bytes: usize,
    failure: Option<String>,
    /// Time of the last refusal by the store.
    refused: Option<Instant>,
    edit_count: u64,
}

/// After a refusal, edits wait this long. Otherwise the store would open its file for each of them.
const REFUSED_FOR: Duration = Duration::from_secs(2);

/// Extent of the edits in content that was read again from the saver's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reread {
    /// All of them.
    Whole,
    /// The source accepted some in the meantime; reading it once more returns all. The outdated
    /// content must not be edited, since saved chunks would contain its old voxels.
    Outdated,
    /// All except those in this many chunks, which the source still lacks.
    Without(usize),
}

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
    /// Creates a saver without edits.
    pub fn new(edit_target: EditTarget) -> Self {
        Self {
            edit_target,
            waiting: BTreeMap::new(),
            sizes: HashMap::new(),
            held_bytes: 0,
            failure: None,
            refused: None,
            edit_count: 0,
        }
    }

    fn source(&self) -> Option<&dyn Source> {
        match &self.edit_target {
            EditTarget::None => None,
            EditTarget::Source(source) => Some(source.as_ref()),
            EditTarget::Levels(data) => Some(data.source()),
        }
    }

    /// Returns the source with all saved edits, for showing it again. Opening the same file twice
    /// would allow only one of the two to write it.
    pub fn shared_source(&self) -> Option<Arc<dyn Source>> {
        match &self.edit_target {
            EditTarget::None => None,
            EditTarget::Source(source) => Some(Arc::clone(source)),
            EditTarget::Levels(data) => Some(data.shared_source()),
        }
    }

    /// Number of edited chunks that the source lacks: reading the source returns their old voxels.
    /// Chunks that it accepted count as present, written or not.
    pub fn lacked_count(&self) -> usize {
        match &self.edit_target {
            EditTarget::Levels(data) => data.unsaved_count(),
            EditTarget::None | EditTarget::Source(_) => self.sizes.len(),
        }
    }

    /// Returns which edits are in content read from the source, if it [lacked](Self::lacked_count)
    /// `lacked_before` chunks when reading began and nothing was edited since.
    pub fn reread(&self, lacked_before: usize) -> Reread {
        match (lacked_before, self.lacked_count()) {
            (0, _) => Reread::Whole,
            (_, 0) => Reread::Outdated,
            (_, lacked) => Reread::Without(lacked),
        }
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

    /// Sets the number of edits that an earlier saver counted.
    pub(super) fn after(self, edit_count: u64) -> Self {
        Self { edit_count, ..self }
    }

    const fn was_edited(&self) -> bool {
        self.edit_count > 0
    }

    /// Whether edits are saved beyond the program's end.
    pub fn is_saving_edits(&self) -> bool {
        self.store().is_some()
    }

    /// Takes the chunks that an edit has changed. If they cannot be saved now, they wait for a
    /// later edit, some seconds later, or for [`save`](Self::save).
    pub fn take(&mut self, voxels: &dyn VoxelAccess, edit: &Edit) {
        self.edit_count += u64::from(!edit.is_empty());
        let is_saving_edits = self.is_saving_edits();
        let waits = is_saving_edits || self.lacks_file();
        if !matches!(self.edit_target, EditTarget::Levels(_)) {
            for position in edit.positions() {
                let Some(chunk) = voxels.chunk_at(position) else { continue };
                self.held_bytes += chunk.size_bytes();
                self.held_bytes -= self.sizes.insert(position, chunk.size_bytes()).unwrap_or(0);
                if waits {
                    self.waiting.insert(position, chunk);
                }
            }
        }
        if !is_saving_edits || self.refused.is_some_and(|at| at.elapsed() < REFUSED_FOR) {
            return;
        }
        let handed = self.hand_over();
        self.note(&handed);
    }

    fn note(&mut self, saved: &Result<(), SourceError>) {
        self.failure = saved.as_ref().err().map(SourceError::to_string);
        self.refused = self.failure.is_some().then(Instant::now);
    }

    /// Passes waiting chunks to the store.
    fn hand_over(&mut self) -> Result<(), SourceError> {
        let Some(store) = self.store() else { return Ok(()) };
        if let EditTarget::Levels(data) = &self.edit_target {
            let unsaved = data.unsaved();
            store.put_edited(unsaved.chunks.clone())?;
            data.saved(&unsaved);
        } else {
            let chunks = self.waiting.iter().map(|(&position, chunk)| (position, chunk.snapshot()));
            store.put_edited(chunks.collect())?;
            self.waiting.clear();
            self.sizes.clear();
            self.held_bytes = 0;
        }
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
        match &self.edit_target {
            EditTarget::Levels(data) => data.edited_bytes(),
            EditTarget::None | EditTarget::Source(_) => self.held_bytes,
        }
    }

    /// Whether the store accepts edits, as far as is known.
    pub(super) fn accepts_edits(&self) -> bool {
        self.failure.is_none() && self.store().is_some_and(|store| store.saving().failure.is_none())
    }

    /// Estimates the bytes that an edit adds if it cannot be saved; rather too high than too low.
    ///
    /// # Cost
    /// Reads each of its chunks.
    pub(super) fn more_bytes(&self, voxels: &dyn VoxelAccess, edit: &Edit) -> usize {
        /// A uniform chunk may become mixed.
        const MIN_BYTES: usize = 8 << 10;
        /// Factor for the old chunk and LOD chunks that are stored separately.
        const LOD_FACTOR: usize = 4;
        let factor = match &self.edit_target {
            EditTarget::Levels(data) if data.source().makes_levels() => LOD_FACTOR,
            _ => 1,
        };
        let chunks = edit.positions().filter_map(|position| voxels.chunk_at(position));
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
        let held = match &self.edit_target {
            EditTarget::Levels(data) => data.unsaved_count(),
            _ => self.waiting.len(),
        };
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
