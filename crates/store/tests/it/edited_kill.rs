//! Kills a child process again and again while it edits a generated world and commits.

use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use drystone_formats::{EditStore, Source};
use drystone_store::{EditAccess, EditOptions, EditedSource};
use drystone_testing::Random;
use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material};
use drystone_world::{GeneratedWorld, GeneratorConfig};

use crate::stored_child::{Folder, command, order};

const KILLS: usize = 60;
/// Number of positions that are edited in turn. Half of them are outside the generated world.
const POSITIONS: u64 = 12;

fn source() -> GeneratedWorld {
    let config = GeneratorConfig::default().with_size_chunks([3, 4, 2]);
    GeneratedWorld::new(config).unwrap()
}

fn position(n: u64) -> ChunkPos {
    let n = (n % POSITIONS) as i32;
    ChunkPos::new(n % 3, n / 3 % 2, n / 6 - 1)
}

/// Returns the chunk of the `n`-th edit. Every fifth one is empty, and the others contain the
/// number.
fn edited(n: u64) -> Chunk {
    let mut chunk = Chunk::new(Chunk::SIDE, Material::AIR);
    if !n.is_multiple_of(5) {
        for bit in 0..32 {
            let at = LocalPos::new(bit, 3, 1);
            chunk.set(at, Material(1 + (n >> bit & 1) as u16));
        }
    }
    chunk
}

fn open(path: &std::path::Path) -> EditedSource {
    EditedSource::open(Box::new(source()), &EditOptions::at(path).with_access(EditAccess::Write))
        .unwrap()
}

/// The child: edits without end, and prints the number of each edit after its commit.
#[test]
fn child_edits_a_source() {
    let Some((path, from)) = order() else { return };
    let world = open(&path);
    let mut out = std::io::stdout();
    for n in from.. {
        world.put_edited(vec![(position(n), edited(n))]).unwrap();
        EditStore::flush(&world).unwrap();
        writeln!(out, "edit {n}").unwrap();
        out.flush().unwrap();
    }
}

/// All edits except the last one are present. Unedited chunks come from the source.
#[test]
fn edits_of_a_source_survive_every_kill() {
    let (folder, source) = (Folder::new(), source());
    let path = folder.file("edits.drystone");
    drop(open(&path));
    let mut random = Random::new(11);
    let (mut next, mut kills_in_edits, mut emptied) = (0_u64, 0, 0);
    for kill in 0..KILLS {
        let mut child = command("edited_kill::child_edits_a_source", &path, next).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(60_000) as u64));
        child.kill().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let printed =
            lines.map_while(Result::ok).filter_map(|it| it.split_once("edit ")?.1.parse().ok());
        let last: Option<u64> = printed.last();
        child.wait().unwrap();
        kills_in_edits += usize::from(last.is_some());
        let committed = last.map_or(next, |last| last + 1);
        let world = open(&path);
        for n in 0..POSITIONS {
            let chunk = world.chunk(position(n)).unwrap();
            let before = (0..committed).rev().find(|edit| edit % POSITIONS == n);
            let expected = match before {
                Some(edit) => edited(edit),
                None => source.chunk(position(n)).unwrap(),
            };
            // The edit in progress may be committed too.
            let is_next = committed % POSITIONS == n && chunk == edited(committed);
            assert!(chunk == expected || is_next, "kill {kill}: position {n} of {committed}");
            emptied += usize::from(chunk.is_empty() && before.is_some());
        }
        assert!(world.faults().is_empty());
        // Saved with the next edit, so that its content is known.
        world.put_edited(vec![(position(committed), edited(committed))]).unwrap();
        drop(world);
        next = committed + 1;
    }
    assert!(kills_in_edits > KILLS / 10, "{kills_in_edits} of {KILLS} while it was editing");
    assert!(emptied > KILLS, "{emptied}");
}
