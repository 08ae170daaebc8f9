//! The parse with `mimalloc` as the global allocator.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    process::main()
}
