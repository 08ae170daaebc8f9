use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use drystone_formats::{EditStore, Source};
use drystone_voxel::{ChunkPos, Material};
use tempfile::TempDir;

use super::super::tests::{dots, failing, land, leaked, small_steps, torches};
use super::super::{PackOptions, pack};
use super::*;
use crate::packed::header::ParsedHeader;
use crate::{EditOptions, EditedSource, ImportOptions, import};

/// Packs one part, and opens it.
fn part(source: &dyn Source, folder: &TempDir, index: u32, count: u32) -> PackedWorld {
    let path = folder.path().join(format!("part-{index}-{count}.dsw"));
    let options = PackOptions::default().with_part(PackPart::new(index, count));
    pack(source, &path, &options, &mut |_| {}).unwrap();
    PackedWorld::open(&path).unwrap()
}

/// Compares the joined parts of a source with one run over all of it.
fn assert_parts_equal_the_whole(source: &dyn Source, counts: &[u32]) {
    let folder = TempDir::new().unwrap();
    let [whole, joined] = ["whole.dsw", "joined.dsw"].map(|name| folder.path().join(name));
    pack(source, &whole, &PackOptions::default(), &mut |_| {}).unwrap();
    let expected = fs::read(&whole).unwrap();
    for &count in counts {
        let mut parts: Vec<_> = (1..=count).map(|at| part(source, &folder, at, count)).collect();
        let mut positions = BTreeSet::new();
        for part in &parts {
            assert_eq!(PackedWorld::check(part.path()).unwrap().damage, Vec::<String>::new());
            assert_eq!(part.part().map(PackPart::count), Some(count));
            for position in part.chunk_positions() {
                assert!(positions.insert(position), "{position:?} is in two parts");
                assert!(part.chunk(position).unwrap() == source.chunk(position).unwrap());
            }
        }
        // In any order, and some twice.
        parts.reverse();
        parts.push(part(source, &folder, 1, count));
        let mut last = MergeProgress::default();
        merge(&parts, &joined, &mut |progress| last = *progress).unwrap();
        assert_eq!(last.done, last.total, "{count} parts");
        assert!(fs::read(&joined).unwrap() == expected, "{count} parts");
        assert!(!folder.path().join("joined.dsw.part").exists());
    }
}

#[test]
fn joined_parts_have_the_bytes_of_one_run() {
    assert_parts_equal_the_whole(&land([34, 2, 20]), &[1, 2, 4, 7]);
}

#[test]
fn parts_of_scattered_worlds_have_the_bytes_of_one_run() {
    const FAR: i32 = 1 << 25;
    for positions in [
        vec![[0, 0, 0]],
        vec![[-1, -1, -1], [0, 0, 0]],
        vec![[-1, 0, 0], [0, -1, 0], [0, 0, -1], [7, 7, 7], [16, 8, 8], [-17, 3, 100]],
        vec![[-FAR, 0, FAR], [FAR, 5, -FAR], [FAR - 90, 5, 0]],
    ] {
        assert_parts_equal_the_whole(&dots(&positions), &[1, 2, 3, 5]);
    }
    let plants = [[0, 0, 0], [9, 9, 9], [17, 0, 0], [15, 0, 0], [-1, 3, 16], [40, 0, 40]];
    assert_parts_equal_the_whole(&torches(&plants), &[2, 4]);
}

