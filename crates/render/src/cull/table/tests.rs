use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn record(slot: u32, first_quad: u32, counts: [u32; 6]) -> CullRecord {
    CullRecord::new(
        slot,
        DrawData { origin: [first_quad as i32; 3], level: 0, extent: 32, sort_rank: 0 },
        first_quad,
        counts,
    )
}

impl CullTable {
    /// Walks the whole structure: every record is reached by its slot's links exactly once.
    fn check(&self) {
        let mut reached = 0;
        for (slot, &head) in self.heads.iter().enumerate() {
            let mut link = head;
            while link != Link::NONE {
                let records = &self.buffers[link.buffer as usize];
                assert_eq!(records.records[link.index as usize].slot as usize, slot);
                link = records.next[link.index as usize];
                reached += 1;
            }
        }
        let lengths = self.buffers.iter().map(|records| records.records.len());
        assert_eq!(reached, lengths.sum::<usize>());
        for records in &self.buffers {
            assert_eq!(records.next.len(), records.records.len());
            assert_eq!(records.changed.len(), records.records.len().div_ceil(Self::BLOCK));
            let most: u64 = records.records.iter().map(CullRecord::max_commands).sum();
            assert_eq!(most, records.max_commands);
        }
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
        let mut table = CullTable::new();
        let mut model: BTreeMap<u32, Vec<(u32, CullRecord)>> = BTreeMap::new();
        let mut mirrors = vec![Vec::new(); 3];
        let mut synced = 0;
        for (n, op) in ops.into_iter().enumerate() {
            match op {
                Op::Insert { buffer, slot, counts } => {
                    let piece = record(slot, n as u32, counts);
                    table.insert(buffer, piece);
                    model.entry(slot).or_default().push((buffer, piece));
                }
                Op::Set { slot, pieces } => {
                    let of = |(buffer, counts)| (buffer, record(slot, n as u32, counts));
                    let pieces: Vec<_> = pieces.into_iter().map(of).collect();
                    table.set(slot, pieces.iter().copied());
                    model.insert(slot, pieces);
                }
                Op::Remove { slot } => {
                    table.remove(slot);
                    model.remove(&slot);
                }
                Op::Sync => {
                    for (buffer, mirror) in mirrors.iter_mut().enumerate() {
                        sync(mirror, &table, buffer, synced);
                        prop_assert_eq!(&*mirror, table.records(buffer));
                    }
                    synced = table.revision();
                }
            }
            table.check();
            let has_mesh = |slot| model.get(&slot).is_some_and(|pieces| !pieces.is_empty());
            prop_assert!((0..301).all(|slot| table.contains(slot) == has_mesh(slot)));
        }
        let pieces = || model.values().flatten();
        for buffer in 0..3 {
            let mut held: Vec<_> = table.records(buffer as usize).to_vec();
            let mut expected: Vec<_> =
                pieces().filter(|(of, _)| *of == buffer).map(|(_, piece)| *piece).collect();
            held.sort_by_key(|piece| (piece.first_quad, piece.ends));
            expected.sort_by_key(|piece| (piece.first_quad, piece.ends));
            prop_assert_eq!(held, expected);
        }
    }
}

#[test]
fn unrelated_blocks_do_not_change() {
    let mut table = CullTable::new();
    for slot in 0..1000 {
        table.insert(0, record(slot, slot, [1; 6]));
    }
    let revision = table.revision();
    assert_eq!(table.changed_since(0, revision).count(), 0);
    assert!(table.changed_since(0, 0).eq(std::iter::once(0..1000)));
    table.remove(70);
    // The last record has moved to its index, in the second block.
    assert!(table.changed_since(0, revision).eq(std::iter::once(64..128)));
    assert_eq!(table.records(0)[70].slot, 999);
    table.remove(70);
    table.remove(5000);
    assert_eq!(table.records(0).len(), 999);
}

/// A mesh that changes and stays in its buffer touches one block, and its neighbours do not move.
#[test]
fn a_mesh_that_stays_in_its_buffer_keeps_its_record() {
    let mut table = CullTable::new();
    for slot in 0..1000 {
        table.insert(0, record(slot, slot, [1; 6]));
    }
    let revision = table.revision();
    let changed = record(70, 5000, [2; 6]);
    table.set(70, std::iter::once((0, changed)));
    assert!(table.changed_since(0, revision).eq(std::iter::once(64..128)));
    assert_eq!((table.records(0)[70], table.records(0).len()), (changed, 1000));
    // In another buffer it is appended, and leaves no gap.
    table.set(70, std::iter::once((1, changed)));
    assert_eq!((table.records(0).len(), table.records(1)), (999, &[changed][..]));
}

#[test]
fn tables_have_unique_ids() {
    assert_ne!(CullTable::new().id(), CullTable::new().id());
}

#[test]
fn the_maximum_number_of_commands_is_counted() {
    let most = |counts| record(0, 0, counts).max_commands();
    assert_eq!(most([0; 6]), 0);
    assert_eq!(most([5; 6]), 3);
    assert_eq!(most([5, 0, 0, 0, 0, 1]), 1);
    assert_eq!(most([5, 0, 1, 0, 0, 1]), 2);
    assert_eq!(most([PATTERN_QUADS - 1, 0, 0, 0, 0, 0]), 1);
    assert_eq!(most([PATTERN_QUADS + 1, 0, 0, 0, 0, PATTERN_QUADS]), 3);
}
