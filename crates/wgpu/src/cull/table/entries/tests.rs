use std::{collections::BTreeMap, iter::once};

use proptest::prelude::*;

use super::{
    super::{
        super::bounds::{CullBounds, CullRecord},
        Source,
    },
    *,
};

/// The buffer and the record of each piece of a slot's mesh.
type Model = BTreeMap<u32, Vec<(u32, CullRecord)>>;

fn record(slot: u32, first_element: u32, [a, b, c, d, e, f]: [u32; 6]) -> CullRecord {
    let bounds = CullBounds::of_voxels([first_element as i32; 3], [32; 3]);
    CullRecord::new(slot, bounds, first_element, [a, b, c, d, e, f, 0, 0])
}

fn mesh(slot: u32) -> MeshHandle {
    MeshHandle::from_bits((1 << 32 | u64::from(slot), 0)).unwrap()
}

/// A record with this number of commands.
fn new(slot: u32, commands: u32) -> CullRecord {
    // Every second part can be hidden.
    let counts = [0, 1, 2, 3, 4, 5].map(|part| u32::from(part < 2 * commands));
    record(slot, slot, counts)
}

fn entries() -> Entries {
    Entries::new(&PoolConfig::default())
}

/// A thousand meshes of one piece in the first buffer.
fn thousand() -> Entries {
    let mut entries = entries();
    (0..1000).for_each(|slot| entries.set(mesh(slot), once((0, new(slot, 1)))));
    entries
}

