//! The programs of the property tests, from a fuzzer that looks for new paths.
#![no_main]

// Each target runs one kind of program.
#[allow(dead_code)]
#[path = "../../crates/voxel/tests/it/programs/mod.rs"]
mod programs;

libfuzzer_sys::fuzz_target!(|program: &[u8]| programs::mesher::run(program));
