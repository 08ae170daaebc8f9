//! The parse in whole processes, each with another global allocator.
//!
//! `time` is the time to build and free the tree once. It is measured inside the process as the
//! median of many parses, so that starting the process does not count. `memory` is the peak of
//! resident memory: the program, the text, the tree and the allocator's metadata.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use crate::{Contender, Error, Figure, Options, Table};

const CASE: &str = "global";
const FILE: &str = "mime-types.xml";
/// Parses per process.
const PARSES: usize = 15;
const QUICK_PARSES: usize = 3;

const CONTENDERS: &[&str] = &[
    "drystone",
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

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    if !options.selects(CASE) {
        return Ok(());
    }
    let Some(folder) = std::env::var_os("DRYSTONE_DATA") else {
        eprintln!("skipped: {CASE}: it needs {FILE}, and DRYSTONE_DATA is not set");
        return Ok(());
    };
    let file = PathBuf::from(folder).join(FILE);
    let failed = |contender: &str, message: String| Error::Contender {
        table: "arenas".to_owned(),
        case: CASE.to_owned(),
        contender: contender.to_owned(),
        message,
    };
    // The other cases are measured without it.
    if let Err(why) = build() {
        eprintln!("skipped: {CASE}: {why}");
        return Ok(());
    }
    let parses = options.size(PARSES, QUICK_PARSES);
    let mut contenders = Vec::new();
    for &name in CONTENDERS {
        let program = program(name).map_err(|why| failed(name, why))?;
        let file = file.clone();
        contenders.push(Contender::new(name, move || round(&program, &file, parses)));
    }
    table.run_case(CASE, options, contenders)
}

/// Runs one process and returns its figures.
fn round(program: &Path, file: &Path, parses: usize) -> Result<Vec<Figure>, String> {
    let output = Command::new(program).arg(file).arg(parses.to_string()).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let output_json: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let number = |name: &str| output_json[name].as_f64().filter(|number| *number > 0.0);
    let ns = number("ns").ok_or("the process printed no time")?;
    let objects = number("objects").ok_or("the tree is empty")?;
    let mut figures = vec![
        Figure::new("time", "us/parse", ns / 1000.0),
        Figure::new("object", "ns/object", ns / objects),
    ];
    // Some systems do not report the peak; then the figure is left out.
    figures.extend(number("peak_bytes").map(|bytes| Figure::new("memory", "bytes", bytes)));
    Ok(figures)
}

/// Returns the path of a contender's binary, next to this one.
fn program(contender: &str) -> Result<PathBuf, String> {
    let binary = std::env::current_exe().map_err(|error| error.to_string())?;
    let name = format!("global-{contender}{}", std::env::consts::EXE_SUFFIX);
    Ok(binary.with_file_name(name))
}

/// Builds the contenders' binaries if they are missing or older than this one. `cargo run` builds
/// only this one.
fn build() -> Result<(), String> {
    let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let binary = std::env::current_exe().map_err(|error| error.to_string())?;
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
            Err(format!("{} is missing; run `cargo build -p drystone-bench --bins` with the same profile and features", path.display()))
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
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("the contenders' binaries do not build".to_owned()) }
}
