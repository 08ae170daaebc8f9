//! Resident memory of a process, measured in a process of its own.

use std::{process::Command, sync::LazyLock};

use crate::{Failure, Options};

/// Environment variable with the name of the contender that the started process must measure.
const VARIABLE: &str = "DRYSTONE_BENCH_RESIDENT";

/// Returns the contender for which this process was started.
pub(super) fn requested_contender() -> Option<&'static str> {
    static NAME: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(VARIABLE).ok());
    NAME.as_deref()
}

/// Starts this program again to measure one contender in a new process.
pub(super) fn measure_in_process(
    case: &str,
    contender: &str,
    options: &Options,
) -> Result<f64, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["arenas", "--case", case, "--json", "-"]).env(VARIABLE, contender);
    if options.quick {
        command.arg("--quick");
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let json: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    Ok(json["rows"][0]["median"].as_f64().ok_or("the process gave no figure")?)
}
