use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drystone_formats::{Input, Source};
use drystone_testing::Random;
use drystone_voxel::{ChunkBox, LocalPos, Material};
use drystone_world::OpenOptions;
use drystone_world::{GeneratedWorld, GeneratorConfig, World, open_voxels};
use redb::ReadableTable;

use super::batch::{HEAD, ID, MATERIALS};
use super::database::META;
use super::group::GroupPos;
use super::meta::VERSION;
use super::*;

pub(crate) mod damage;
pub(super) mod disk;
mod failing_disk;
mod identity;
mod levels;
mod looks;
mod memory;
mod power_loss;

/// A temporary folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "drystone-stored-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("w.drystone")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn materials(count: u16) -> MaterialTable {
    let mut table = MaterialTable::new();
    for n in 1..=count {
        table.insert(&format!("kind {n}"), [n as u8, (n >> 8) as u8, 7, 255]).unwrap();
    }
    table
}

/// A chunk of a random kind, sometimes all air.
fn some_chunk(random: &mut Random) -> Chunk {
    let seed = random.below(1 << 24_u32);
    let kinds = [1, 2, 5, 17, 300][random.below(5_usize)];
    match random.below(5) {
        0 => Chunk::new(Chunk::SIDE, Material::AIR),
        1 => Chunk::new(Chunk::SIDE, Material(1 + seed as u16 % 300)),
        2 => Chunk::from_fn(Chunk::SIDE, |at| Material((u32::from(at.y) * kinds / 40) as u16)),
        _ => Chunk::from_fn(Chunk::SIDE, |at| {
            let at = u32::from(at.x) + 37 * u32::from(at.y) + 1009 * u32::from(at.z) + seed;
            Material((at.wrapping_mul(2_654_435_761) >> 20) as u16 % (kinds as u16 + 1))
        }),
    }
}

fn assert_holds(world: &StoredWorld, shadow: &BTreeMap<ChunkPos, Chunk>) {
    let there: Vec<ChunkPos> =
        shadow.iter().filter(|(_, chunk)| !chunk.is_empty()).map(|(at, _)| *at).collect();
    assert_eq!(world.chunk_positions(), there);
    assert_eq!(world.chunk_count(), there.len() as u64);
    assert_eq!(world.extent(), ChunkBox::around(there));
    for (&at, chunk) in shadow {
        assert!(world.chunk(at).unwrap() == *chunk, "{at:?}");
    }
}

/// Random sequence of puts, flushes and reopenings, compared with a map.
#[test]
fn chunks_are_readable_before_and_after_their_commit() {
    let folder = Folder::new();
    let never = CommitPolicy { max_delay: Duration::from_secs(3600), max_bytes: u64::MAX };
    let at_once = CommitPolicy { max_delay: Duration::ZERO, max_bytes: 0 };
    let (mut random, mut shadow) = (Random::new(11), BTreeMap::new());
    let world = StoredWorld::create(&folder.file(), "of many chunks", &materials(300)).unwrap();
    world.close().unwrap();
    for round in 0..12 {
        let policy = if round % 2 == 0 { never } else { at_once };
        let world = StoredWorld::open(&folder.file(), &policy.into()).unwrap();
        assert_eq!(world.name(), "of many chunks");
        assert_eq!(*world.materials(), materials(300));
        for _ in 0..4 {
            let chunks: Vec<_> = (0..random.below(12))
                .map(|_| {
                    let mut c = || random.below(5) - 2;
                    (ChunkPos::new(c(), c(), c()), some_chunk(&mut random))
                })
                .collect();
            shadow.extend(chunks.iter().cloned());
            world.put(chunks).unwrap();
            assert_holds(&world, &shadow);
            if random.below(2) == 0 {
                world.flush().unwrap();
                assert_holds(&world, &shadow);
            }
        }
        // Dropping commits, like closing.
        if round % 3 == 0 {
            drop(world);
        } else {
            world.close().unwrap();
        }
        assert_holds(
            &StoredWorld::open(&folder.file(), &StoreOptions::read_only()).unwrap(),
            &shadow,
        );
    }
}

