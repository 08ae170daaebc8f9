//! A disk that fails on request, and the content of the world when the disk works again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use drystone_testing::Random;
use drystone_voxel::NodePos;

use super::disk::Disk;
use super::*;
use crate::stored::committer::CommitMode;

const THREAD: fn() -> CommitMode = || CommitMode::Background { packers: 1 };

fn put(world: &StoredWorld, shadow: &mut BTreeMap<ChunkPos, Chunk>, random: &mut Random) {
    for _ in 0..6 {
        let mut c = || random.below(5) - 2;
        let (at, chunk) = (ChunkPos::new(c(), c(), c()), some_chunk(random));
        shadow.insert(at, chunk.clone());
        world.put([(at, chunk)]).unwrap();
    }
}

/// Reads the whole disk, through an open world and through a check.
fn assert_on_disk(disk: &Disk, shadow: &BTreeMap<ChunkPos, Chunk>) {
    let folder = Folder::new();
    fs::write(folder.file(), disk.bytes()).unwrap();
    assert_eq!(StoredWorld::check(&folder.file()).unwrap().damage, [""; 0]);
    assert_holds(&disk.open(CommitMode::OnCaller).unwrap(), shadow);
}

/// The disk fails at each write in turn. No change is lost, and all are committed when the disk
/// works again.
#[test]
fn changes_are_committed_when_a_full_disk_works_again() {
    let disk = Disk::with_world();
    let (mut random, mut shadow) = (Random::new(23), BTreeMap::new());
    for writes in 0.. {
        let world = disk.open(THREAD()).unwrap();
        put(&world, &mut shadow, &mut random);
        disk.fail_after(writes);
        let flushed = world.flush();
        if let Err(error) = &flushed {
            assert!(matches!(error, SourceError::NotCommitted { .. }), "{error}");
            let again = world.flush().unwrap_err();
            assert!(matches!(again, SourceError::NotCommitted { .. }), "{again}");
        }
        disk.work();
        assert_holds(&world, &shadow);
        world.flush().unwrap();
        assert_holds(&world, &shadow);
        world.close().unwrap();
        assert_on_disk(&disk, &shadow);
        if flushed.is_ok() {
            assert!(writes > 5, "{writes}");
            return;
        }
    }
}

/// A commit to a failing disk, during which the committed change is undone.
struct Undone<'a> {
    before: &'a BTreeMap<ChunkPos, Chunk>,
    changed: (ChunkPos, Chunk),
    /// Number of the write before which the change is undone, and of the write that fails.
    undo_at: u64,
    failing_write: u64,
}

impl Undone<'_> {
    /// Returns whether the commit succeeded, and whether it reached the disk although it failed.
    fn run(self) -> (bool, bool) {
        let disk = Disk::with_world();
        let world = Arc::new(disk.open(THREAD()).unwrap());
        world.put(self.before.clone()).unwrap();
        world.flush().unwrap();
        let revision = world.revision();
        let undo = [(self.changed.0, self.before[&self.changed.0].clone())];
        world.put([self.changed]).unwrap();
        disk.fail_after(self.failing_write);
        let weak = Arc::downgrade(&world);
        disk.call_after(self.undo_at, move || weak.upgrade().unwrap().put(undo).unwrap());
        let is_committed = world.flush().is_ok();
        disk.work();
        assert_holds(&world, self.before);
        world.flush().unwrap();
        let has_reached_disk = !is_committed && world.revision() > revision + 1;
        close(world);
        assert_on_disk(&disk, self.before);
        (is_committed, has_reached_disk)
    }
}

