use std::{collections::BTreeMap, iter::once};

use drystone_pool::{MoveBudget, NullBackend};
use drystone_testing::Random;
use proptest::prelude::*;

use super::*;

fn record(slot: u32, first_element: u32, [a, b, c, d, e, f]: [u32; 6]) -> CullRecord {
    let bounds = CullBounds::of_voxels([first_element as i32; 3], [32; 3]);
    CullRecord::new(slot, bounds, first_element, [a, b, c, d, e, f, 0, 0])
}

fn table() -> CullTable {
    CullTable::new(&PoolConfig::default())
}

impl CullTable {
    /// Walks the whole structure: every record is reached by its slot's links exactly once.
    fn check(&self) {
        let mut reached = 0;
        for (slot, &Member { head, .. }) in (0..).zip(&self.members) {
            let others = self.splits.get(&slot);
            assert!(others.is_none_or(|others| head != Link::NONE && !others.is_empty()));
            for link in once(head).chain(others.into_iter().flatten().copied()) {
                if link != Link::NONE {
                    let records = &self.buffers[link.buffer as usize].records;
                    assert_eq!(records[link.index as usize].slot, slot);
                    reached += 1;
                }
            }
        }
        let lengths = self.buffers.iter().map(|records| records.records.len());
        assert_eq!(reached, lengths.sum::<usize>());
        for records in &self.buffers {
            assert_eq!(records.changed.len(), records.records.len().div_ceil(Records::BLOCK));
            let most: u64 = records.records.iter().map(|it| it.max_commands(self.pattern)).sum();
            assert_eq!(most, records.max_commands);
        }
    }
}

