//! A disk that fails when a test says so, and what is there when it works again.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io;
use std::ops::Bound;
use std::sync::LazyLock;
use std::sync::atomic::AtomicI64;

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use super::*;

/// How many writes each disk does before it fails; below zero it has failed.
static DISKS: LazyLock<Mutex<HashMap<PathBuf, Arc<AtomicI64>>>> = LazyLock::new(Mutex::default);

/// The disk below a file, if that may fail.
pub(in super::super) fn of(path: &Path) -> Option<Disk> {
    let left = Arc::clone(DISKS.lock().unwrap().get(path)?);
    let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    Some(Disk { file: FileBackend::new(file).ok()?, left })
}

#[derive(Debug)]
pub(in super::super) struct Disk {
    file: FileBackend,
    left: Arc<AtomicI64>,
}

impl Disk {
    fn spend(&self) -> io::Result<()> {
        match self.left.fetch_sub(1, Ordering::Relaxed) {
            1.. => Ok(()),
            _ => Err(io::ErrorKind::StorageFull.into()),
        }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.spend()?;
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.spend()?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.spend()?;
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

/// A world on a disk of its own, and how many writes that still does.
fn world_on_disk(folder: &Folder) -> (StoredWorld, Arc<AtomicI64>) {
    StoredWorld::create(&folder.file(), "", &materials(300)).unwrap().close().unwrap();
    let left = Arc::new(AtomicI64::new(i64::MAX));
    DISKS.lock().unwrap().insert(folder.file(), Arc::clone(&left));
    let never = CommitPolicy { max_delay: Duration::from_secs(3600), max_bytes: u64::MAX };
    (StoredWorld::open_with(&folder.file(), never).unwrap(), left)
}

fn put(world: &StoredWorld, shadow: &mut BTreeMap<ChunkPos, Chunk>, dice: &mut u32) {
    for _ in 0..6 {
        let mut c = || next(dice) as i32 % 5 - 2;
        let (at, chunk) = (ChunkPos::new(c(), c(), c()), some_chunk(dice));
        shadow.insert(at, chunk.clone());
        world.put([(at, chunk)]).unwrap();
    }
}

/// The disk fails at every write in turn; nothing that was put is lost, and when there is room
/// again, all of it is committed.
#[test]
fn after_a_full_disk_all_is_committed_when_there_is_room() {
    let folder = Folder::new();
    let (world, left) = world_on_disk(&folder);
    let (mut dice, mut shadow) = (23, BTreeMap::new());
    let mut failures = 0;
    for writes in (0..60).step_by(3) {
        put(&world, &mut shadow, &mut dice);
        left.store(writes, Ordering::Relaxed);
        let flushed = world.flush();
        if let Err(error) = &flushed {
            assert!(matches!(error, WorldError::NotCommitted { .. }), "{error}");
            let again = world.flush().unwrap_err();
            assert!(matches!(again, WorldError::NotCommitted { .. }), "{again}");
            failures += 1;
        }
        left.store(i64::MAX, Ordering::Relaxed);
        world.flush().unwrap();
        assert_holds(&world, &shadow);
    }
    assert!(failures > 3, "{failures}");
    world.close().unwrap();
    DISKS.lock().unwrap().remove(&folder.file());
    assert_holds(&StoredWorld::open_read_only(&folder.file()).unwrap(), &shadow);
    assert_eq!(StoredWorld::check(&folder.file()).unwrap().damage, [""; 0]);
}

/// What cannot be closed comes back whole, and is closed later.
#[test]
fn a_world_that_cannot_be_closed_comes_back() {
    let folder = Folder::new();
    let (world, left) = world_on_disk(&folder);
    let (mut dice, mut shadow) = (29, BTreeMap::new());
    put(&world, &mut shadow, &mut dice);
    left.store(2, Ordering::Relaxed);
    let not_closed = world.close().unwrap_err();
    assert!(matches!(not_closed.error, WorldError::NotCommitted { .. }), "{not_closed}");
    let world = not_closed.world;
    left.store(i64::MAX, Ordering::Relaxed);
    assert_holds(&world, &shadow);
    world.close().unwrap();
    DISKS.lock().unwrap().remove(&folder.file());
    assert_holds(&StoredWorld::open_read_only(&folder.file()).unwrap(), &shadow);
}

/// Another program that changed the world while the disk failed here is not overwritten.
#[test]
fn what_another_changed_meanwhile_is_kept() {
    let folder = Folder::new();
    let (world, left) = world_on_disk(&folder);
    let stone = |n| [(ChunkPos::new(n, 0, 0), Chunk::new(Chunk::SIDE, Material(1)))];
    world.put(stone(0)).unwrap();
    left.store(2, Ordering::Relaxed);
    world.flush().unwrap_err();
    DISKS.lock().unwrap().remove(&folder.file());
    let other = StoredWorld::open(&folder.file()).unwrap();
    other.put(stone(7)).unwrap();
    other.close().unwrap();
    let refused = world.flush().unwrap_err();
    assert!(refused.to_string().contains("another program"), "{refused}");
    drop(world);
    let kept = StoredWorld::open_read_only(&folder.file()).unwrap();
    assert_eq!(kept.chunk_positions(), [ChunkPos::new(7, 0, 0)]);
}
