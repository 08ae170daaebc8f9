//! Worlds in memory, compared with a map, and their bytes as files.

use drystone_formats::{EditDestination, EditStore, SeparateEdits, WorldFile};

use super::*;
use crate::edited::{EditAccess, EditOptions, EditedSource};

const MAX_BYTES: usize = 64 << 20;

fn never() -> CommitPolicy {
    CommitPolicy { max_delay: Duration::MAX, max_bytes: u64::MAX / 4 }
}

/// Random chunks at positions near each other.
fn some_chunks(random: &mut Random) -> Vec<(ChunkPos, Chunk)> {
    let count = random.below(12);
    let one = |random: &mut Random| {
        let mut c = || random.below(5) - 2;
        (ChunkPos::new(c(), c(), c()), some_chunk(random))
    };
    (0..count).map(|_| one(random)).collect()
}

fn assert_is_file(bytes: &[u8], shadow: &BTreeMap<ChunkPos, Chunk>, folder: &Folder) {
    fs::write(folder.file(), bytes).unwrap();
    let world = StoredWorld::open(&folder.file(), &StoreOptions::read_only()).unwrap();
    assert_holds(&world, shadow);
    drop(world);
    assert_eq!(StoredWorld::check(&folder.file()).unwrap().damage, [""; 0]);
}

/// Random sequence of puts, flushes and reopenings, compared with a map. The finished bytes are a
/// valid file.
#[test]
fn chunks_in_memory_are_readable_and_in_the_finished_bytes() {
    let folder = Folder::new();
    let file = MemoryFile::new("m", MAX_BYTES);
    let at_once = CommitPolicy { max_delay: Duration::ZERO, max_bytes: 0 };
    let (mut random, mut shadow, mut kept) = (Random::new(31), BTreeMap::new(), BTreeMap::new());
    StoredWorld::create(&file, "in memory", &materials(300)).unwrap();
    assert!(StoredWorld::create(&file, "again", &materials(3)).is_err());
    for round in 0..10 {
        let policy = if round % 3 == 0 { at_once } else { never() };
        let world = StoredWorld::open(&file, &policy.into()).unwrap();
        assert_eq!((world.name(), world.path()), ("in memory", Path::new("m")));
        for _ in 0..3 {
            let chunks = some_chunks(&mut random);
            shadow.extend(chunks.iter().cloned());
            world.put(chunks).unwrap();
            assert_holds(&world, &shadow);
            if random.below(2) == 0 {
                world.flush().unwrap();
                kept.clone_from(&shadow);
                assert_eq!(world.saving(), Default::default());
            } else if policy == never() {
                assert_is_file(&StoredWorld::finished_bytes(&file).unwrap(), &kept, &folder);
            }
        }
        match random.below(2) {
            0 => world.close().unwrap(),
            _ => drop(world),
        }
        kept.clone_from(&shadow);
    }
    StoredWorld::verify(&file).unwrap();
    assert_is_file(&StoredWorld::finished_bytes(&file).unwrap(), &shadow, &folder);
}

