//! Runs the program as a user would.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

/// Returns the path of the program: the one that `DRYSTONE_BIN` names, else that of this test run.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os("DRYSTONE_BIN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_drystone")), PathBuf::from)
}

/// Returns a command with these arguments, without a display, which stores nothing in the user's folders.
pub(crate) fn drystone(words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(words).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.env("DRYSTONE_CACHE", "");
    command
}

/// Runs the program to its end.
pub(crate) fn run(words: &[&str]) -> Output {
    drystone(words).output().unwrap_or_else(|error| panic!("{}: {error}", binary().display()))
}

/// Returns a real file; `None` without `DRYSTONE_DATA`, a failure if the file is missing.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("DRYSTONE_DATA")?).join(name);
    assert!(path.is_file(), "{} is missing", path.display());
    Some(path)
}

/// Returns a real file; prints a note that is counted if there is none.
pub(crate) fn data_or_skip(test: &str, name: &str) -> Option<PathBuf> {
    let path = data(name);
    if path.is_none() {
        println!("skipped: {test}: DRYSTONE_DATA is not set");
    }
    path
}

/// Returns an empty folder for this test.
pub(crate) fn scratch(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns standard error of a run that must fail with `code` and print one line.
pub(crate) fn one_line(output: &Output, code: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    assert!(text.starts_with("drystone: "), "{text}");
    text
}
