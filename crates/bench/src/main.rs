//! Command line of the benchmarks.
//!
//! `drystone-bench TABLE [--json FILE] [--svg FILE] [--quick]` measures one table and prints it.
//! `drystone-bench --chart FILE.json --svg FILE` draws a table that was measured before.
#![forbid(unsafe_code)]

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::Parser;
use drystone_bench::{Error, Options, TABLES, find_table, read_json, write_json, write_svg};

/// Exit code of a run that failed.
const FAILED: u8 = 1;
/// Exit code of an invalid command line.
const USAGE: u8 = 2;

/// Measures drystone and its peers, and prints one table.
#[derive(Parser)]
#[command(version, after_help = tables_help())]
struct Arguments {
    /// The table to measure.
    #[arg(required_unless_present = "chart")]
    table: Option<String>,
    /// Draw the rows of a file that `--json` wrote, without measuring.
    #[arg(long, value_name = "FILE.json", requires = "svg", conflicts_with_all = ["table", "json"])]
    chart: Option<PathBuf>,
    /// Write the rows as JSON too; `-` is standard output (the table then goes to
    /// standard error).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the medians as a bar chart too.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Small cases and few rounds: a test that every case runs, not a measurement.
    #[arg(long)]
    quick: bool,
    /// Rounds of each case, instead of the default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Only cases whose name contains this text.
    #[arg(long, value_name = "PART")]
    case: Option<String>,
}

fn tables_help() -> String {
    let lines: Vec<_> = TABLES.iter().map(|t| format!("  {:<14}{}", t.name, t.about)).collect();
    format!("Tables:\n{}", lines.join("\n"))
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("drystone-bench: {error}");
            match error {
                Error::UnknownTable { .. } | Error::NoCase { .. } => ExitCode::from(USAGE),
                _ => ExitCode::from(FAILED),
            }
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    if let (Some(chart), Some(svg)) = (&arguments.chart, &arguments.svg) {
        return write_svg(&read_json(chart)?, svg);
    }
    let entry = find_table(arguments.table.as_deref().unwrap_or_default())?;
    let mut options = if arguments.quick { Options::quick() } else { Options::default() };
    options.case.clone_from(&arguments.case);
    options.rounds = arguments.rounds.map_or(options.rounds, usize::from);
    let table = entry.measure(&options)?;
    let json_to_stdout = arguments.json.as_ref().is_some_and(|path| path.as_os_str() == "-");
    // A closed output is not an error: the rows may still go to the file.
    let _ = if json_to_stdout {
        write!(std::io::stderr(), "{table}")
    } else {
        write!(std::io::stdout(), "{table}")
    };
    let json = arguments.json.as_ref().map_or(Ok(()), |path| write_json(&table, path));
    json.and(arguments.svg.as_ref().map_or(Ok(()), |path| write_svg(&table, path)))
}
