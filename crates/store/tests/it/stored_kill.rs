//! Kills a child process again and again while it edits and commits.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use drystone_formats::Source;
use drystone_store::{StoreOptions, StoredWorld};
use drystone_testing::Random;
use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, MaterialTable, NodePos, downsample};

use crate::stored_child::{Folder, command, order};

const KILLS: usize = 200;
/// Number of positions that are edited in turn: several per group, and several groups, so far apart
/// that there are two levels above them.
const POSITIONS: u64 = 24;

fn position(n: u64) -> ChunkPos {
    let n = (n % POSITIONS) as i32;
    ChunkPos::new(2 * (n % 4) - 4, n / 4 % 3, n / 12)
}

/// Returns the chunk of the `n`-th edit. Its first voxel contains the number.
fn edited(n: u64) -> Chunk {
    let (number, rest) = ((n % 60_000) as u16 + 1, (n / 60_000) as u16);
    Chunk::from_fn(Chunk::SIDE, |at| match (at.x, at.y, at.z) {
        (0, 0, 0) => Material(number),
        (1, 0, 0) => Material(rest),
        (x, y, _) if u64::from(y) < n % 31 => Material(u16::from(x) + number % 100),
        _ => Material::AIR,
    })
}

fn number_of(chunk: &Chunk) -> u64 {
    let at = |x| u64::from(chunk.get(LocalPos::new(x, 0, 0)).0);
    at(1) * 60_000 + at(0) - 1
}

/// The child: edits without end, and prints the number of each edit after its commit.
#[test]
fn child_edits() {
    let Some((path, from)) = order() else { return };
    let world = StoredWorld::open(&path, &StoreOptions::default()).unwrap();
    let mut out = std::io::stdout();
    for n in from.. {
        world.put([(position(n), edited(n))]).unwrap();
        // Now and then LOD chunks are made. The next edit invalidates some of them.
        if n.is_multiple_of(3) {
            world.derive_levels(&mut |_, _| {}).unwrap();
        }
        world.flush().unwrap();
        writeln!(out, "edit {n}").unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn commits_survive_every_kill() {
    let folder = Folder::new();
    let path = folder.file("killed.drystone");
    StoredWorld::create(&path, "killed", &MaterialTable::new()).unwrap().close().unwrap();
    let mut random = Random::new(7);
    let (mut next, mut kills_in_edits, mut kept_levels) = (0, 0, [0; LEVELS]);
    for kill in 0..KILLS {
        let mut child = command("stored_kill::child_edits", &path, next).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(60_000) as u64));
        child.kill().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let printed =
            lines.map_while(Result::ok).filter_map(|it| it.split_once("edit ")?.1.parse().ok());
        let last: Option<u64> = printed.last();
        child.wait().unwrap();
        kills_in_edits += usize::from(last.is_some());
        // Everything that this child or an earlier one has printed is committed.
        let committed = last.map_or(next, |last| last + 1);
        let world = StoredWorld::open(&path, &StoreOptions::read_only()).unwrap();
        for n in 0..POSITIONS {
            let chunk = world.chunk(position(n)).unwrap();
            let edits = (0..committed).rev().find(|edit| edit % POSITIONS == n);
            if chunk.is_empty() {
                assert_eq!(edits, None, "kill {kill}: the edit is gone");
                continue;
            }
            let found = number_of(&chunk);
            assert!(found == edits.unwrap_or(u64::MAX) || found == committed, "kill {kill}");
            assert!(chunk == edited(found), "kill {kill}: edit {found} is torn");
        }
        let found = assert_levels_follow(&world, kill);
        kept_levels.iter_mut().zip(found).for_each(|(all, found)| *all += found);
        let check = StoredWorld::check(&path).unwrap();
        assert!(check.damage.is_empty(), "kill {kill}: {:?}", check.damage);
        drop(world);
        // The edit in progress may be committed too.
        next = committed + 1;
        let world = StoredWorld::open(&path, &StoreOptions::default()).unwrap();
        world.put([(position(committed), edited(committed))]).unwrap();
        world.derive_levels(&mut |_, _| {}).unwrap();
        world.close().unwrap();
    }
    assert!(kills_in_edits > KILLS / 10, "{kills_in_edits} of {KILLS} while it was editing");
    assert!(kept_levels.iter().all(|&count| count > KILLS), "{kept_levels:?}");
}

/// Number of levels up to one at which two nodes per side cover all positions.
const LEVELS: usize = 2;

/// Stored LOD chunks of every level equal those downsampled from the chunks. Returns the number of
/// positions below such chunks, by level.
fn assert_levels_follow(world: &StoredWorld, kill: usize) -> [usize; LEVELS] {
    let mut made = HashMap::new();
    std::array::from_fn(|n| {
        let level = n as u8 + 1;
        let above = |&n: &u64| {
            let node = NodePos::from(position(n)).ancestor(level);
            let Some(kept) = world.coarse_chunk(node) else { return false };
            let expected = follows(world, node, &mut made);
            assert!(kept.unwrap() == expected, "kill {kill}: {node:?} is no longer true");
            true
        };
        (0..POSITIONS).filter(above).count()
    })
}

/// Makes a node from chunks alone, without stored LOD chunks, once for all positions below it.
fn follows(world: &StoredWorld, node: NodePos, made: &mut HashMap<NodePos, Chunk>) -> Chunk {
    if let Some(chunk) = made.get(&node) {
        return chunk.clone();
    }
    let chunk = match node.children() {
        None => world.chunk(node.chunk).unwrap(),
        Some(children) => {
            let below = children.map(|child| follows(world, child, made));
            downsample(Chunk::SIDE, below.each_ref().map(Some), world.materials()).unwrap()
        }
    };
    made.insert(node, chunk.clone());
    chunk
}
