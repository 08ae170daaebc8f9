//! The parse with `talc` as the global allocator.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::{alloc::System, process::ExitCode};

use talc::{TalcLock, source::GlobalAllocSource};

#[global_allocator]
static ALLOCATOR: TalcLock<spinning_top::RawSpinlock, GlobalAllocSource<System>> =
    TalcLock::new(GlobalAllocSource::new(System));

fn main() -> ExitCode {
    process::main()
}
