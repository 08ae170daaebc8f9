use std::{path::PathBuf, time::Duration};

use clap::Args;
use drystone_store::CommitPolicy;

/// Option that names the file for edits of a source that is not a stored world.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EditsArgs {
    /// Stored world with the edits of SOURCE; SOURCE itself is not changed. The viewer creates the
    /// file if it does not exist
    #[arg(long, value_name = "FILE.drystone")]
    pub(crate) edits: Option<PathBuf>,
}

/// Options for saving edits in the viewer.
#[derive(Clone, Debug, Args)]
pub(crate) struct SaveArgs {
    /// Open stored worlds read-only: edits are not saved
    #[arg(long)]
    pub(crate) read_only: bool,
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
        CommitPolicy { max_delay: self.commit_seconds, max_bytes: self.commit_mib << 20 }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    /// One day.
    const MAX_SECONDS: f64 = 86_400.0;
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=MAX_SECONDS).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        _ => Err("a time is a number of seconds, 0 to 86400, such as 0.5".into()),
    }
}
