//! Runs the programs of the property tests on bytes from a coverage-guided fuzzer.
#![no_main]

// The module also contains the programs of the other targets.
#[allow(dead_code)]
#[path = "../../crates/memory/tests/it/programs/mod.rs"]
mod programs;

libfuzzer_sys::fuzz_target!(|program: &[u8]| programs::stack::run(program));
