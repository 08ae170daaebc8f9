//! Runs the programs of the property tests on bytes from a coverage-guided fuzzer.
#![no_main]

// Each target runs one kind of program.
#[allow(dead_code)]
#[path = "../../crates/voxel/tests/it/programs/mod.rs"]
mod programs;

libfuzzer_sys::fuzz_target!(|program: &[u8]| programs::array::run(program));
