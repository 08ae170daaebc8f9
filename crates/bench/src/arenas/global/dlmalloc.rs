//! The parse with `dlmalloc` as the global allocator.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    process::main()
}
