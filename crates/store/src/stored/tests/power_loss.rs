//! Power failures at any moment, in the model of SQLite and redb: synced data is on the disk, and
//! any part of the later writes may be, in any order.

use drystone_testing::Random;

use super::disk::{Change, Disk};
use super::*;
use crate::stored::committer::CommitMode;

/// Unit that a disk writes atomically, in bytes.
const SECTOR_BYTES: usize = 512;

/// Position of the chunk that is put when the world is opened after a power failure.
const AFTERWARDS: ChunkPos = ChunkPos::new(-1, 0, 0);

type Chunks = BTreeMap<ChunkPos, Chunk>;

/// A sequence of commits to a world, and the writes that they caused.
struct Run {
    start: Vec<u8>,
    journal: Vec<Change>,
    /// The chunks after each commit, and the length of the journal when the commit returned.
    commits: Vec<(usize, Chunks)>,
}

impl Run {
    fn new(commit_count: u32) -> Self {
        let disk = Disk::with_world();
        let start = disk.bytes();
        let (mut random, mut chunks) = (Random::new(31), Chunks::new());
        let mut world = disk.open(CommitMode::OnCaller).unwrap();
        let mut commits = vec![(0, chunks.clone())];
        for commit in 0..commit_count {
            for _ in 0..1 + random.below(3) {
                let [x, y, z] = [2, 3, 2].map(|side| random.below(side));
                let (at, chunk) = (ChunkPos::new(x, y, 9 * z), some_chunk(&mut random));
                chunks.remove(&at);
                if !chunk.is_empty() {
                    chunks.insert(at, chunk.clone());
                }
                world.put([(at, chunk)]).unwrap();
            }
            world.flush().unwrap();
            commits.push((disk.journal_len(), chunks.clone()));
            if random.below(8) == 0 {
                world.close().unwrap();
                if commit % 2 == 0 {
                    let mut builder = redb::Database::builder();
                    let database = builder.set_cache_size(1 << 20);
                    let mut database = database.create_with_backend(disk.handle()).unwrap();
                    while database.compact().unwrap() {}
                }
                world = disk.open(CommitMode::OnCaller).unwrap();
            }
        }
        world.close().unwrap();
        Self { start, journal: disk.journal(), commits }
    }

    /// Simulates a power failure after each of these numbers of writes. Returns the number of
    /// worlds that contain a commit that had not returned.
    fn cut(&self, positions: &[usize], random: &mut Random) -> Result<u32, String> {
        let (mut on_disk, mut synced_count, mut early_count) = (self.start.clone(), 0, 0);
        for &position in positions {
            let changes = &self.journal[synced_count..position];
            let left = after_cut(&mut on_disk, changes, random);
            synced_count += split_after_sync(changes).0.len();
            let last = self.commits.partition_point(|(len, _)| *len <= position) - 1;
            let next = (last + 1).min(self.commits.len() - 1);
            let expected = [&self.commits[last].1, &self.commits[next].1];
            let at = |error| format!("cut after {position} changes: {error}");
            let disk = Disk::of_bytes(left.clone());
            let is_early = is_next(&disk, expected).map_err(at)?;
            early_count += u32::from(is_early);
            // A second power failure, while the world is opened and changed.
            let journal = disk.journal();
            let changes = &journal[..random.below(journal.len() + 1)];
            let left = after_cut(&mut { left }, changes, random);
            is_next(&Disk::of_bytes(left), [expected[usize::from(is_early)]; 2]).map_err(at)?;
        }
        Ok(early_count)
    }

    fn random_positions(&self, count: usize, random: &mut Random) -> Vec<usize> {
        let mut positions: Vec<usize> =
            (0..count).map(|_| random.below(self.journal.len() + 1)).collect();
        positions.sort_unstable();
        positions
    }
}

/// Splits the writes behind the last sync.
fn split_after_sync(changes: &[Change]) -> (&[Change], &[Change]) {
    let last = changes.iter().rposition(|change| matches!(change, Change::Sync));
    changes.split_at(last.map_or(0, |last| last + 1))
}

/// The disk after a power failure: the synced content, and parts of the later writes in random
/// order. `synced` then holds the synced content alone.
fn after_cut(synced: &mut Vec<u8>, changes: &[Change], random: &mut Random) -> Vec<u8> {
    let (before, after) = split_after_sync(changes);
    before.iter().for_each(|change| change.apply(synced));
    let kept_quarters = random.below(5_u32);
    let mut kept: Vec<&Change> =
        after.iter().filter(|_| random.below(4_u32) < kept_quarters).collect();
    for last in (1..kept.len()).rev() {
        kept.swap(last, random.below(last + 1));
    }
    let mut bytes = synced.clone();
    for change in kept {
        match change {
            Change::Write { offset, data } if random.below(4_u32) == 0 => {
                for (sector, data) in data.chunks(SECTOR_BYTES).enumerate() {
                    let (offset, data) = (offset + (sector * SECTOR_BYTES) as u64, data.to_vec());
                    if random.below(2_u32) == 0 {
                        Change::Write { offset, data }.apply(&mut bytes);
                    }
                }
            }
            change => change.apply(&mut bytes),
        }
    }
    bytes
}

/// Opens the disk and checks that it holds one of two commits completely. Returns whether it is the
/// second.
fn is_next(disk: &Disk, [last, next]: [&Chunks; 2]) -> Result<bool, String> {
    let world = disk.open(CommitMode::OnCaller).map_err(|error| error.to_string())?;
    let mut chunks = Chunks::new();
    for at in world.chunk_positions() {
        chunks.insert(at, world.chunk(at).map_err(|error| error.to_string())?);
    }
    chunks.remove(&AFTERWARDS);
    let is_last = chunks == *last;
    if !is_last && chunks != *next {
        return Err("it holds neither the last commit nor the next".into());
    }
    let put = world.put([(AFTERWARDS, Chunk::new(Chunk::SIDE, Material(1)))]);
    put.and_then(|()| world.close().map_err(SourceError::from))
        .map_err(|error| error.to_string())?;
    Ok(!is_last)
}

#[test]
fn commits_survive_a_power_failure() {
    let (run, mut random) = (Run::new(100), Random::new(37));
    assert!(run.journal.len() > 1_000, "{}", run.journal.len());
    let positions = run.random_positions(1_000, &mut random);
    let early_count = run.cut(&positions, &mut random).unwrap();
    assert!(early_count > 20, "{early_count}");
}

/// A disk that ignores syncs loses commits. The test above must be able to detect that.
#[test]
fn a_disk_that_does_not_sync_loses_commits() {
    let (mut run, mut random) = (Run::new(12), Random::new(41));
    for change in &mut run.journal {
        if matches!(change, Change::Sync) {
            *change = Change::Write { offset: 0, data: Vec::new() };
        }
    }
    let positions = run.random_positions(100, &mut random);
    run.cut(&positions, &mut random).unwrap_err();
}
