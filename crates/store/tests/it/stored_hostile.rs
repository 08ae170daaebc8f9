//! Records of stored worlds that were cut and changed give a valid chunk or none.

use std::fs;
use std::path::Path;

use drystone_store::fuzzed;
use drystone_testing::Random;
use drystone_voxel::{Chunk, Material, MaterialKind, MaterialTable};

use crate::programs;

/// Chunks in each kind of storage.
fn chunks() -> Vec<Chunk> {
    let noise = |kinds: u32| {
        Chunk::from_fn(Chunk::SIDE, |at| {
            let place = u32::from(at.x) * 7 + u32::from(at.y) * 131 + u32::from(at.z) * 911;
            Material((place.wrapping_mul(2_654_435_761) >> 16) as u16 % kinds as u16)
        })
    };
    let hills = |kinds: u16| {
        Chunk::from_fn(Chunk::SIDE, |at| {
            let height = 9 + at.x / 5 + at.z / 7 + (at.x ^ at.z) % 3;
            Material(if at.y < height { 1 + u16::from(at.y + at.x / 9) % kinds } else { 0 })
        })
    };
    let layers = Chunk::from_fn(Chunk::SIDE, |at| Material(u16::from(at.z / 9)));
    vec![Chunk::new(Chunk::SIDE, Material(7)), layers, hills(1), hills(7), noise(3), noise(300)]
}

#[test]
fn records_keep_the_storage_of_their_chunk() {
    for chunk in chunks() {
        let mut smallest = chunk.clone();
        smallest.compact();
        let record = fuzzed::write_record(&chunk);
        assert!(programs::stored_chunk(&record));
        let read = fuzzed::read_record(&record).unwrap();
        assert_eq!((&read, read.storage()), (&chunk, smallest.storage()));
    }
}

#[test]
fn thousands_of_changed_records() {
    let mut random = Random::new(9);
    let (mut whole_count, mut count) = (0, 0);
    for chunk in chunks() {
        let record = fuzzed::write_record(&chunk);
        let mut bricks = vec![254];
        chunk.write_bricks(&mut bricks);
        for bytes in [record, bricks] {
            for round in 0..400 {
                let mut changed = bytes.clone();
                let at = random.below(changed.len());
                match round % 3 {
                    0 => changed.truncate(at),
                    1 => changed[at] ^= 1 << random.below(8),
                    _ => changed[at] = random.below(256) as u8,
                }
                whole_count += usize::from(programs::stored_chunk(&changed));
                count += 1;
            }
        }
    }
    // Some changes give another chunk, most give none.
    assert!((count / 100..count / 2).contains(&whole_count), "{whole_count} of {count}");
}

/// Face colours and emission that were cut and changed are valid or refused.
#[test]
fn thousands_of_changed_looks() {
    let mut random = Random::new(5);
    let mut table = MaterialTable::new();
    for number in 0..300_u16 {
        let kind = MaterialKind::new("", [7; 4]).with_emission((number % 3) as u8 * 90);
        let faces = [[number as u8; 3]; 6];
        table.insert_kind(if number % 2 == 0 { kind } else { kind.with_faces(faces) }).unwrap();
    }
    let bytes = fuzzed::write_looks(&table);
    assert!(programs::stored_looks(&bytes));
    let mut valid_count = 0;
    for round in 0..3_000 {
        let mut changed = bytes.clone();
        let at = random.below(changed.len());
        match round % 3 {
            0 => changed.truncate(at),
            1 => changed[at] ^= 1 << random.below(8),
            _ => changed[at] = random.below(256) as u8,
        }
        valid_count += usize::from(programs::stored_looks(&changed));
    }
    // Another colour is valid, another structure hardly ever.
    assert!((600..2_700).contains(&valid_count), "{valid_count}");
}

/// The seeds of the fuzzer are valid records.
#[test]
fn seeds_are_chunks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/stored_chunk");
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        assert!(programs::stored_chunk(&fs::read(&path).unwrap()), "{}", path.display());
        count += 1;
    }
    assert!(count > 3);
}