/// A file at its limit refuses changes and loses nothing, and its bytes can still be exported.
#[test]
fn a_full_memory_file_refuses_changes_and_keeps_the_earlier_ones() {
    let folder = Folder::new();
    let file = MemoryFile::new("small", 2 << 20);
    StoredWorld::create(&file, "small", &materials(300)).unwrap();
    let world = StoredWorld::open(&file, &never().into()).unwrap();
    let (mut random, mut shadow, mut kept) = (Random::new(5), BTreeMap::new(), BTreeMap::new());
    let refused = loop {
        assert!(shadow.len() < 10_000, "it never gets full");
        for _ in 0..16 {
            let at = ChunkPos::new(shadow.len() as i32, 0, 0);
            let chunk = Chunk::from_fn(Chunk::SIDE, |_| Material(random.below(300)));
            shadow.insert(at, chunk.clone());
            world.put([(at, chunk)]).unwrap();
        }
        match world.flush() {
            Ok(()) => kept.clone_from(&shadow),
            Err(error) => break error,
        }
    };
    assert!(!kept.is_empty());
    assert!(refused.to_string().contains("small: not saved: the file in memory has"), "{refused}");
    assert!(
        world.put([]).is_ok()
            && world.put([(ChunkPos::default(), some_chunk(&mut Random::new(1)))]).is_err()
    );
    assert_holds(&world, &shadow);
    assert_is_file(&StoredWorld::finished_bytes(&file).unwrap(), &kept, &folder);
    // A smaller change fits.
    let more: Vec<_> = shadow.keys().copied().filter(|at| !kept.contains_key(at)).collect();
    let failed = world.flush();
    assert!(failed.is_err());
    drop(world);
    let world = StoredWorld::open(&file, &never().into()).unwrap();
    assert_holds(&world, &kept);
    world.put(more.into_iter().map(|at| (at, Chunk::new(Chunk::SIDE, Material(1))))).unwrap();
    world.flush().unwrap();
}

#[test]
fn bytes_of_other_formats_are_refused() {
    for bytes in [&b""[..], b"some words", b"redb", &[b"redb".as_slice(), &[7; 9_000]].concat()] {
        let file = MemoryFile::of_bytes("x", bytes.to_vec(), MAX_BYTES);
        assert!(StoredWorld::open(&file, &never().into()).is_err());
    }
    let file = MemoryFile::new("tiny", 100);
    let refused = StoredWorld::create(&file, "tiny", &materials(1)).unwrap_err();
    assert!(refused.to_string().contains("has reached its limit"), "{refused}");
}

/// Edits of a source in memory: exported, imported again, and read as a file.
#[test]
fn exported_edits_apply_to_their_source_alone() {
    let folder = Folder::new();
    let source = |seed| {
        let config = GeneratorConfig::default().with_seed(seed).with_size_chunks([3, 3, 3]);
        Box::new(GeneratedWorld::new(config).unwrap())
    };
    let edited =
        EditedSource::open(source(1), &EditOptions { policy: never(), ..EditOptions::default() })
            .unwrap();
    assert!(edited.destination() == EditDestination::None);
    let file = MemoryFile::new("e.drystone", MAX_BYTES);
    edited.save_to(WorldFile::Memory(&file)).unwrap();
    let [filled, emptied] = [ChunkPos::new(0, 2, 1), ChunkPos::new(1, 0, 1)];
    let chunks = [(filled, Material(2)), (emptied, Material::AIR)];
    let chunks = chunks.map(|(at, material)| (at, Chunk::new(Chunk::SIDE, material)));
    edited.put_edited(chunks.to_vec()).unwrap();
    assert_eq!(edited.saving().waiting_chunks, 2);
    edited.flush().unwrap();
    assert_eq!(edited.saving().waiting_chunks, 0);

    let bytes = StoredWorld::finished_bytes(&file).unwrap();
    assert!(bytes.len() < 100 << 10, "{}", bytes.len());
    fs::write(folder.file(), &bytes).unwrap();
    let brought = MemoryFile::of_bytes("e.drystone", bytes, MAX_BYTES);
    StoredWorld::verify(&brought).unwrap();
    let refused = EditedSource::open(
        source(2),
        &EditOptions {
            file: Some(WorldFile::Memory(&brought)),
            policy: never(),
            ..EditOptions::default()
        },
    )
    .unwrap_err();
    assert!(refused.to_string().contains("holds edits of generated world"), "{refused}");
    let again = EditedSource::open(
        source(1),
        &EditOptions {
            file: Some(WorldFile::Memory(&brought)),
            policy: never(),
            ..EditOptions::default()
        },
    )
    .unwrap();
    let read = EditedSource::open(
        source(1),
        &EditOptions { access: EditAccess::Read, ..EditOptions::at(&folder.file()) },
    )
    .unwrap();
    for at in source(1).chunk_positions() {
        let expected = edited.chunk(at).unwrap();
        assert!(again.chunk(at).unwrap() == expected && read.chunk(at).unwrap() == expected);
    }
    drop(again);
    let is_edits = |file: &MemoryFile| {
        let world = StoredWorld::open(file, &never().into()).unwrap();
        assert!(world.name().starts_with("edits of "));
        EditedSource::is_file_of_edits(&world)
    };
    assert!(is_edits(&brought));
    // A world whose name looks like that of edits is still a world.
    let world = MemoryFile::new("w", MAX_BYTES);
    StoredWorld::create(&world, "edits of mine", &materials(3)).unwrap();
    assert!(!is_edits(&world));
}

