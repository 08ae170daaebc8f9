use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drystone_voxel::{Chunk, ChunkPos};
use drystone_world::{
    Edit, EditStore, EditedSource, LodData, MemoryFile, Source, Voxels, WorldError,
};
use web_time::Instant;

/// What keeps edits beyond the program's end.
pub enum KeptBy {
    /// Nothing.
    Nobody,
    /// The source that a world was loaded from: its edit store, or the file that an
    /// [`EditedSource`] without one is given later.
    Source(Arc<dyn Source>),
    /// The source of a world at levels of detail.
    Levels(Arc<LodData>),
}

/// Hands edited chunks to what keeps them, and has them until they are taken.
///
/// # Cost
/// Memory: of a world that is in memory itself, the chunks that were not taken yet, whose
/// voxels the scene shares as long as it does not change them again.
pub struct EditSaver {
    kept_by: KeptBy,
    /// Of a world in memory, as they are now; levels have their own.
    waiting: BTreeMap<ChunkPos, Chunk>,
    /// Of a world in memory, the bytes of chunks that were changed and not taken, by chunk and in
    /// all.
    sizes: HashMap<ChunkPos, usize>,
    held_bytes: usize,
    failure: Option<String>,
    /// When the store refused them last.
    refused: Option<Instant>,
    edit_count: u64,
}

/// So long after a refusal, edits wait without being handed over one by one: the store would open
/// its file for each.
const REFUSED_FOR: Duration = Duration::from_secs(2);

/// What whoever reads a saver's source has of the edits, when he has read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reread {
    /// All of them.
    Whole,
    /// The source took some meanwhile: read once more, it has all. What was read must not be
    /// edited: whole chunks are saved, of before then.
    Outdated,
    /// All but those in so many chunks, which the source does not have now either.
    Without(usize),
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

impl EditSaver {
    /// A saver that has nothing yet.
    pub fn new(kept_by: KeptBy) -> Self {
        Self {
            kept_by,
            waiting: BTreeMap::new(),
            sizes: HashMap::new(),
            held_bytes: 0,
            failure: None,
            refused: None,
            edit_count: 0,
        }
    }

    fn source(&self) -> Option<&dyn Source> {
        match &self.kept_by {
            KeptBy::Nobody => None,
            KeptBy::Source(source) => Some(source.as_ref()),
            KeptBy::Levels(data) => Some(data.source()),
        }
    }

    /// The same, for whoever shows it in another way, with all edits that are kept: two that open
    /// one file are strangers to each other, of whom one may write it.
    pub fn shared_source(&self) -> Option<Arc<dyn Source>> {
        match &self.kept_by {
            KeptBy::Nobody => None,
            KeptBy::Source(source) => Some(Arc::clone(source)),
            KeptBy::Levels(data) => Some(data.shared_source()),
        }
    }

    /// How many chunks the source does not have as they were edited: who reads it finds them as
    /// they were before. What it has taken is not among them, whether or not it could be written.
    pub fn lacked_count(&self) -> usize {
        match &self.kept_by {
            KeptBy::Levels(data) => data.unsaved_count(),
            KeptBy::Nobody | KeptBy::Source(_) => self.sizes.len(),
        }
    }

    /// What was read of the source has of the edits, if it [lacked](Self::lacked_count) so many
    /// chunks when that began, and nothing was edited since.
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

    /// What could keep the edits in a new file.
    fn edited(&self) -> Option<&EditedSource> {
        let source: &dyn Any = self.source()?;
        source.downcast_ref()
    }

    /// Whether nothing keeps the edits, but [`save_at`](Self::save_at) could have them kept.
    pub fn lacks_file(&self) -> bool {
        self.edited().is_some_and(EditedSource::lacks_file)
    }

    /// Whether a file keeps the edits, but [`save_at`](Self::save_at) could have them kept in
    /// another.
    pub fn can_save_elsewhere(&self) -> bool {
        self.is_saving_edits() && self.edited().is_some()
    }

    /// The file beside the source that keeps the edits, once there is one: who reads the source
    /// again finds them there.
    pub fn edits_file(&self) -> Option<PathBuf> {
        let edited = self.edited()?;
        let has_own = !edited.lacks_file() && !edited.is_in_place();
        has_own.then(|| edited.path())
    }

