//! Options for loading and saving edits.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use drystone_store::CommitPolicy;

use super::values::seconds;

/// Option that names the file for edits of a source that is not a stored world.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EditsArgs {
    /// Stored world with the edits of SOURCE; SOURCE itself is not changed. The viewer creates the
    /// file if it does not exist
    #[arg(long, value_name = "FILE.drystone")]
    pub(crate) edits: Option<PathBuf>,
    /// Edits that the viewer loads without that option.
    #[arg(skip)]
    pub(crate) saved: SavedEdits,
}

/// Edits that the viewer loads if `--edits` names no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SavedEdits {
    /// Edits of this file, else the newest ones that can be read.
    Newest(Option<PathBuf>),
    /// No edits.
    Ignored,
}

impl Default for SavedEdits {
    fn default() -> Self {
        Self::Newest(None)
    }
}

/// Options for saving edits in the viewer.
#[derive(Clone, Debug, Args)]
pub(crate) struct SaveArgs {
    /// Open stored worlds read-only: edits are not saved
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Open files without the edits that were saved for them
    #[arg(long, conflicts_with = "edits")]
    pub(crate) no_edits: bool,
    /// Longest time in seconds before an edit is written to disk; edits in between share one commit
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) commit_seconds: Duration,
    /// Write edits to disk early once the edited chunks reach this size in MiB
    #[arg(long, value_name = "MIB", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=4_096))]
    pub(crate) commit_mib: u64,
}

impl SaveArgs {
    /// Returns when edits are written to disk.
    pub(crate) fn policy(&self) -> CommitPolicy {
        CommitPolicy::default()
            .with_max_delay(self.commit_seconds)
            .with_max_bytes(self.commit_mib << 20)
    }
}
