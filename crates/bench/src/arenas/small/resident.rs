//! Resident memory of a process, measured in a process of its own.

use std::{process::Command, sync::LazyLock};

use crate::{Error, Options, Row, Table};

/// Environment variable with the name of the contender that the started process must measure.
const VARIABLE: &str = "DRYSTONE_BENCH_RESIDENT";
pub(super) const METRIC: &str = "resident";

/// Returns the contender for which this process was started.
pub(super) fn requested_contender() -> Option<&'static str> {
    static NAME: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(VARIABLE).ok());
    NAME.as_deref()
}

/// Returns the resident bytes of this process that are not mapped from a file, or `None` if the
/// system does not report them.
pub(super) fn bytes() -> Option<f64> {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0)
}

/// Returns the result of a process that was started to measure one contender.
pub(super) fn report(table: &mut Table, case: &str, contender: &str, value: f64) {
    let [case, contender, metric, unit] =
        [case, contender, METRIC, "bytes/object"].map(str::to_owned);
    let (median, min, max) = (value, value, value);
    table.push(Row { case, contender, metric, unit, median, min, max, rounds: 1 });
}

/// Starts this program again to measure one contender in a new process.
pub(super) fn measure_in_process(
    case: &str,
    contender: &str,
    options: &Options,
) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["arenas", "--case", case, "--json", "-"]).env(VARIABLE, contender);
    if options.quick {
        command.arg("--quick");
    }
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let json: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    json["rows"][0]["median"].as_f64().ok_or_else(|| "the process gave no figure".to_owned())
}

/// Returns the error of a process that was started to measure one contender.
pub(super) fn failed(table: &Table, case: &str, contender: &str, message: &str) -> Error {
    let [table, case, contender, message] =
        [table.name(), case, contender, message].map(str::to_owned);
    Error::Contender { table, case, contender, message }
}