/// A chunk that is almost incompressible.
fn noise(random: &mut Random) -> Chunk {
    Chunk::from_fn(Chunk::SIDE, |_| Material(random.below(300)))
}

/// Puts chunks, 16 per commit, until the file is full. Returns the number of chunks.
fn fill(world: &StoredWorld, random: &mut Random) -> i32 {
    let mut count = 0;
    loop {
        assert!(count < 10_000, "it never gets full");
        let chunks = (count..count + 16).map(|x| (ChunkPos::new(x, 0, 0), noise(random)));
        world.put(chunks.collect::<Vec<_>>()).unwrap();
        if world.flush().is_err() {
            return count;
        }
        count += 16;
    }
}

/// A full file can double once after it is imported again.
#[test]
fn a_full_file_can_grow_after_it_is_imported_again() {
    let max_bytes = 9 << 20;
    let file = MemoryFile::new("full", max_bytes);
    StoredWorld::create(&file, "full", &materials(300)).unwrap();
    let world = StoredWorld::open(&file, &never().into()).unwrap();
    let count = fill(&world, &mut Random::new(3));
    let bytes = StoredWorld::finished_bytes(&file).unwrap();
    assert!(bytes.len() * 2 > max_bytes, "{} bytes", bytes.len());
    for (max_bytes, takes_more) in [(max_bytes, true), (bytes.len(), true), (0, false)] {
        let brought = MemoryFile::of_bytes("full", bytes.clone(), max_bytes);
        let again = StoredWorld::open(&brought, &never().into()).unwrap();
        let more = (0..count / 2).map(|x| (ChunkPos::new(x, 2, 0), noise(&mut Random::new(7))));
        again.put(more.collect::<Vec<_>>()).unwrap();
        assert_eq!(again.flush().is_ok(), takes_more, "{max_bytes}");
        assert_eq!(again.chunk_count(), (count + count / 2) as u64);
        // Exported bytes can always be imported again.
        assert!(
            StoredWorld::finished_bytes(&brought).unwrap().len()
                <= MemoryFile::doubled(bytes.len())
        );
    }
}

thread_local! {
    static PANICS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// A panic ends the program in a browser, so no panic may occur, even one that is caught.
#[test]
fn a_full_memory_file_never_panics() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.set(PANICS.get() + 1);
        tell(info);
    }));
    for max_bytes in [100, 1 << 20, 2 << 20, 3 << 20, 5 << 20] {
        let file = MemoryFile::new("full", max_bytes);
        if StoredWorld::create(&file, "full", &materials(300)).is_err() {
            continue;
        }
        let Ok(world) = StoredWorld::open(&file, &never().into()) else { continue };
        let count = fill(&world, &mut Random::new(3));
        // The failed handle is abandoned, and each of these calls opens the file again.
        for _ in 0..3 {
            assert!(world.flush().is_err());
            assert!(!world.chunk(ChunkPos::new(count / 2, 0, 0)).unwrap().is_empty());
            assert!(StoredWorld::finished_bytes(&file).is_ok());
        }
        drop(world);
        let again = StoredWorld::open(&file, &never().into()).unwrap();
        assert_eq!(again.chunk_count(), count as u64);
        again.close().unwrap();
        StoredWorld::verify(&file).unwrap();
    }
    assert_eq!(PANICS.get(), 0);
}
