//! What is done in a process of its own: to be killed, or to have its memory measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

/// A folder that is gone when the test is over.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("drystone-it-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const PATH: &str = "DRYSTONE_TEST_WORLD";
const FROM: &str = "DRYSTONE_TEST_FROM";

/// This binary again, to run the one test of this name as a child.
pub(crate) fn command(test: &str, path: &Path, from: u64) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(PATH, path).env(FROM, from.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// What a child is to do; `None` where the test runs as one of many, and has nothing to do.
pub(crate) fn order() -> Option<(PathBuf, u64)> {
    let from = env::var(FROM).ok()?.parse().ok()?;
    Some((env::var_os(PATH)?.into(), from))
}

/// The most memory that this process ever had, in bytes; `None` where the system does not say.
pub(crate) fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}