impl CullTable {
    fn has_pieces(&self, slot: usize) -> bool {
        self.member(slot as u32).head != Link::NONE
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// Inserts a piece of a slot's mesh.
    Insert {
        buffer: u32,
        slot: u32,
        counts: [u32; 6],
    },
    /// Replaces a slot's mesh by one of several pieces.
    Set {
        slot: u32,
        pieces: Vec<(u32, [u32; 6])>,
    },
    Remove {
        slot: u32,
    },
    /// Copies the changes, like a device.
    Sync,
}

fn op() -> impl Strategy<Value = Op> {
    let counts = || prop::array::uniform6(prop_oneof![Just(0), 1..9_u32]);
    let one = prop::collection::vec((0..3_u32, counts()), 1);
    let several = prop::collection::vec((0..3_u32, counts()), 0..4);
    prop_oneof![
        8 => (0..300_u32, prop_oneof![2 => one, 1 => several])
            .prop_map(|(slot, pieces)| Op::Set { slot, pieces }),
        4 => (0..3_u32, 0..300_u32, counts())
            .prop_map(|(buffer, slot, counts)| Op::Insert { buffer, slot, counts }),
        4 => (0..300_u32).prop_map(|slot| Op::Remove { slot }),
        1 => Just(Op::Sync),
    ]
}

/// Updates a copy of one buffer's records, range by range.
fn sync(mirror: &mut Vec<CullRecord>, table: &CullTable, buffer: usize, since: u64) {
    let records = table.records(buffer);
    mirror.resize(records.len(), record(u32::MAX, 0, [0; 6]));
    for stretch in table.changed_since(buffer, since) {
        mirror[stretch.clone()].copy_from_slice(&records[stretch]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The table contains the records that were inserted and not removed. Copying only the changes
    /// equals copying everything.
    #[test]
    fn contains_the_inserted_records(ops in prop::collection::vec(op(), 1..400)) {
        let mut table = table();
        let mut model: BTreeMap<u32, Vec<(u32, CullRecord)>> = BTreeMap::new();
        let mut mirrors = vec![Vec::new(); 3];
        let mut synced = [0; 3];
        for (n, op) in ops.into_iter().enumerate() {
            match op {
                Op::Insert { buffer, slot, counts } => {
                    let piece = record(slot, n as u32, counts);
                    table.insert_piece(buffer, piece);
                    model.entry(slot).or_default().push((buffer, piece));
                }
                Op::Set { slot, pieces } => {
                    let of = |(buffer, counts)| (buffer, record(slot, n as u32, counts));
                    let pieces: Vec<_> = pieces.into_iter().map(of).collect();
                    table.set_pieces(slot, pieces.iter().copied());
                    model.insert(slot, pieces);
                }
                Op::Remove { slot } => {
                    table.remove_pieces(slot);
                    model.remove(&slot);
                }
                Op::Sync => {
                    for (buffer, mirror) in mirrors.iter_mut().enumerate() {
                        sync(mirror, &table, buffer, synced[buffer]);
                        prop_assert_eq!(&*mirror, table.records(buffer));
                        synced[buffer] = table.revision(buffer);
                    }
                }
            }
            table.check();
            let has_mesh = |slot| model.get(&(slot as u32)).is_some_and(|pieces| !pieces.is_empty());
            prop_assert!((0..301).all(|slot| table.has_pieces(slot) == has_mesh(slot)));
        }
        let pieces = || model.values().flatten();
        for buffer in 0..3 {
            let mut held: Vec<_> = table.records(buffer as usize).to_vec();
            let mut expected: Vec<_> =
                pieces().filter(|(of, _)| *of == buffer).map(|(_, piece)| *piece).collect();
            held.sort_by_key(|piece| (piece.first_element, piece.ends));
            expected.sort_by_key(|piece| (piece.first_element, piece.ends));
            prop_assert_eq!(held, expected);
        }
    }
}

/// First and end of each range of the first buffer's records that has changed.
fn changed(table: &CullTable, revision: u64) -> Vec<(usize, usize)> {
    let ranges = table.changed_since(0, revision);
    ranges.into_iter().map(|range| (range.start, range.end)).collect()
}

#[test]
fn only_changed_records_are_uploaded() {
    let mut table = table();
    for slot in 0..1000 {
        table.insert_piece(0, record(slot, slot, [1; 6]));
    }
    let revision = table.revision(0);
    assert_eq!(changed(&table, revision), []);
    assert_eq!(changed(&table, 0), [(0, 1000)]);
    table.remove_pieces(70);
    // The last record has moved to its index.
    assert_eq!(changed(&table, revision), [(70, 71)]);
    assert_eq!(table.records(0)[70].slot, 999);
    table.remove_pieces(70);
    table.remove_pieces(5000);
    assert_eq!(table.records(0).len(), 999);
    // The last record changes, and is then removed.
    let revision = table.revision(0);
    table.set_pieces(998, once((0, record(998, 7, [2; 6]))));
    table.remove_pieces(998);
    assert_eq!(changed(&table, revision), []);
    for slot in [5, 300, 6, 5] {
        table.set_pieces(slot, once((0, record(slot, 7, [3; 6]))));
    }
    assert_eq!(changed(&table, revision), [(5, 7), (300, 301)]);
}

/// After more changes than have stored indices, the blocks that contain a change are uploaded.
#[test]
fn blocks_are_uploaded_after_many_changes() {
    let mut table = table();
    for slot in 0..1000 {
        table.insert_piece(0, record(slot, slot, [1; 6]));
    }
    let change = |table: &mut CullTable, slot, n| {
        table.set_pieces(slot, once((0, record(slot, n, [2; 6]))));
    };
    let revision = table.revision(0);
    for n in 0..Records::LATEST as u32 {
        change(&mut table, [70, 130, 999][n as usize % 3], n);
    }
    assert_eq!(changed(&table, revision), [(70, 71), (130, 131), (999, 1000)]);
    change(&mut table, 70, 0);
    assert_eq!(changed(&table, revision), [(64, 192), (960, 1000)]);
    assert_eq!(changed(&table, table.revision(0) - 1), [(70, 71)]);
}

/// A mesh that changes and stays in its buffer keeps its record, and its neighbours do not move.
#[test]
fn a_mesh_that_stays_in_its_buffer_keeps_its_record() {
    let mut table = table();
    for slot in 0..1000 {
        table.insert_piece(0, record(slot, slot, [1; 6]));
    }
    let revision = table.revision(0);
    let new = record(70, 5000, [2; 6]);
    table.set_pieces(70, once((0, new)));
    assert_eq!(changed(&table, revision), [(70, 71)]);
    assert_eq!((table.records(0)[70], table.records(0).len()), (new, 1000));
    // In another buffer it is appended, and leaves no gap.
    table.set_pieces(70, once((1, new)));
    assert_eq!((table.records(0).len(), table.records(1)), (999, &[new][..]));
}

#[test]
fn tables_have_unique_ids() {
    assert_ne!(table().id(), table().id());
}

#[test]
fn the_maximum_number_of_commands_is_counted() {
    const PATTERN_QUADS: u32 = 1000;
    let pattern = table().pattern();
    let pattern = Pattern { elements: PATTERN_QUADS, ..pattern };
    let most = |counts| record(0, 0, counts).max_commands(pattern);
    assert_eq!(most([0; 6]), 0);
    assert_eq!(most([5; 6]), 3);
    assert_eq!(most([5, 0, 0, 0, 0, 1]), 1);
    assert_eq!(most([5, 0, 1, 0, 0, 1]), 2);
    assert_eq!(most([PATTERN_QUADS - 1, 0, 0, 0, 0, 0]), 1);
    assert_eq!(most([PATTERN_QUADS + 1, 0, 0, 0, 0, PATTERN_QUADS]), 3);
}

/// The ranges that a pool reports for a mesh, with the box of its table.
fn expected(pool: &VertexPool<u64, u32>, mesh: MeshHandle) -> Vec<(u32, CullRecord)> {
    let bounds = bounds_of(*pool.data(mesh).unwrap());
    let of = |range: MeshRange| {
        let counts = range.part_counts;
        (range.buffer, CullRecord::new(mesh.slot(), bounds, range.first, counts))
    };
    pool.ranges_of(mesh).map(of).collect()
}

fn bounds_of(number: u32) -> CullBounds {
    let low = [number as f32, 0.5, -1.0];
    match number % 2 {
        0 => CullBounds::new(low, low.map(|c| c + 2.0)).with_margin(0.125),
        _ => CullBounds::of_voxels([number as i32; 3], [1, 2, 3]),
    }
}

/// A table that follows a pool's inserts, replacements, removals and moves contains the pool's ranges.
#[test]
fn a_table_follows_its_pool() {
    let config = PoolConfig::default()
        .with_min_buffer_elements(256)
        .with_max_buffer_elements(1024)
        .with_spare_frames(1);
    let mut pool = VertexPool::<u64, u32>::new(config).unwrap();
    let (mut backend, mut random) = (NullBackend::default(), Random::new(3));
    let (mut table, mut meshes, mut moves) = (table(), Vec::new(), 0);
    for step in 0..2000 {
        let counts = [(); 6].map(|()| random.below(20));
        let elements = vec![0; counts.iter().sum::<u32>() as usize];
        let at = random.below(meshes.len().max(1) as u32) as usize;
        match random.below(4) {
            0 if !meshes.is_empty() => {
                let mesh = meshes.swap_remove(at);
                pool.remove(mesh).unwrap();
                table.remove(mesh);
                assert!(!table.contains(mesh));
            }
            1 if !meshes.is_empty() => {
                let mesh = meshes[at];
                pool.replace(mesh, &elements, &counts, step, &mut backend).unwrap();
                table.set(&pool, mesh, bounds_of(step));
            }
            _ => {
                let mesh = pool.insert(&elements, &counts, step, &mut backend).unwrap();
                table.set(&pool, mesh, bounds_of(step));
                meshes.push(mesh);
            }
        }
        if meshes.len() > 60 {
            for mesh in meshes.drain(..40) {
                pool.remove(mesh).unwrap();
                table.remove(mesh);
            }
        }
        pool.frame_submitted(u64::from(step) + 1);
        pool.frames_completed(u64::from(step) + 1, &mut backend);
        moves += pool.defragment(&MoveBudget::default(), &mut backend).moves;
        table.update_moved(&pool);
        let mut held: Vec<_> = (0..table.buffers())
            .flat_map(|buffer| table.records(buffer).iter().map(move |it| (buffer as u32, *it)))
            .collect();
        let mut all: Vec<_> = meshes.iter().flat_map(|mesh| expected(&pool, *mesh)).collect();
        held.sort_by_key(|(buffer, it)| (*buffer, it.first_element));
        all.sort_by_key(|(buffer, it)| (*buffer, it.first_element));
        assert_eq!(held, all, "step {step}");
    }
    assert!(moves > 50, "{moves} moves");
}

/// A stale handle changes no mesh that has its slot now.
#[test]
fn stale_handles_change_nothing() {
    let mut pool = VertexPool::<u64, u32>::new(PoolConfig::default()).unwrap();
    let (mut backend, mut table) = (NullBackend::default(), table());
    let old = pool.insert(&[1], &[1], 0, &mut backend).unwrap();
    pool.remove(old).unwrap();
    let new = pool.insert(&[1, 2], &[2], 2, &mut backend).unwrap();
    assert_eq!(old.slot(), new.slot());
    table.set(&pool, new, bounds_of(2));
    table.set(&pool, old, bounds_of(4));
    table.remove(old);
    assert!(table.contains(new) && !table.contains(old));
    assert_eq!(table.records(0), expected(&pool, new).iter().map(|it| it.1).collect::<Vec<_>>());
}

/// A mesh of another pool does not join the meshes of the first one.
#[test]
fn a_table_has_meshes_of_one_pool() {
    let new = || VertexPool::<u64, u32>::new(PoolConfig::default()).unwrap();
    let (mut first, mut second, mut backend) = (new(), new(), NullBackend::default());
    let mut table = table();
    let old = [1, 2].map(|n| first.insert(&[n], &[1], n as u32, &mut backend).unwrap());
    for mesh in old {
        table.set(&first, mesh, bounds_of(1));
    }
    let mesh = second.insert(&[1], &[1], 4, &mut backend).unwrap();
    assert_eq!(mesh.slot(), old[0].slot());
    assert!(!table.contains(mesh));
    table.set(&second, mesh, bounds_of(4));
    assert_eq!((table.len(), old.map(|mesh| table.contains(mesh))), (1, [false; 2]));
    assert_eq!(table.bounds(mesh), Some(bounds_of(4)));
    assert_eq!(table.records(0).len(), 1);
    table.validate(&second).unwrap();
}
