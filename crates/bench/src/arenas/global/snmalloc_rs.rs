//! The parse with `snmalloc-rs` as the global allocator.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: snmalloc_rs::SnMalloc = snmalloc_rs::SnMalloc::new();

fn main() -> ExitCode {
    process::main()
}
