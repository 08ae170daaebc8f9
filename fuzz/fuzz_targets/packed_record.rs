//! Reads bytes from a coverage-guided fuzzer as a record of a packed world.
#![no_main]

// Each target reads one kind of part.
#[allow(dead_code)]
#[path = "../../crates/store/tests/it/programs/mod.rs"]
mod programs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    programs::packed::packed_record(bytes);
});