#[test]
fn edits_are_committed_as_the_policy_specifies() {
    let at = ChunkPos::new(3, 0, -1);
    let stone = || [(at, Chunk::new(Chunk::SIDE, Material(2)))];
    let never = CommitPolicy { max_delay: Duration::from_secs(3600), max_bytes: u64::MAX };
    let open = |folder: &Folder, policy: CommitPolicy| {
        drop(StoredWorld::create(&folder.file(), "", &materials(3)).unwrap());
        StoredWorld::open(&folder.file(), &policy.into()).unwrap()
    };
    let folders = [(); 3].map(|()| Folder::new());
    let waiting = open(&folders[0], never);
    let before = waiting.revision();
    waiting.put(stone()).unwrap();
    for (folder, policy) in folders[1..].iter().zip([
        CommitPolicy { max_delay: Duration::from_millis(20), ..never },
        CommitPolicy { max_bytes: 1, ..never },
    ]) {
        let world = open(folder, policy);
        let before = world.revision();
        world.put(stone()).unwrap();
        while world.revision() == before {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    // Nothing has committed the change from the beginning.
    assert_eq!(waiting.revision(), before);
    waiting.flush().unwrap();
    assert_eq!(waiting.revision(), before + 1);
    waiting.flush().unwrap();
    assert_eq!(waiting.revision(), before + 1, "there is nothing to commit");
}

/// Opening a file after a kill does not read it all.
#[test]
fn opening_after_a_kill_needs_no_repair() {
    let folder = Folder::new();
    let world = StoredWorld::create(&folder.file(), "", &materials(2)).unwrap();
    let stone = Chunk::new(Chunk::SIDE, Material(1));
    for n in 0..3 {
        world.put([(ChunkPos::new(n, 0, 0), stone.clone())]).unwrap();
        world.flush().unwrap();
    }
    let copy = folder.0.join("killed.drystone");
    fs::copy(folder.file(), &copy).unwrap();
    let repairs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&repairs);
    let mut builder = redb::Database::builder();
    builder.set_repair_callback(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    drop(builder.open(&copy).unwrap());
    assert_eq!(repairs.load(Ordering::Relaxed), 0);
    let opened = StoredWorld::open(&copy, &StoreOptions::default()).unwrap();
    assert_eq!((opened.chunk_count(), opened.revision()), (3, world.revision()));
}

/// Includes the bytes of a file that was not closed, and of a damaged one.
#[test]
fn parsed_bytes_equal_the_opened_file() {
    let folder = Folder::new();
    let world = StoredWorld::create(&folder.file(), "hills", &materials(2)).unwrap();
    let hill = |n: i32| {
        let height = |at: LocalPos| i32::from(at.x) / 3 + n;
        Chunk::from_fn(Chunk::SIDE, |at| Material(u16::from(i32::from(at.y) < height(at))))
    };
    let chunks: Vec<_> = (0..9).map(|n| (ChunkPos::new(n, 0, -n), hill(n))).collect();
    world.put(chunks.clone()).unwrap();
    world.flush().unwrap();
    let killed = fs::read(folder.file()).unwrap();
    world.close().unwrap();
    let closed = fs::read(folder.file()).unwrap();
    for bytes in [&killed, &closed] {
        let parsed =
            open_voxels(Input::Bytes { bytes, name: "hills" }, &OpenOptions::default()).unwrap();
        assert_eq!((parsed.chunk_count(), parsed.materials()), (9, &materials(2)));
        for (position, chunk) in &chunks {
            assert_eq!(parsed.chunk(*position).unwrap(), *chunk);
        }
        assert!(parsed.edit_store().is_none());
    }
    for part in 0..16 {
        let cut = &closed[..closed.len() * part / 16];
        let file = MemoryFile::of_bytes("cut", cut.to_vec(), usize::MAX);
        assert!(StoredWorld::open(&file, &StoreOptions::read_only()).is_err(), "{part} of 16");
    }
}

/// All threads of the shared pool wait for a commit, which must not need the pool.
#[test]
fn waiting_on_every_shared_thread_does_not_deadlock() {
    let folder = Folder::new();
    let world = Arc::new(StoredWorld::create(&folder.file(), "", &materials(1)).unwrap());
    let (done, wait) = std::sync::mpsc::channel();
    let shared = Arc::clone(&world);
    std::thread::spawn(move || {
        let flushed = rayon::broadcast(|thread| {
            let at = ChunkPos::new(thread.index() as i32, 0, 0);
            shared.put([(at, Chunk::new(Chunk::SIDE, Material(1)))])?;
            shared.flush()
        });
        done.send(flushed).unwrap();
    });
    let flushed = wait.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(!flushed.is_empty() && flushed.iter().all(Result::is_ok), "{flushed:?}");
    assert_eq!(world.chunk_count(), flushed.len() as u64);
}

/// Continuous puts by other threads do not delay a flush of earlier changes.
#[test]
fn flushing_ends_while_others_put() {
    use std::sync::atomic::AtomicBool;
    let folder = Folder::new();
    let policy = CommitPolicy { max_delay: Duration::ZERO, ..CommitPolicy::default() };
    StoredWorld::create(&folder.file(), "", &materials(2)).unwrap().close().unwrap();
    let world = StoredWorld::open(&folder.file(), &policy.into()).unwrap();
    let stone = || Chunk::new(Chunk::SIDE, Material(1));
    let (is_flushed, puts) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        let putting = scope.spawn(|| {
            let begun = std::time::Instant::now();
            while !is_flushed.load(Ordering::Relaxed) {
                if begun.elapsed() > Duration::from_secs(20) {
                    return false;
                }
                let n = puts.fetch_add(1, Ordering::Relaxed) as i32 % 8;
                world.put([(ChunkPos::new(n, 0, 0), stone())]).unwrap();
            }
            true
        });
        while puts.load(Ordering::Relaxed) < 20 {
            std::thread::yield_now();
        }
        for _ in 0..3 {
            world.put([(ChunkPos::new(0, 9, 0), stone())]).unwrap();
            world.flush().unwrap();
        }
        is_flushed.store(true, Ordering::Relaxed);
        assert!(putting.join().unwrap(), "flushing waited for the others to stop");
    });
    assert_eq!(world.chunk(ChunkPos::new(0, 9, 0)).unwrap().uniform(), Some(Material(1)));
}