/// A Minecraft world of two regions, whose tiles are listed one by one.
#[test]
fn parts_of_a_minecraft_world_have_the_bytes_of_one_run() {
    let Some(data) = std::env::var_os("DRYSTONE_DATA") else {
        println!("skipped: DRYSTONE_DATA is not set");
        return;
    };
    let region = PathBuf::from(data).join("r.0.0.mca");
    let folder = TempDir::new().unwrap();
    for name in ["r.-1.0.mca", "r.0.0.mca"] {
        fs::copy(&region, folder.path().join(name)).unwrap();
    }
    let open = || drystone_formats::MinecraftWorld::open(folder.path()).unwrap();
    assert_parts_equal_the_whole(&open(), &[2]);
    // A part does not read the regions of the others.
    fs::write(folder.path().join("r.0.0.mca"), [1; 100]).unwrap();
    let (own, world) = (TempDir::new().unwrap(), open());
    assert!(part(&world, &own, 1, 2).chunk_count() > 0);
    assert_eq!(world.faults(), Vec::<String>::new());
    assert_eq!(part(&world, &own, 2, 2).chunk_count(), 0);
    assert_eq!(world.faults().len(), 1);
    // Nor does one of a world with edits, whose chunks are in the parts.
    let edited =
        EditedSource::open(Box::new(open()), &EditOptions::at(&own.path().join("e"))).unwrap();
    let edits = [[-400, -9, 3], [-1, 70, 0], [0, 1, 15], [16, 0, 0]];
    let edits = edits.map(|[x, y, z]| (ChunkPos::new(x, y, z), Chunk::new(32, Material(1))));
    edited.put_edited(edits.to_vec()).unwrap();
    assert!(part(&edited, &own, 1, 4).chunk_positions() == [edits[0].0]);
    assert!(part(&edited, &own, 2, 4).chunk_positions().contains(&edits[1].0));
    assert_eq!(edited.faults(), Vec::<String>::new());
    assert!(part(&edited, &own, 3, 4).chunk_positions() == [edits[2].0]);
    assert!(part(&edited, &own, 4, 4).chunk_positions() == [edits[3].0]);
    assert_eq!(edited.faults().len(), 1);
    let tiles = edited.tiles().unwrap();
    let listed = tiles.tile_positions().into_iter();
    let mut listed =
        listed.flat_map(|it| tiles.chunk_positions_in(it).unwrap()).collect::<Vec<_>>();
    listed.sort_unstable();
    assert!(listed == edited.chunk_positions());
}

/// A region that the system cannot read is not packed or imported as air.
#[test]
fn an_unreadable_region_ends_packing_and_importing() {
    let folder = TempDir::new().unwrap();
    let [own, output] = ["r.0.0.mca", "out"].map(|name| folder.path().join(name));
    fs::write(&own, [0; 8192]).unwrap();
    fs::write(folder.path().join("r.1.0.mca"), [0; 8192]).unwrap();
    let world = drystone_formats::MinecraftWorld::open(folder.path()).unwrap();
    fs::remove_file(&own).unwrap();
    let options = PackOptions::default();
    let first = options.with_part(PackPart::new(1, 2));
    for (what, result) in [
        ("packed", pack(&world, &output, &options, &mut |_| {}).map(drop)),
        ("part", pack(&world, &output, &first, &mut |_| {}).map(drop)),
        ("imported", import(&world, &output, &ImportOptions::default(), &mut |_| {}).map(drop)),
    ] {
        let error = result.expect_err(what).to_string();
        assert!(error.contains("r.0.0.mca: cannot be read"), "{what}: {error}");
    }
    part(&world, &folder, 2, 2);
}

/// An edit of a stored world between two parts may move chunks from one to another.
#[test]
fn parts_of_different_states_are_refused() {
    let folder = TempDir::new().unwrap();
    let source = dots(&[[0, 0, 0], [100, 0, 0]]);
    let stored = folder.path().join("a.drystone");
    let (world, _) = import(&source, &stored, &ImportOptions::default(), &mut |_| {}).unwrap();
    let first = part(&world, &folder, 1, 2);
    let edited = Chunk::new(Chunk::SIDE, Material(1));
    world.put([(ChunkPos::new(-100, 0, 0), edited)]).unwrap();
    world.flush().unwrap();
    let parts = [first, part(&world, &folder, 2, 2)];
    let error = merge(&parts, &folder.path().join("b.dsw"), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("another state"), "{error}");
}

