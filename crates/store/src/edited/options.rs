use std::path::Path;

use drystone_formats::WorldFile;

use crate::stored::CommitPolicy;

/// Options for [`EditedSource::open`](crate::EditedSource::open).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct EditOptions<'a> {
    /// File of the edits. Without one, a source with an edit store saves its edits itself, and
    /// others are saved once a file is chosen with
    /// [`save_to`](drystone_formats::SeparateEdits::save_to). Default: none.
    pub file: Option<WorldFile<'a>>,
    /// Time at which the file is opened for writing. Default: at the first edit.
    pub access: EditAccess,
    /// Limits for pending edits.
    pub policy: CommitPolicy,
    /// Memory for LOD voxels above edited chunks, in bytes. LOD voxels that are not cached are made
    /// again. Default: as much as for pages of the file, see [`CommitPolicy`].
    pub coarse_bytes: Option<usize>,
}

impl<'a> EditOptions<'a> {
    /// Replaces [`file`](Self::file).
    #[must_use]
    pub fn with_file(mut self, file: Option<WorldFile<'a>>) -> Self {
        self.file = file;
        self
    }

    /// Replaces [`access`](Self::access).
    #[must_use]
    pub fn with_access(mut self, access: EditAccess) -> Self {
        self.access = access;
        self
    }

    /// Replaces [`policy`](Self::policy).
    #[must_use]
    pub fn with_policy(mut self, policy: CommitPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Replaces [`coarse_bytes`](Self::coarse_bytes).
    #[must_use]
    pub fn with_coarse_bytes(mut self, coarse_bytes: Option<usize>) -> Self {
        self.coarse_bytes = coarse_bytes;
        self
    }
}

/// Time at which a file on disk is opened for writing. Any
/// number of processes can read a file, one can write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditAccess {
    /// Never. The file must exist.
    Read,
    /// At the first edit, which creates the file if it does not exist. Fails at once if the file
    /// could not be written; if another process is writing it, only the first edit fails.
    #[default]
    OnEdit,
    /// At once.
    Write,
}

impl<'a> EditOptions<'a> {
    /// Options for a file on disk, otherwise the default ones.
    pub fn at(path: &'a Path) -> Self {
        Self { file: Some(WorldFile::Path(path)), ..Self::default() }
    }
}
