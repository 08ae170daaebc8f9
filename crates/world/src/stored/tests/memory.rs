//! Worlds in memory, as a page has them, beside a map, and their bytes as files.

use super::*;
use crate::{EditStore, EditedSource};

const ROOM_BYTES: usize = 64 << 20;

fn never() -> CommitPolicy {
    CommitPolicy { max_delay: Duration::MAX, max_bytes: u64::MAX / 4 }
}

/// Some chunks in places near each other.
fn some_chunks(dice: &mut u32) -> Vec<(ChunkPos, Chunk)> {
    let count = next(dice) % 12;
    let one = |dice: &mut u32| {
        let mut c = || next(dice) as i32 % 5 - 2;
        (ChunkPos::new(c(), c(), c()), some_chunk(dice))
    };
    (0..count).map(|_| one(dice)).collect()
}

fn assert_is_file(bytes: &[u8], shadow: &BTreeMap<ChunkPos, Chunk>, folder: &Folder) {
    fs::write(folder.file(), bytes).unwrap();
    let world = StoredWorld::open_read_only(&folder.file()).unwrap();
    assert_holds(&world, shadow);
    drop(world);
    assert_eq!(StoredWorld::check(&folder.file()).unwrap().damage, [""; 0]);
}

/// Puts, flushes and openings in an order without rule, against a map; what is given away is a
/// file like any other.
#[test]
fn what_was_put_in_memory_is_there_and_in_its_bytes() {
    let folder = Folder::new();
    let file = MemoryFile::new("m", ROOM_BYTES);
    let at_once = CommitPolicy { max_delay: Duration::ZERO, max_bytes: 0 };
    let (mut dice, mut shadow, mut kept) = (31, BTreeMap::new(), BTreeMap::new());
    StoredWorld::create_in(&file, "in memory", &materials(300)).unwrap();
    assert!(StoredWorld::create_in(&file, "again", &materials(3)).is_err());
    for round in 0..10 {
        let policy = if round % 3 == 0 { at_once } else { never() };
        let world = StoredWorld::open_in(&file, policy).unwrap();
        assert_eq!((world.name(), world.path()), ("in memory", Path::new("m")));
        for _ in 0..3 {
            let chunks = some_chunks(&mut dice);
            shadow.extend(chunks.iter().cloned());
            world.put(chunks).unwrap();
            assert_holds(&world, &shadow);
            if next(&mut dice).is_multiple_of(2) {
                world.flush().unwrap();
                kept.clone_from(&shadow);
                assert_eq!(world.saving(), Default::default());
            } else if policy == never() {
                assert_is_file(&file.finished().unwrap(), &kept, &folder);
            }
        }
        match next(&mut dice) % 2 {
            0 => world.close().unwrap(),
            _ => drop(world),
        }
        kept.clone_from(&shadow);
    }
    file.verify().unwrap();
    assert_is_file(&file.finished().unwrap(), &shadow, &folder);
}

/// A file with too little room refuses, loses nothing, and what it has can still be had.
#[test]
fn a_full_memory_refuses_and_keeps_what_was_put() {
    let folder = Folder::new();
    let file = MemoryFile::new("small", 2 << 20);
    StoredWorld::create_in(&file, "small", &materials(300)).unwrap();
    let world = StoredWorld::open_in(&file, never()).unwrap();
    let (mut dice, mut shadow, mut kept) = (5, BTreeMap::new(), BTreeMap::new());
    let refused = loop {
        assert!(shadow.len() < 10_000, "it never gets full");
        for _ in 0..16 {
            let at = ChunkPos::new(shadow.len() as i32, 0, 0);
            let chunk = Chunk::from_fn(Chunk::SIDE, |_| Material(next(&mut dice) as u16 % 300));
            shadow.insert(at, chunk.clone());
            world.put([(at, chunk)]).unwrap();
        }
        match world.flush() {
            Ok(()) => kept.clone_from(&shadow),
            Err(error) => break error,
        }
    };
    assert!(!kept.is_empty());
    assert!(refused.to_string().contains("small: not saved: there is room"), "{refused}");
    assert!(
        world.put([]).is_ok() && world.put([(ChunkPos::default(), some_chunk(&mut 1))]).is_err()
    );
    assert_holds(&world, &shadow);
    assert_is_file(&file.finished().unwrap(), &kept, &folder);
    // Less is asked for: then there is room.
    let more: Vec<_> = shadow.keys().copied().filter(|at| !kept.contains_key(at)).collect();
    let failed = world.flush();
    assert!(failed.is_err());
    drop(world);
    let world = StoredWorld::open_in(&file, never()).unwrap();
    assert_holds(&world, &kept);
    world.put(more.into_iter().map(|at| (at, Chunk::new(Chunk::SIDE, Material(1))))).unwrap();
    world.flush().unwrap();
}

#[test]
fn bytes_of_something_else_are_no_world() {
    for bytes in [&b""[..], b"some words", b"redb", &[b"redb".as_slice(), &[7; 9_000]].concat()] {
        let file = MemoryFile::of_bytes("x", bytes.to_vec(), ROOM_BYTES);
        assert!(StoredWorld::open_in(&file, never()).is_err());
    }
    let file = MemoryFile::new("tiny", 100);
    let refused = StoredWorld::create_in(&file, "tiny", &materials(1)).unwrap_err();
    assert!(refused.to_string().contains("there is room in memory"), "{refused}");
}

/// Edits of a source, as a page keeps them: given away, brought again, and read as a file.
#[test]
fn edits_kept_in_memory_come_back_over_their_source_alone() {
    let folder = Folder::new();
    let source = |seed| {
        let config = GeneratorConfig { seed, size_chunks: [3, 3, 3], ..GeneratorConfig::default() };
        Box::new(GeneratedWorld::new(config).unwrap())
    };
    let edited = EditedSource::without_file(source(1), never()).unwrap();
    assert!(edited.lacks_file());
    let file = MemoryFile::new("e.drystone", ROOM_BYTES);
    edited.keep_in(&file).unwrap();
    let [filled, emptied] = [ChunkPos::new(0, 2, 1), ChunkPos::new(1, 0, 1)];
    let chunks = [(filled, Material(2)), (emptied, Material::AIR)];
    let chunks = chunks.map(|(at, material)| (at, Chunk::new(Chunk::SIDE, material)));
    edited.put_edited(chunks.to_vec()).unwrap();
    assert_eq!(edited.saving().waiting_chunks, 2);
    edited.flush().unwrap();
    assert_eq!(edited.saving().waiting_chunks, 0);

    let bytes = file.finished().unwrap();
    assert!(bytes.len() < 100 << 10, "{}", bytes.len());
    fs::write(folder.file(), &bytes).unwrap();
    let brought = MemoryFile::of_bytes("e.drystone", bytes, ROOM_BYTES);
    brought.verify().unwrap();
    let refused = EditedSource::open_in(source(2), &brought, never()).unwrap_err();
    assert!(refused.to_string().contains("holds edits of generated world"), "{refused}");
    let again = EditedSource::open_in(source(1), &brought, never()).unwrap();
    let read = EditedSource::open_read_only(source(1), &folder.file()).unwrap();
    for place in source(1).chunk_positions() {
        let expected = edited.chunk(place).unwrap();
        assert!(again.chunk(place).unwrap() == expected && read.chunk(place).unwrap() == expected);
    }
    assert!(EditedSource::is_name_of_edits(
        StoredWorld::open_in(&brought, never()).unwrap().name()
    ));
}
