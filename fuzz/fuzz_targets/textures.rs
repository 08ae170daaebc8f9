//! Reads bytes from a coverage-guided fuzzer as the textures of a model.
#![no_main]

// Each target reads one kind of file.
#[allow(dead_code)]
#[path = "../../crates/formats/tests/it/programs/mod.rs"]
mod programs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    programs::texture(bytes);
});
