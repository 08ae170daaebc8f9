//! Reads bytes from a coverage-guided fuzzer as a chunk, and as looks of materials, of a stored world.
#![no_main]

// Each target reads one kind of file.
#[allow(dead_code)]
#[path = "../../crates/store/tests/it/programs/mod.rs"]
mod programs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    programs::stored_chunk(bytes);
    programs::stored_looks(bytes);
});
