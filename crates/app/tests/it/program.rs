//! Running the program as a person would.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

/// The program: the one that `DRYSTONE_BIN` names, else that of this test run.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os("DRYSTONE_BIN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_drystone")), PathBuf::from)
}

/// The program with these words, without a display.
pub(crate) fn drystone(words: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(words).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command
}

/// Runs the program to its end.
pub(crate) fn run(words: &[&str]) -> Output {
    drystone(words).output().unwrap_or_else(|error| panic!("{}: {error}", binary().display()))
}

/// A real file; `None` when `DRYSTONE_DATA` is not set, a failure when the file is missing.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("DRYSTONE_DATA")?).join(name);
    assert!(path.is_file(), "{} is missing", path.display());
    Some(path)
}

/// A real file; says so and counts when there is none.
pub(crate) fn data_or_skip(test: &str, name: &str) -> Option<PathBuf> {
    let path = data(name);
    if path.is_none() {
        println!("skipped: {test}: DRYSTONE_DATA is not set");
    }
    path
}

/// An empty folder of this test's own.
pub(crate) fn scratch(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Standard error of a run that must have failed with `code` and said one line.
pub(crate) fn one_line(output: &Output, code: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    assert!(text.starts_with("drystone: "), "{text}");
    text
}
