use std::path::Path;
use std::sync::Mutex;

use drystone_formats::{EditStore, Source, SourceError};

use super::{EDITS_OF, EditedSource, Numbers, name_of};
use crate::chunk_cache::ChunkCache;
use crate::stored::{CommitPolicy, MemoryFile, StoredLater, StoredWorld};

impl EditedSource {
    /// Whether the file at `path` has edits of this source. False if it cannot be read now.
    ///
    /// # Cost
    /// Opens the file.
    pub fn is_saved_in(source: &dyn Source, path: &Path) -> bool {
        StoredWorld::open_read_only(path).is_ok_and(|world| world.name() == name_of(source))
    }

    /// Whether edits could be saved, but no file was chosen.
    pub fn lacks_file(&self) -> bool {
        self.has_no_file() && self.source.edit_store().is_none()
    }

    /// Whether the source saves the edits itself, as a stored world does.
    /// [`save_at`](Self::save_at) changes that.
    pub fn is_in_place(&self) -> bool {
        self.in_place().is_some()
    }

    /// Creates a file at `path` and saves all edits there from now on. Edits from a previous file
    /// are copied, and that file is not changed. Edits that the source itself has not written yet
    /// are moved to the new file. Damaged chunks of the previous file are not copied.
    ///
    /// # Errors
    /// A file that exists or cannot be created, or a source that was opened for reading only. Edits
    /// are then saved as before.
    pub fn save_at(&self, path: &Path) -> Result<(), SourceError> {
        self.save_with(|edits| edits.make_at(path))
    }

    /// Saves edits from now on with the store that `make` creates.
    fn save_with(
        &self,
        make: impl FnOnce(&StoredLater) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        if !self.can_write {
            return Err(SourceError::ReadOnly { path: self.path() });
        }
        let waiting = self.in_place().map_or_else(Vec::new, EditStore::waiting);
        make(&self.edits)?;
        self.put_edited(waiting)
    }

    pub(super) fn has_no_file(&self) -> bool {
        self.can_write && self.edits.file_path().is_none()
    }

    /// Returns the source's own edit store, if that saves the edits.
    pub(super) fn in_place(&self) -> Option<&dyn EditStore> {
        self.has_no_file().then(|| self.source.edit_store()).flatten()
    }

    /// Returns the store that saves the edits.
    pub(super) fn store(&self) -> &dyn EditStore {
        self.in_place().unwrap_or(&self.edits)
    }

    /// Sets the memory for LOD voxels above edited chunks, in bytes, instead of the policy's value.
    /// LOD voxels that are not cached are made again.
    #[must_use]
    pub fn with_coarse_bytes(mut self, bytes: usize) -> Self {
        self.coarse = Mutex::new(ChunkCache::new(bytes));
        self
    }

    /// Opens a source with the edits of a file in memory, like [`open`](Self::open).
    ///
    /// # Errors
    /// [`OtherEdits`](SourceError::OtherEdits) if the file has edits of another source, and the
    /// errors of [`StoredWorld::open_in`](crate::StoredWorld::open_in).
    pub fn open_in(
        source: Box<dyn Source>,
        file: &MemoryFile,
        policy: CommitPolicy,
    ) -> Result<Self, SourceError> {
        Self::of(source, StoredLater::open_in(file, policy)?, true)
    }

    /// Saves all edits to an empty file in memory from now on, like [`save_at`](Self::save_at).
    ///
    /// # Errors
    /// A file that is not empty, or a lack of memory. Edits are then saved as before.
    pub fn save_in(&self, file: &MemoryFile) -> Result<(), SourceError> {
        self.save_with(|edits| edits.make_in(file))
    }

    /// Whether a stored world is a file of edits, to be opened together with its source. Checks its
    /// [name](Source::name) and whether it has the material that marks emptied chunks.
    pub fn is_file_of_edits(world: &dyn Source) -> bool {
        let mut kinds = world.materials().iter();
        world.name().starts_with(EDITS_OF) && kinds.any(|(_, kind)| Numbers::could_be_emptied(kind))
    }
}
