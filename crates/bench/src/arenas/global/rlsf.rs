//! The parse with `rlsf` as the global allocator.
#![forbid(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::process::ExitCode;

// It has one for no other system.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: rlsf::GlobalTlsf = rlsf::GlobalTlsf::new();

fn main() -> ExitCode {
    process::main()
}
