//! The programs of the property tests, from a fuzzer that looks for new paths.
#![no_main]

// The other targets' programs come along unused.
#[allow(dead_code)]
#[path = "../../crates/alloc/tests/it/programs/mod.rs"]
mod programs;

libfuzzer_sys::fuzz_target!(|program: &[u8]| programs::global_small_objects::run(program));