    /// Has a new file keep all edits so far that the world's own file does not have, and those to
    /// come, once they are [saved](Self::save).
    ///
    /// # Errors
    /// A file that is there already, or that cannot be made, and a source that takes no edits: all
    /// is as before then.
    pub fn save_at(&self, path: &Path) -> Result<(), WorldError> {
        let read_only = || WorldError::ReadOnly { path: path.into() };
        self.edited().ok_or_else(read_only)?.save_at(path)
    }

    /// The same, but of a file in memory, which somebody keeps beyond the program's end.
    ///
    /// # Errors
    /// As [`EditedSource::save_in`]: all is as before then.
    pub fn save_in(&self, file: &MemoryFile) -> Result<(), WorldError> {
        let read_only = || WorldError::ReadOnly { path: file.name().into() };
        self.edited().ok_or_else(read_only)?.save_in(file)
    }

    /// How many edits were taken, those that took others back too.
    pub const fn edit_count(&self) -> u64 {
        self.edit_count
    }

    /// The same after as many edits of the same source, which another saver has handed to it.
    pub(super) fn after(self, edit_count: u64) -> Self {
        Self { edit_count, ..self }
    }

    const fn was_edited(&self) -> bool {
        self.edit_count > 0
    }

    /// Whether edits are kept beyond the program's end.
    pub fn is_saving_edits(&self) -> bool {
        self.store().is_some()
    }

    /// Takes the chunks that an edit has changed. Where they cannot be saved now, they wait: until
    /// a later edit, some seconds after, or [`save`](Self::save).
    pub fn take(&mut self, voxels: &dyn Voxels, edit: &Edit) {
        self.edit_count += u64::from(!edit.is_empty());
        let is_saving_edits = self.is_saving_edits();
        let waits = is_saving_edits || self.lacks_file();
        if !matches!(self.kept_by, KeptBy::Levels(_)) {
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

    fn note(&mut self, saved: &Result<(), WorldError>) {
        self.failure = saved.as_ref().err().map(WorldError::to_string);
        self.refused = self.failure.is_some().then(Instant::now);
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
            self.sizes.clear();
            self.held_bytes = 0;
        }
        Ok(())
    }

    /// Returns when all edits are on disk; tries again what failed before.
    ///
    /// # Errors
    /// When they cannot be written: they are kept in memory.
    pub fn save(&mut self) -> Result<(), WorldError> {
        let saved = self.try_save();
        self.note(&saved);
        saved
    }

    fn try_save(&mut self) -> Result<(), WorldError> {
        let flush = |saver: &Self| saver.store().map_or(Ok(()), EditStore::flush);
        // What the store has goes first: while that fails, it takes no more.
        flush(self)?;
        self.hand_over()?;
        flush(self)
    }

    /// Bytes of memory of edits that nothing has taken: nothing may be thrown away of these.
    pub fn held_bytes(&self) -> usize {
        match &self.kept_by {
            KeptBy::Levels(data) => data.edited_bytes(),
            KeptBy::Nobody | KeptBy::Source(_) => self.held_bytes,
        }
    }

    /// Whether edits are taken by what keeps them, as far as is known.
    pub(super) fn takes(&self) -> bool {
        self.failure.is_none() && self.store().is_some_and(|store| store.saving().failure.is_none())
    }

    /// About how many bytes more would be held after an edit, if nothing takes it: rather too many
    /// than too few.
    ///
    /// # Cost
    /// A look at each of its chunks.
    pub(super) fn more_bytes(&self, voxels: &dyn Voxels, edit: &Edit) -> usize {
        /// What was all of one material may be of some.
        const LEAST_BYTES: usize = 8 << 10;
        /// What it was before, and larger voxels of some levels, where these do not just follow.
        const WITH_LARGER: usize = 4;
        let with_larger = match &self.kept_by {
            KeptBy::Levels(data) if data.source().makes_levels() => WITH_LARGER,
            _ => 1,
        };
        let chunks = edit.positions().filter_map(|position| voxels.chunk_at(position));
        let bytes: usize = chunks.map(|chunk| chunk.size_bytes().max(LEAST_BYTES)).sum();
        bytes * with_larger + edit.size_bytes()
    }

    /// What became of the edits.
    pub fn state(&self) -> SaveState {
        let Some(store) = self.store() else {
            return if self.was_edited() { SaveState::NotKept } else { SaveState::Unedited };
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
