//! The parse under a recorder, which proposes the size classes of the contender `drystone`.
//!
//! `cargo run --release -p drystone-bench --bin global-record -- FILE 1` prints them as Rust code on
//! standard error.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::{alloc::System, process::ExitCode};

use drystone_memory::{ProposalConfig, Recorder};

#[global_allocator]
static RECORDER: Recorder<System> = Recorder::new(System, &System);

/// Largest number of size classes, and largest size in one. More save little.
const CONFIG: ProposalConfig =
    ProposalConfig::DEFAULT.with_classes(12).with_largest_bytes(256).with_spare_percent(25);

fn main() -> ExitCode {
    let code = process::main();
    let proposal = RECORDER.record().propose(&CONFIG);
    for class in &proposal.classes {
        eprintln!("    SlotClass::new({}, {}),", class.slot_bytes, class.slots);
    }
    code
}