impl Entries {
    /// Walks the whole structure: every record is reached by its slot's pieces exactly once.
    fn check(&self) {
        let mut reached = 0;
        let mut commands = vec![0; self.buffers.len()];
        for slot in 0..self.members.len() as u32 {
            let others = self.splits.get(&slot);
            let has_first = self.member(slot).first != Piece::NONE;
            assert!(others.is_none_or(|others| has_first && !others.is_empty()));
            for (number, piece) in self.pieces_of(slot).enumerate() {
                let expected = Entry { slot, piece: number, commands: piece.commands };
                assert_eq!(self.entry(piece.buffer as usize, piece.index as usize), expected);
                commands[piece.buffer as usize] += u64::from(piece.commands);
                reached += 1;
            }
        }
        assert_eq!(reached, (0..self.buffers()).map(|buffer| self.records(buffer)).sum::<usize>());
        for (records, commands) in self.buffers.iter().zip(commands) {
            assert_eq!(records.changed.len(), records.slots.len().div_ceil(Records::BLOCK));
            assert_eq!(records.max_commands, commands);
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
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
    let several = prop::collection::vec((0..3_u32, counts()), 0..5);
    prop_oneof![
        12 => (0..300_u32, prop_oneof![2 => one, 1 => several])
            .prop_map(|(slot, pieces)| Op::Set { slot, pieces }),
        4 => (0..300_u32).prop_map(|slot| Op::Remove { slot }),
        1 => Just(Op::Sync),
    ]
}

/// All records of a buffer, or those of a range.
fn made(
    entries: &Entries,
    model: &Model,
    buffer: usize,
    range: impl Iterator<Item = usize>,
) -> Vec<CullRecord> {
    let make = |mesh: MeshHandle, piece| model.get(&mesh.slot())?.get(piece).copied();
    let source = Source { entries, make: &make };
    range.map(|index| source.record(buffer, index)).collect()
}

/// Updates a copy of one buffer's records by its changes.
fn sync(
    mirror: &mut Vec<CullRecord>,
    (entries, model): (&Entries, &Model),
    buffer: usize,
    since: u64,
) {
    mirror.resize(entries.records(buffer), record(u32::MAX, 0, [0; 6]));
    let make = |mesh: MeshHandle, piece| model.get(&mesh.slot())?.get(piece).copied();
    let write = |first: usize, changed: &[CullRecord]| {
        mirror[first..first + changed.len()].copy_from_slice(changed);
        Ok(())
    };
    Source { entries, make: &make }.write_changes(buffer, since, write).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The table contains the records that were inserted and not removed. Copying only the changes
    /// equals copying everything.
    #[test]
    fn contains_the_inserted_records(ops in prop::collection::vec(op(), 1..400)) {
        let (mut entries, mut model) = (entries(), Model::new());
        // Two devices that copy the changes at different times.
        let mut mirrors = vec![Vec::new(); 3];
        let mut synced = [0; 3];
        let mut others = vec![(Vec::new(), 0); 3];
        for (n, op) in ops.into_iter().enumerate() {
            match op {
                Op::Set { slot, pieces } => {
                    let of = |(buffer, counts)| (buffer, record(slot, n as u32, counts));
                    let pieces: Vec<_> = pieces.into_iter().map(of).collect();
                    entries.set(mesh(slot), pieces.iter().copied());
                    model.insert(slot, pieces);
                }
                Op::Remove { slot } => {
                    entries.remove(mesh(slot));
                    model.remove(&slot);
                }
                Op::Sync => {
                    for (buffer, mirror) in mirrors.iter_mut().enumerate() {
                        sync(mirror, (&entries, &model), buffer, synced[buffer]);
                        let all = made(&entries, &model, buffer, 0..entries.records(buffer));
                        prop_assert_eq!(&*mirror, &all);
                        synced[buffer] = entries.revision(buffer);
                    }
                }
            }
            for (buffer, (other, since)) in others.iter_mut().enumerate().filter(|_| n % 23 == 0) {
                sync(other, (&entries, &model), buffer, *since);
                let all = made(&entries, &model, buffer, 0..entries.records(buffer));
                prop_assert_eq!(&*other, &all);
                *since = entries.revision(buffer);
            }
            entries.check();
            let agrees = |slot| entries.contains(mesh(slot)) == model.contains_key(&slot);
            prop_assert!((0..301).all(agrees));
        }
        let sorted = |mut records: Vec<CullRecord>| {
            records.sort_by_key(|record| (record.slot, record.first_element, record.ends));
            records
        };
        for buffer in 0..3 {
            let pieces = model.values().flatten();
            let expected = pieces.filter(|(of, _)| *of == buffer as u32).map(|(_, it)| *it);
            let all = made(&entries, &model, buffer, 0..entries.records(buffer));
            // A device that is created now.
            let mut new = Vec::new();
            sync(&mut new, (&entries, &model), buffer, 0);
            prop_assert_eq!(&new, &all);
            prop_assert_eq!(sorted(all), sorted(expected.collect()));
        }
    }
}

/// First and end of each range of the first buffer's records that has changed.
fn changed(entries: &Entries, revision: u64) -> Vec<(usize, usize)> {
    let ranges = entries.changed_since(0, revision).ranges;
    ranges.into_iter().map(|range| (range.start, range.end)).collect()
}

#[test]
fn only_changed_records_are_uploaded() {
    let mut entries = thousand();
    let revision = entries.revision(0);
    assert_eq!(changed(&entries, revision), []);
    assert_eq!(changed(&entries, 0), [(0, 1000)]);
    entries.remove(mesh(70));
    // The last record has moved to its index.
    assert_eq!(changed(&entries, revision), [(70, 71)]);
    assert_eq!(entries.entry(0, 70).slot, 999);
    entries.remove(mesh(70));
    entries.remove(mesh(5000));
    assert_eq!(entries.records(0), 999);
    // The last record changes, and is then removed.
    let revision = entries.revision(0);
    entries.set(mesh(998), once((0, new(998, 2))));
    entries.remove(mesh(998));
    assert_eq!(changed(&entries, revision), []);
    for slot in [5, 300, 6, 5] {
        entries.set(mesh(slot), once((0, new(slot, 3))));
    }
    assert_eq!(changed(&entries, revision), [(5, 7), (300, 301)]);
}

/// After more changes than have stored indices, the blocks that contain a change are uploaded.
#[test]
fn blocks_are_uploaded_after_many_changes() {
    let mut entries = thousand();
    let revision = entries.revision(0);
    for n in 0..Records::LATEST {
        let slot = [70, 130, 999][n % 3];
        entries.set(mesh(slot), once((0, new(slot, 2))));
    }
    assert_eq!(changed(&entries, revision), [(70, 71), (130, 131), (999, 1000)]);
    entries.set(mesh(70), once((0, new(70, 2))));
    assert_eq!(changed(&entries, revision), [(64, 192), (960, 1000)]);
    assert_eq!(changed(&entries, entries.revision(0) - 1), [(70, 71)]);
}

/// A mesh that changes and stays in its buffer keeps its record, and its neighbours do not move.
#[test]
fn a_mesh_that_stays_in_its_buffer_keeps_its_record() {
    let mut entries = thousand();
    let revision = entries.revision(0);
    entries.set(mesh(70), once((0, new(70, 2))));
    assert_eq!(changed(&entries, revision), [(70, 71)]);
    assert_eq!(entries.entry(0, 70), Entry { slot: 70, piece: 0, commands: 2 });
    assert_eq!((entries.records(0), entries.max_commands(0)), (1000, 1001));
    // In another buffer it is appended, and leaves no gap.
    entries.set(mesh(70), once((1, new(70, 3))));
    assert_eq!([0, 1].map(|buffer| entries.records(buffer)), [999, 1]);
    assert_eq!(entries.entry(1, 0), Entry { slot: 70, piece: 0, commands: 3 });
}

#[test]
fn tables_have_unique_ids() {
    assert_ne!(entries().id(), entries().id());
}
