//! The parse with the C library's allocator as the global allocator.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: std::alloc::System = std::alloc::System;

fn main() -> ExitCode {
    process::main()
}
