use std::path::Path;
use std::sync::Mutex;

use super::{EDITS_OF, EditedSource, Numbers, name_of};
use crate::lod::Cache;
use crate::{CommitPolicy, EditStore, MemoryFile, Source, StoredLater, StoredWorld, WorldError};

impl EditedSource {
    /// Whether the file at `path` keeps edits of this source; false too where it cannot be read
    /// now.
    ///
    /// # Cost
    /// Opens the file.
    pub fn is_kept_in(source: &dyn Source, path: &Path) -> bool {
        StoredWorld::open_read_only(path).is_ok_and(|world| world.name() == name_of(source))
    }

    /// Whether edits could be kept, and nobody has said where.
    pub fn lacks_file(&self) -> bool {
        self.has_no_place() && self.source.edit_store().is_none()
    }

    /// Whether the source keeps the edits itself, as a stored world does, until
    /// [`save_at`](Self::save_at) says where else.
    pub fn is_in_place(&self) -> bool {
        self.in_place().is_some()
    }

    /// Makes a new file, which keeps edits from then on: those too that were kept in another file,
    /// which stays as it is, and those that the source itself has taken and not written. What is
    /// damaged in the other file stays there alone.
    ///
    /// # Errors
    /// A file that is there already, or that cannot be made, and a source that was opened to be
    /// read only: edits are kept as before then.
    pub fn save_at(&self, path: &Path) -> Result<(), WorldError> {
        self.keep_by(|edits| edits.make_at(path))
    }

    /// Has `make` make what keeps edits from then on.
    fn keep_by(
        &self,
        make: impl FnOnce(&StoredLater) -> Result<(), WorldError>,
    ) -> Result<(), WorldError> {
        if !self.can_write {
            return Err(WorldError::ReadOnly { path: self.path() });
        }
        let waiting = self.in_place().map_or_else(Vec::new, EditStore::waiting);
        make(&self.edits)?;
        self.put_edited(waiting)
    }

    pub(super) fn has_no_place(&self) -> bool {
        self.can_write && self.edits.place().is_none()
    }

    /// What keeps the edits where this does not.
    pub(super) fn in_place(&self) -> Option<&dyn EditStore> {
        self.has_no_place().then(|| self.source.edit_store()).flatten()
    }

    /// What keeps the edits.
    pub(super) fn store(&self) -> &dyn EditStore {
        self.in_place().unwrap_or(&self.edits)
    }

    /// Has so many bytes for the larger voxels above edited chunks, in place of what the policy
    /// gives: they are made anew where they are not kept.
    #[must_use]
    pub fn with_coarse_bytes(mut self, bytes: usize) -> Self {
        self.coarse = Mutex::new(Cache::new(bytes));
        self
    }

    /// The source with the edits that a file in memory keeps: see [`open`](Self::open).
    ///
    /// # Errors
    /// [`OtherEdits`](WorldError::OtherEdits) where the file keeps edits of another source; else
    /// as [`StoredWorld::open_in`](crate::StoredWorld::open_in).
    pub fn open_in(
        source: Box<dyn Source>,
        file: &MemoryFile,
        policy: CommitPolicy,
    ) -> Result<Self, WorldError> {
        Self::of(source, StoredLater::open_in(file, policy)?, true)
    }

    /// Has an empty file in memory keep edits from then on: see [`save_at`](Self::save_at).
    ///
    /// # Errors
    /// A file that is not empty, or no memory: edits are kept as before then.
    pub fn save_in(&self, file: &MemoryFile) -> Result<(), WorldError> {
        self.keep_by(|edits| edits.make_in(file))
    }

    /// Whether a stored world is a file of edits, which are shown over what they are of: any
    /// world may have such a [name](Source::name), but hardly the material of emptied chunks too.
    pub fn is_file_of_edits(world: &dyn Source) -> bool {
        let mut kinds = world.materials().iter();
        world.name().starts_with(EDITS_OF) && kinds.any(|(_, kind)| Numbers::could_be_emptied(kind))
    }
}
