use std::path::Path;

use drystone_testing::Random;

use crate::programs::packed::{packed_directory, packed_header, packed_record};

/// The files of a fuzz target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let files =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let seeds: Vec<_> = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(!seeds.is_empty());
    seeds
}

/// Changes some bytes, cuts the end, or repeats a part.
fn changed(random: &mut Random, seed: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(4) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes.truncate(at + 1),
            _ => bytes.extend_from_within(at..(at + 9).min(bytes.len())),
        }
    }
    bytes
}

fn each_change(target: &str, read: fn(&[u8]) -> bool) {
    let mut random = Random::new(26);
    let mut valid_count = 0;
    for seed in seeds(target) {
        assert!(read(&seed), "{target}: a seed is not valid");
        for _ in 0..400 {
            valid_count += usize::from(read(&changed(&mut random, &seed)));
        }
    }
    assert!(valid_count > 0, "{target}: nothing passed the first checks");
}

#[test]
fn arbitrary_headers_are_valid_or_refused() {
    each_change("packed_header", packed_header);
}

#[test]
fn arbitrary_directory_pages_are_valid_or_refused() {
    each_change("packed_directory", packed_directory);
}

#[test]
fn arbitrary_records_are_valid_or_refused() {
    each_change("packed_record", packed_record);
}