#[test]
fn materials_are_appended() {
    let folder = Folder::new();
    let world = StoredWorld::create(&folder.file(), "", &materials(2)).unwrap();
    world.put_materials(&materials(5)).unwrap();
    let fewer = world.put_materials(&materials(1)).unwrap_err();
    assert!(matches!(fewer, SourceError::OtherMaterials { .. }), "{fewer}");
    world.close().unwrap();
    assert_eq!(
        *StoredWorld::open(&folder.file(), &StoreOptions::default()).unwrap().materials(),
        materials(5)
    );
}

#[test]
fn errors_of_opening_name_the_reason() {
    let folder = Folder::new();
    let path = folder.file();
    let missing = StoredWorld::open(&path, &StoreOptions::default()).unwrap_err();
    assert!(matches!(missing, SourceError::Unreadable { .. }), "{missing}");
    let world = StoredWorld::create(&path, "", &materials(2)).unwrap();
    let in_use =
        [StoredWorld::open(&path, &StoreOptions::default()).map(drop), StoredWorld::compact(&path)];
    for in_use in in_use.map(Result::unwrap_err) {
        assert!(matches!(in_use, SourceError::InUse { .. }), "{in_use}");
    }
    let again = StoredWorld::create(&path, "", &materials(2)).unwrap_err();
    assert!(matches!(again, SourceError::Unwritable { .. }), "{again}");
    let mut head = world.contents.with_committed(|committed| committed.head.clone());
    world.close().unwrap();

    let readers = [0; 2].map(|_| StoredWorld::open(&path, &StoreOptions::read_only()).unwrap());
    let stone = [(ChunkPos::default(), Chunk::new(Chunk::SIDE, Material(1)))];
    let read_only = readers[0].put(stone).unwrap_err();
    assert!(matches!(read_only, SourceError::ReadOnly { .. }), "{read_only}");
    let in_use = StoredWorld::compact(&path).unwrap_err();
    assert!(matches!(in_use, SourceError::InUse { .. }), "{in_use}");
    drop(readers);

    head.version = VERSION + 1;
    let store = Store::open(&path, Access::Write, CACHE_BYTES).unwrap();
    store
        .write(|it| {
            it.open_table(META)?.insert(HEAD, head.to_bytes().as_slice())?;
            Ok(())
        })
        .unwrap();
    drop(store);
    let newer = StoredWorld::open(&path, &StoreOptions::default()).unwrap_err();
    let is_newer =
        matches!(newer, SourceError::NewerStored { found, known, .. } if found == known + 1);
    assert!(is_newer, "{newer}");

    let other = folder.0.join("other");
    drop(redb::Database::create(&other).unwrap());
    let unknown = StoredWorld::open(&other, &StoreOptions::default()).unwrap_err();
    assert!(matches!(unknown, SourceError::Unsupported { .. }), "{unknown}");
    fs::write(&other, b"VOX ").unwrap();
    let unknown = StoredWorld::open(&other, &StoreOptions::default()).unwrap_err();
    assert!(matches!(unknown, SourceError::Unsupported { .. }), "{unknown}");
}

