use std::collections::HashMap;

use drystone_mesh::FaceSet;
use drystone_testing::Random;
use proptest::{collection::vec, prelude::*, test_runner::Config};

use super::*;

fn cube(number: u32) -> Cube {
    let position = [number & 63, number >> 6 & 63, number >> 12 & 63];
    Cube::new(position, FaceSet::ALL, number as u16, number >> 18)
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Insert(u32),
    Set(usize, u32),
    Remove(usize),
    Upload,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => any::<u32>().prop_map(Op::Insert),
        2 => (any::<usize>(), any::<u32>()).prop_map(|(which, number)| Op::Set(which, number)),
        3 => any::<usize>().prop_map(Op::Remove),
        1 => Just(Op::Upload),
    ]
}

/// A buffer, a simple model of its contents, and a copy of the GPU's memory.
struct Pair {
    buffer: CubeBuffer,
    live: HashMap<CubeId, Cube>,
    ids: Vec<CubeId>,
    gone: Vec<CubeId>,
    gpu: Vec<Cube>,
}

impl Pair {
    fn new(policy: SlotPolicy) -> Self {
        let buffer = CubeBuffer::new(policy);
        let (live, ids, gone) = (HashMap::new(), Vec::new(), Vec::new());
        Self { buffer, live, ids, gone, gpu: Vec::new() }
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Insert(number) => {
                let id = self.buffer.insert(cube(number)).unwrap();
                assert_eq!(self.live.insert(id, cube(number)), None, "the id was allocated twice");
                self.ids.push(id);
            }
            Op::Set(which, number) if !self.ids.is_empty() => {
                let id = self.ids[which % self.ids.len()];
                let old = self.live.insert(id, cube(number));
                assert_eq!(self.buffer.set(id, cube(number)).ok(), old);
            }
            Op::Remove(which) if !self.ids.is_empty() => {
                let id = self.ids.swap_remove(which % self.ids.len());
                assert_eq!(self.buffer.remove(id).ok(), self.live.remove(&id));
                self.gone.push(id);
            }
            Op::Upload => {
                let Self { buffer, gpu, .. } = self;
                buffer.take_changes(|first, cubes| {
                    let end = first as usize + cubes.len();
                    gpu.resize(gpu.len().max(end), Cube::NOTHING);
                    gpu[first as usize..end].copy_from_slice(cubes);
                });
            }
            Op::Set(..) | Op::Remove(_) => {}
        }
    }

    /// The drawn cubes equal the model's.
    fn check(&mut self) {
        assert_eq!(self.buffer.validate(), Ok(()));
        self.apply(Op::Upload);
        let sorted = |cubes: &mut Vec<Cube>| cubes.sort_unstable();
        let drawn = &self.gpu[..self.gpu.len().min(self.buffer.high_water() as usize)];
        let mut drawn: Vec<Cube> =
            drawn.iter().copied().filter(|&cube| cube != Cube::NOTHING).collect();
        let mut expected: Vec<Cube> = self.live.values().copied().collect();
        sorted(&mut drawn);
        sorted(&mut expected);
        assert_eq!(drawn, expected);
        for id in &self.gone {
            assert_eq!(self.buffer.get(*id), None);
            assert!(self.buffer.set(*id, cube(1)).is_err() && self.buffer.remove(*id).is_err());
        }
        assert!(self.live.iter().all(|(id, cube)| self.buffer.get(*id) == Some(*cube)));
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(500) })]

    #[test]
    fn drawn_cubes_equal_the_inserted_ones(ops in vec(op(), 0..400)) {
        for policy in SlotPolicy::ALL {
            let mut pair = Pair::new(policy);
            ops.iter().for_each(|op| pair.apply(*op));
            pair.check();
        }
    }
}

/// Nine tenths of the cubes are removed at random, and as many inserted: the buffer is no longer
/// than before. In between, its length depends on the highest remaining slot.
#[test]
fn the_buffer_does_not_grow_when_cubes_are_exchanged() {
    const COUNT: u32 = 20_000;
    for policy in SlotPolicy::ALL {
        let mut pair = Pair::new(policy);
        (0..COUNT).for_each(|number| pair.apply(Op::Insert(number)));
        let before = pair.buffer.high_water();
        let mut random = Random::new(7);
        for _ in 0..COUNT / 10 * 9 {
            pair.apply(Op::Remove(random.below(COUNT as usize)));
        }
        pair.check();
        assert_eq!(pair.buffer.len(), COUNT / 10);
        (0..COUNT / 10 * 9).for_each(|number| pair.apply(Op::Insert(COUNT + number)));
        pair.check();
        // The last leaf is filled up first, even if lower slots are free.
        let most = match policy {
            SlotPolicy::LastLeaf => before.next_multiple_of(64),
            SlotPolicy::Lowest | SlotPolicy::Oldest => before,
        };
        assert_eq!(pair.buffer.len(), COUNT);
        assert!((COUNT..=most).contains(&pair.buffer.high_water()), "{policy:?}");
    }
}

/// Only `Lowest` makes the buffer shorter while it contains fewer cubes.
#[test]
fn policies_differ_in_the_length_of_the_buffer() {
    let ends = SlotPolicy::ALL.map(|policy| {
        let mut pair = Pair::new(policy);
        (0..10_000).for_each(|number| pair.apply(Op::Insert(number)));
        let mut random = Random::new(3);
        // A tenth remains, and all of it is replaced repeatedly.
        for _ in 0..9_000 {
            pair.apply(Op::Remove(random.below(10_000)));
        }
        for number in 0..20_000 {
            pair.apply(Op::Insert(number));
            pair.apply(Op::Remove(random.below(1000)));
        }
        pair.check();
        pair.buffer.high_water()
    });
    let [lowest, last_leaf, oldest] = ends;
    assert!(lowest < 1100, "{ends:?}");
    assert!(lowest <= last_leaf && last_leaf <= oldest && oldest >= 10_000, "{ends:?}");
}

/// A slot whose generations are used up is not used again.
#[test]
fn a_worn_out_slot_is_not_used_again() {
    let mut buffer = CubeBuffer::new(SlotPolicy::Lowest);
    let first = buffer.insert(cube(1)).unwrap();
    buffer.entries[0].generation = u32::MAX;
    assert_eq!(buffer.get(first), None);
    let last = CubeId { slot: 0, generation: u32::MAX };
    assert_eq!(buffer.remove(last), Ok(cube(1)));
    assert_eq!(buffer.insert(cube(2)).map(|id| id.slot), Ok(1));
    assert!(buffer.get(first).is_none() && buffer.get(last).is_none());
    assert_eq!((buffer.len(), buffer.validate()), (1, Ok(())));
}

#[test]
fn changes_are_reported_once_and_near_ones_together() {
    let mut buffer = CubeBuffer::new(SlotPolicy::Lowest);
    let ids: Vec<CubeId> = (0..6400).map(|n| buffer.insert(cube(n)).unwrap()).collect();
    let stretches = |buffer: &mut CubeBuffer| {
        let mut stretches = Vec::new();
        buffer.take_changes(|first, cubes| stretches.push((first, cubes.len())));
        stretches
    };
    assert_eq!(stretches(&mut buffer), [(0, 6400)]);
    assert_eq!(stretches(&mut buffer), []);
    for slot in [70, 200, 3000, 6399] {
        buffer.set(ids[slot], cube(1)).unwrap();
    }
    assert_eq!(stretches(&mut buffer), [(64, 192), (2944, 64), (6336, 64)]);
}
