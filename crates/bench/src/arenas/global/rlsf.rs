//! The parse with `rlsf` as the global allocator.
#![deny(unsafe_code)]

#[path = "process.rs"]
mod process;

use std::process::ExitCode;

// rlsf has a global allocator only for these systems.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: rlsf::GlobalTlsf = rlsf::GlobalTlsf::new();

fn main() -> ExitCode {
    process::main()
}
