//! The parse in whole processes, each with another global allocator.
//!
//! `time` is the time to build and free the tree once. It is measured inside the process as the
//! median of many parses, so that starting the process does not count. `memory` is the peak of
//! resident memory: the program, the text, the tree and the allocator's metadata. `resident` is the
//! resident memory while the first tree is live, without what is mapped from files: the text, the
//! tree, the stack and the allocator's metadata. Both are counted by the system, for all alike.
//!
//! `drystone` has the classes of a recorded run, `drystone-default` its default classes: a fixed area
//! of 2 MB, beyond which objects are the system's.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use super::document_path;
use crate::{Contender, Error, Failure, Figure, Run, error::By, rounds::Round};

const CASE: &str = "global";
/// Parses per process.
const PARSES: usize = 15;
const QUICK_PARSES: usize = 3;

pub(super) const CONTENDERS: &[&str] = &[
    "drystone",
    "drystone-default",
    "malloc",
    #[cfg(feature = "peers")]
    "mimalloc",
    #[cfg(feature = "peers")]
    "snmalloc-rs",
    "talc",
    #[cfg(unix)]
    "rlsf",
    "dlmalloc",
];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    if !run.options.selects(CASE) {
        return Ok(());
    }
    let Some(file) = document_path(CASE) else { return Ok(()) };
    // The other cases are measured without it.
    if let Err(Failure { message, .. }) = build() {
        eprintln!("skipped: {CASE}: {message}");
        return Ok(());
    }
    let parses = run.options.size(PARSES, QUICK_PARSES);
    let file = &file;
    run.case(CASE, || {
        let contender = |name: &&str| {
            let program = program(name).by(name)?;
            Ok(Contender::new(*name, move || round(&program, file, parses)))
        };
        CONTENDERS.iter().map(contender).collect()
    })
}

/// Runs one process and returns its figures.
fn round(program: &Path, file: &Path, parses: usize) -> Round {
    let json = output_of(Command::new(program).arg(file).arg(parses.to_string()))?;
    let number = |name: &str| json[name].as_f64().filter(|number| *number > 0.0);
    let ns = number("ns").ok_or("the process printed no time")?;
    let objects = number("objects").ok_or("the tree is empty")?;
    let mut figures = vec![
        Figure::new("time", "us/parse", ns / 1000.0),
        Figure::new("object", "ns/object", ns / objects),
    ];
    // Some systems do not report memory; then the figures are left out.
    for (metric, name) in [("memory", "peak_bytes"), ("resident", "resident_bytes")] {
        figures.extend(number(name).map(|bytes| Figure::new(metric, "bytes", bytes)));
    }
    Ok(figures)
}

/// Runs a process and returns the JSON that it prints.
pub(super) fn output_of(command: &mut Command) -> Result<serde_json::Value, Failure> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns the path of a contender's binary, next to this one.
pub(super) fn program(contender: &str) -> std::io::Result<PathBuf> {
    let name = format!("global-{contender}{}", std::env::consts::EXE_SUFFIX);
    Ok(std::env::current_exe()?.with_file_name(name))
}

/// Builds the contenders' binaries if they are missing or older than this one. `cargo run` builds
/// only this one.
pub(super) fn build() -> Result<(), Failure> {
    let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let binary = std::env::current_exe()?;
    let newest = changed(&binary).unwrap_or(SystemTime::UNIX_EPOCH);
    let programs = CONTENDERS.iter().map(|name| program(name)).collect::<Result<Vec<_>, _>>()?;
    if programs.iter().all(|path| changed(path).is_some_and(|time| time >= newest)) {
        return Ok(());
    }
    let missing = programs.iter().find(|path| !path.exists());
    let (Some(cargo), Some(folder)) =
        (std::env::var_os("CARGO"), std::env::var_os("CARGO_MANIFEST_DIR"))
    else {
        return missing.map_or(Ok(()), |path| {
            Err(format!("{} is missing; run `cargo build -p drystone-bench --bins` with the same profile and features", path.display()).into())
        });
    };
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--bins", "--manifest-path"]);
    command.arg(Path::new(&folder).join("Cargo.toml"));
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    if cfg!(feature = "peers") {
        command.args(["--features", "peers"]);
    }
    if let Some(target) = binary.parent().and_then(Path::parent) {
        command.arg("--target-dir").arg(target);
    }
    if command.status()?.success() {
        Ok(())
    } else {
        Err("the contenders' binaries do not build".into())
    }
}
