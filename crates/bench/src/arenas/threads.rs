//! Table `threads`: allocators of a whole program, used by several threads. Each contender is a process of
//! its own, with another global allocator; see `global/threads.rs` for the work.
//!
//! `time` is the CPU time of all threads for one allocation and one free, the writing of the object
//! included. It is a fair measure on a machine with fewer cores than threads. `wall` is the time by the
//! clock. `resident` is the resident memory that is not mapped from files, while the objects of `larson` and
//! `churn` are live; after `handoff`, all objects are freed.
//!
//! `drystone` has the sizes of these objects as its classes, as a recorder proposes for a program.
//! `drystone-default` has its default classes in a fixed area of 2 MB, beyond which objects are the system's.

use std::{path::Path, process::Command};

use super::global::{CONTENDERS, build, output_of, program};
use crate::{Contender, Error, Failure, Figure, Run, error::By, rounds::Round};

const WORKS: [&str; 3] = ["larson", "handoff", "churn"];
const THREADS: [usize; 3] = [1, 2, 4];
/// Allocations of each thread.
const STEPS: usize = 2_000_000;
const QUICK_STEPS: usize = 20_000;

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let cases = WORKS.iter().flat_map(|work| THREADS.map(|threads| (*work, threads)));
    let cases: Vec<_> =
        cases.map(|(work, threads)| (format!("{work}-{threads}"), work, threads)).collect();
    if !cases.iter().any(|(case, ..)| run.options.selects(case)) {
        return Ok(());
    }
    if let Err(Failure { message, .. }) = build() {
        eprintln!("skipped: threads: {message}");
        return Ok(());
    }
    let steps = run.options.size(STEPS, QUICK_STEPS);
    for (case, work, threads) in &cases {
        run.case(case, || {
            let contender = |name: &&'static str| {
                let program = program(name).by(name)?;
                let arguments = [work.to_string(), threads.to_string(), steps.to_string()];
                Ok(Contender::new(*name, move || round(&program, &arguments)))
            };
            CONTENDERS.iter().map(contender).collect()
        })?;
    }
    Ok(())
}

/// Runs one process and returns its figures.
fn round(program: &Path, arguments: &[String]) -> Round {
    let json = output_of(Command::new(program).arg("threads").args(arguments))?;
    let number = |name: &str| json[name].as_f64().filter(|number| *number > 0.0);
    let steps = number("steps").ok_or("the process did nothing")?;
    let mut figures = Vec::new();
    for (metric, name) in [("time", "cpu_ns"), ("wall", "ns")] {
        let ns = number(name).ok_or("the process printed no time")?;
        figures.push(Figure::new(metric, "ns/op", ns / steps));
    }
    let resident = number("resident_bytes");
    figures.extend(resident.map(|bytes| Figure::new("resident", "bytes", bytes)));
    Ok(figures)
}