#[test]
fn a_damaged_chunk_is_reported_and_the_others_are_readable() {
    let folder = Folder::new();
    let path = folder.file();
    let world = StoredWorld::create(&path, "", &materials(9)).unwrap();
    let chunk = |n: u8| Chunk::from_fn(Chunk::SIDE, |at| Material(u16::from(at.x ^ at.y ^ n) % 9));
    world.put((0..8).map(|n| (ChunkPos::new(n, 0, 0), chunk(n as u8)))).unwrap();
    world.close().unwrap();
    let store = Store::open(&path, Access::Write, CACHE_BYTES).unwrap();
    let (group, _) = GroupPos::of(ChunkPos::new(4, 0, 0));
    store
        .write(|it| {
            let mut table = it.open_table(pages::CHUNKS.values)?;
            let mut value = table.get(&group.key())?.unwrap().value().to_vec();
            *value.last_mut().unwrap() ^= 1;
            table.insert(&group.key(), value.as_slice())?;
            table.remove(&GroupPos::of(ChunkPos::new(0, 0, 0)).0.key())?;
            Ok(())
        })
        .unwrap();
    drop(store);
    let world = StoredWorld::open(&path, &StoreOptions::default()).unwrap();
    for n in 0..8 {
        let read = world.chunk(ChunkPos::new(n, 0, 0));
        match n {
            0 | 1 | 5 => {
                let error = read.unwrap_err().to_string();
                assert!(error.contains(&format!("chunk {n},0,0")), "{error}");
                assert!(error.contains("w.drystone"), "{error}");
            }
            _ => assert!(read.unwrap() == chunk(n as u8), "{n}"),
        }
    }
    assert_eq!(world.faults().len(), 3);
    assert_eq!(World::load(&world).unwrap().chunk_count(), 5);
}

#[test]
fn a_stored_generated_world_equals_its_source() {
    let folder = Folder::new();
    let config = GeneratorConfig::default().with_size_chunks([3, 4, 3]);
    let made = GeneratedWorld::new(config).unwrap();
    let world = StoredWorld::create(&folder.file(), made.name(), made.materials()).unwrap();
    let chunks = made.chunk_positions().into_iter().map(|at| (at, made.chunk(at).unwrap()));
    world.put(chunks).unwrap();
    world.close().unwrap();
    let opened = open_voxels(&folder.file(), &OpenOptions::default()).unwrap();
    let (stored, made) = (World::load(opened.as_ref()).unwrap(), World::load(&made).unwrap());
    assert_eq!(stored.count_by_material(), made.count_by_material());
    assert!(stored.iter().eq(made.iter()));
    assert_eq!(stored.materials(), made.materials());
}

#[test]
fn editing_one_voxel_changes_one_chunk_of_its_group() {
    let folder = Folder::new();
    let world = StoredWorld::create(&folder.file(), "", &materials(9)).unwrap();
    let at = |n: i32| ChunkPos::new(n & 1, n >> 1 & 1, n >> 2);
    world.put((0..8).map(|n| (at(n), Chunk::new(Chunk::SIDE, Material(1))))).unwrap();
    world.flush().unwrap();
    let mut edited = world.chunk(at(6)).unwrap();
    edited.set(LocalPos::new(31, 0, 7), Material(8));
    world.put([(at(6), edited.clone())]).unwrap();
    world.close().unwrap();
    let world = StoredWorld::open(&folder.file(), &StoreOptions::default()).unwrap();
    for n in 0..8 {
        let expected = if n == 6 { &edited } else { &Chunk::new(Chunk::SIDE, Material(1)) };
        assert!(world.chunk(at(n)).unwrap() == *expected);
    }
}
