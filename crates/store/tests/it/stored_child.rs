//! Child processes, to be killed or to have their memory measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

/// Returns the folder of real files. Prints a line and returns `None` if it is not set.
pub(crate) fn data(test: &str) -> Option<PathBuf> {
    let folder = env::var_os("DRYSTONE_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {test}: DRYSTONE_DATA is not set");
    }
    folder
}

/// A folder that is deleted at the end of the test.
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

/// Returns a command that runs one test of this binary as a child.
pub(crate) fn command(test: &str, path: &Path, from: u64) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(PATH, path).env(FROM, from.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Returns the child's parameters, or `None` if the test does not run as a child.
pub(crate) fn order() -> Option<(PathBuf, u64)> {
    let from = env::var(FROM).ok()?.parse().ok()?;
    Some((env::var_os(PATH)?.into(), from))
}

/// Returns the peak memory of this process in bytes, or `None` if the system does not report it.
pub(crate) fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}
