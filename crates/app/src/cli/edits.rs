use std::{path::PathBuf, time::Duration};

use clap::Args;
use drystone_world::CommitPolicy;

/// Where edits of a source lie that is no stored world.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EditsArgs {
    /// Edits of SOURCE that lie beside it, in a stored world of their own: SOURCE itself stays
    /// as it is. The viewer makes the file if it is not there
    #[arg(long, value_name = "FILE.drystone")]
    pub(crate) edits: Option<PathBuf>,
}

/// Whether and when the viewer saves edits.
#[derive(Clone, Debug, Args)]
pub(crate) struct SaveArgs {
    /// Open stored worlds to read only: edits are not kept
    #[arg(long)]
    pub(crate) read_only: bool,
    /// How long an edit waits at the most until it is on disk, with those that came meanwhile
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) commit_seconds: Duration,
    /// MiB of edited chunks that are not waited with
    #[arg(long, value_name = "MIB", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=4_096))]
    pub(crate) commit_mib: u64,
}

impl SaveArgs {
    /// When edits are written to disk.
    pub(crate) fn policy(&self) -> CommitPolicy {
        CommitPolicy { max_delay: self.commit_seconds, max_bytes: self.commit_mib << 20 }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    /// A day, after which nobody remembers what was edited.
    const LONGEST: f64 = 86_400.0;
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=LONGEST).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("a time is a number of seconds, 0 to 86400, such as 0.5".into()),
    }
}