/// The disk fails at each write of a commit in turn. Before each write, the committed change is
/// undone.
#[test]
fn a_change_undone_during_its_failing_commit_is_undone_on_disk() {
    let (at, other) = (ChunkPos::new(1, 2, 3), ChunkPos::new(99, 0, 0));
    let [air, stone] = [0, 1].map(|it| Chunk::new(Chunk::SIDE, Material(it)));
    let mut reached_disk_count = 0;
    for (old, new) in [(&air, &stone), (&stone, &air)] {
        for other_chunk in [&air, &stone] {
            let before = &BTreeMap::from([(at, old.clone()), (other, other_chunk.clone())]);
            let mut undone = |undo_at, failing_write| {
                let changed = (at, new.clone());
                let done = Undone { before, changed, undo_at, failing_write }.run();
                reached_disk_count += u32::from(done.1);
                done.0
            };
            // A commit that succeeds ends before the write that should fail.
            let write_count = (0..).find(|&write| {
                let is_committed = undone(0, write);
                let rest = if is_committed { 0..0 } else { 1..write + 1 };
                rest.for_each(|undo_at| assert!(!undone(undo_at, write)));
                is_committed
            });
            assert!(write_count > Some(5), "{write_count:?}");
        }
    }
    assert!(reached_disk_count > 10, "{reached_disk_count}");
}

/// A failed close returns the world complete, and a later close succeeds.
#[test]
fn a_failed_close_returns_the_world() {
    let disk = Disk::with_world();
    let world = disk.open(THREAD()).unwrap();
    let (mut random, mut shadow) = (Random::new(29), BTreeMap::new());
    put(&world, &mut shadow, &mut random);
    disk.fail_after(2);
    let not_closed = world.close().unwrap_err();
    assert!(matches!(not_closed.error, SourceError::NotCommitted { .. }), "{not_closed}");
    let world = not_closed.world;
    disk.work();
    assert_holds(&world, &shadow);
    world.close().unwrap();
    assert_on_disk(&disk, &shadow);
}

/// Changes that another program made while the disk failed here are not overwritten.
#[test]
fn changes_by_another_program_are_not_overwritten() {
    let disk = Disk::with_world();
    let world = disk.open(THREAD()).unwrap();
    let stone = |n| [(ChunkPos::new(n, 0, 0), Chunk::new(Chunk::SIDE, Material(1)))];
    let in_use = disk.open(THREAD()).unwrap_err();
    assert!(matches!(in_use, SourceError::InUse { .. }), "{in_use}");
    world.put(stone(0)).unwrap();
    disk.fail_after(2);
    world.flush().unwrap_err();
    disk.work();
    let other = disk.open(THREAD()).unwrap();
    other.put(stone(7)).unwrap();
    other.close().unwrap();
    let refused = world.flush().unwrap_err();
    assert!(refused.to_string().contains("another program"), "{refused}");
    drop(world);
    let [stone] = stone(7);
    assert_on_disk(&disk, &BTreeMap::from([stone]));
}

/// Positions in three regions, two of them in one group.
const PLACES: [ChunkPos; 5] = [
    ChunkPos::new(0, 0, 0),
    ChunkPos::new(1, 0, 0),
    ChunkPos::new(2, 3, 1),
    ChunkPos::new(16, 0, 0),
    ChunkPos::new(-1, -1, -1),
];

/// A random program on an unreliable disk, and the expected content of the world.
struct Program {
    random: Random,
    disk: Disk,
    /// Uniform chunks: comparing voxels would take most of the time.
    shadow: BTreeMap<ChunkPos, Material>,
    revision: u64,
    failure_count: u32,
    /// Number of commits that failed and reached the disk.
    reached_disk_count: u32,
}

impl Program {
    fn new(seed: u64, disk: Disk) -> Self {
        let (random, shadow) = (Random::new(seed), BTreeMap::new());
        Self { random, disk, shadow, revision: 0, failure_count: 0, reached_disk_count: 0 }
    }

    fn run(&mut self) {
        let mut world = self.open();
        for _ in 0..1 + self.random.below(4_u32) {
            match self.random.below(8_u32) {
                0 => {
                    let level = 1 + self.random.below(2_u8);
                    let node = NodePos::from(self.position()).ancestor(level);
                    world.coarse_chunk(node).unwrap().unwrap();
                }
                1 => {
                    close(world);
                    world = self.open();
                }
                _ => {
                    let chunks = self.chunks();
                    self.shadow.extend(chunks.clone());
                    world.put(filled(chunks)).unwrap();
                    self.flush(&world);
                }
            }
        }
        close(world);
        self.open();
    }

    fn position(&mut self) -> ChunkPos {
        PLACES[self.random.below(PLACES.len())]
    }

