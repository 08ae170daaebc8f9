//! The parse with `drystone_memory` as the global allocator, with its default classes: a fixed area of
//! 2 MB. Further objects are from the C library's allocator.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::{alloc::System, process::ExitCode};

use drystone_memory::{GlobalSmallObjects, SmallObjectsConfig};

#[global_allocator]
static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);

fn main() -> ExitCode {
    if let Err(error) = ALLOCATOR.enable(&SmallObjectsConfig::default()) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    process::main()
}