#[test]
fn an_interrupted_part_resumes_and_is_no_other_part() {
    let folder = TempDir::new().unwrap();
    let source = leaked(land([34, 2, 34]));
    let whole = part(source, &folder, 2, 3);
    let path = folder.path().join("again.dsw");
    let options = |index| small_steps().with_part(PackPart::new(index, 3));
    pack(&failing(source, 300), &path, &options(2), &mut |_| {}).unwrap_err();
    let error = pack(source, &path, &options(1), &mut |_| {}).unwrap_err();
    assert!(matches!(error, SourceError::NotResumed { .. }), "{error}");
    let error = merge(&[part(source, &folder, 1, 1)], &path, &mut |_| {}).unwrap_err();
    assert!(matches!(error, SourceError::NotResumed { .. }), "{error}");
    let progress = pack(source, &path, &options(2), &mut |_| {}).unwrap();
    assert!(progress.resumed > 0);
    assert!(fs::read(path).unwrap() == fs::read(whole.path()).unwrap());
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("joined.dsw");
    let source = dots(&[[0, 0, 0], [100, 0, 0], [200, 0, 0]]);
    let whole = folder.path().join("whole.dsw");
    pack(&source, &whole, &PackOptions::default(), &mut |_| {}).unwrap();
    let other = TempDir::new().unwrap();
    let elsewhere = dots(&[[-100, 0, 0], [-50, 0, 0], [0, 0, 0]]);
    let taller = dots(&[[0, 1, 0], [100, 0, 0], [200, 0, 0]]);
    let three = |at| part(&source, &folder, at, 3);
    // The chunks of the first part in a file that says that it is the third.
    let mut bytes = fs::read(three(1).path()).unwrap();
    let mut header = ParsedHeader::parse(&bytes).unwrap().header;
    header.part.as_mut().unwrap().part = PackPart::new(3, 3).unwrap();
    let front = header.to_bytes();
    bytes[..front.len()].copy_from_slice(&front);
    let relabelled = PackedWorld::read(Box::new(bytes), "third.dsw").unwrap();
    for (parts, expected) in [
        (vec![], "no parts are given"),
        (vec![PackedWorld::open(&whole).unwrap()], "has a whole world, not a part of one"),
        (vec![three(2)], "2 of 3 parts are missing: 1, 3"),
        (vec![three(1), part(&source, &folder, 1, 2)], "is one of 2 parts"),
        (vec![three(1), part(&land([2, 2, 2]), &other, 2, 3)], "has another world than"),
        (vec![three(1), part(&elsewhere, &other, 1, 3)], "another state of it"),
        (vec![three(1), part(&taller, &other, 1, 3)], "is part 1 with other content than"),
        (vec![three(1), three(2), relabelled], "chunk 0,0,0 is also in"),
        (
            vec![part(&source, &folder, 1, 40)],
            "39 of 40 parts are missing: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …",
        ),
    ] {
        let parts: Vec<PackedWorld> = parts;
        let error = merge(&parts, &path, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!path.exists());
    }
}

#[test]
fn a_damaged_part_is_named() {
    let folder = TempDir::new().unwrap();
    let source = land([34, 2, 34]);
    let (first, second) = (part(&source, &folder, 1, 2), part(&source, &folder, 2, 2));
    let path = second.path().to_owned();
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 100;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    let parts = [first, PackedWorld::open(&path).unwrap()];
    let error = merge(&parts, &folder.path().join("a.dsw"), &mut |_| {}).unwrap_err();
    assert!(matches!(&error, SourceError::BadPacked { path: bad, .. } if *bad == path), "{error}");
}

#[test]
fn tiles_are_divided_evenly() {
    let folder = TempDir::new().unwrap();
    let positions: Vec<[i32; 3]> = (0..8).map(|x| [x * 16 - 64, 0, 0]).collect();
    let counts = (1..=3).map(|at| part(&dots(&positions), &folder, at, 3).chunk_count());
    assert_eq!(counts.collect::<Vec<_>>(), [2, 3, 3]);
    assert_eq!(PackPart::new(0, 3), None);
    assert_eq!(PackPart::new(4, 3), None);
    assert_eq!(PackPart::new(1, PackPart::MAX_COUNT + 1), None);
    let at = |x| ChunkPos::new(x, 0, 0);
    let first = part(&dots(&positions), &folder, 1, 3);
    assert_eq!(first.chunk_positions(), [at(-64), at(-48)]);
}