    fn chunks(&mut self) -> Vec<(ChunkPos, Material)> {
        let count = 1 + self.random.below(2_u32);
        // Two chunks in five are air.
        let material = |random: &mut Random| Material(random.below(5_u16).saturating_sub(1));
        (0..count).map(|_| (self.position(), material(&mut self.random))).collect()
    }

    /// Commits all changes; attempts before may fail.
    fn flush(&mut self, world: &Arc<StoredWorld>) {
        while !self.try_flush(world) {
            self.failure_count += 1;
            if self.random.below(2_u32) == 0 {
                break;
            }
        }
        world.flush().unwrap();
        self.count_commit(world);
    }

    /// Commits once. The disk may fail at a random write, and more is put at another.
    fn try_flush(&mut self, world: &Arc<StoredWorld>) -> bool {
        self.disk.fail_after(self.random.below(24));
        let (weak, chunks, is_put) = (Arc::downgrade(world), self.chunks(), Arc::default());
        let (edits, puts) = (chunks.clone(), Arc::<AtomicBool>::clone(&is_put));
        self.disk.call_after(self.random.below(20), move || {
            weak.upgrade().unwrap().put(filled(edits)).unwrap();
            puts.store(true, Ordering::Relaxed);
        });
        let flushed = world.flush();
        self.disk.work();
        if is_put.load(Ordering::Relaxed) {
            self.shadow.extend(chunks);
        }
        if self.random.below(4_u32) == 0 {
            self.assert_holds(world);
        }
        if flushed.is_ok() {
            self.count_commit(world);
        }
        flushed.is_ok()
    }

    fn count_commit(&mut self, world: &StoredWorld) {
        self.reached_disk_count += u32::from(world.revision() > self.revision + 1);
        self.revision = world.revision();
    }

    /// Opens the world on the disk and checks all chunks at every level.
    fn open(&mut self) -> Arc<StoredWorld> {
        let world = self.disk.open(CommitMode::OnCaller).unwrap();
        self.assert_holds(&world);
        for at in PLACES {
            let material = self.shadow.get(&at).copied().unwrap_or(Material::AIR);
            for level in 1..=2 {
                let kept = world.contents.level(NodePos::from(at).ancestor(level));
                let local = [at.x, at.y, at.z].map(|c| ((c << 5 >> level) & 31) as u8);
                let local = LocalPos::new(local[0], local[1], local[2]);
                assert!(kept.is_none_or(|it| it.get(local) == material), "level {level}, {at:?}");
            }
        }
        self.revision = world.revision();
        Arc::new(world)
    }

    fn assert_holds(&self, world: &StoredWorld) {
        let there = self.shadow.iter().filter(|(_, material)| !material.is_air());
        let there: Vec<ChunkPos> = there.map(|(&at, _)| at).collect();
        assert_eq!(world.chunk_positions(), there);
        assert_eq!(world.chunk_count(), there.len() as u64);
        for (&at, &material) in &self.shadow {
            assert_eq!(world.chunk(at).unwrap().uniform(), Some(material), "{at:?}");
        }
    }
}

fn filled(chunks: Vec<(ChunkPos, Material)>) -> impl Iterator<Item = (ChunkPos, Chunk)> {
    chunks.into_iter().map(|(at, material)| (at, Chunk::new(Chunk::SIDE, material)))
}

fn close(world: Arc<StoredWorld>) {
    Arc::into_inner(world).unwrap().close().unwrap();
}

/// Random programs on a disk that fails at any write, with changes during commits.
#[test]
fn all_changes_are_there_after_any_disk_failures() {
    let new = Disk::with_world().bytes();
    let (mut failure_count, mut reached_disk_count) = (0, 0);
    for seed in 0..4_000 {
        let mut program = Program::new(seed, Disk::of_bytes(new.clone()));
        let run = catch_unwind(AssertUnwindSafe(|| program.run()));
        assert!(run.is_ok(), "program {seed} failed");
        failure_count += program.failure_count;
        reached_disk_count += program.reached_disk_count;
    }
    assert!(failure_count > 2_000, "{failure_count}");
    assert!(reached_disk_count > 200, "{reached_disk_count}");
}
