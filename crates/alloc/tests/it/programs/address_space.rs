use std::{collections::BTreeSet, ops::Range};

use drystone_alloc::{AddressSpace, Error, Policy};

use super::bytes::Bytes;

#[derive(Debug)]
enum Op {
    Allocate,
    AllocateMany(u32),
    AllocateAt(u32),
    /// Frees the n-th of the used indices.
    Free(usize),
    /// Frees whatever index, used or not.
    FreeAny(u32),
    Reset,
    ShrinkToFit,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>, limit: u32) -> Self {
        match bytes.byte() {
            0..=99 => Self::Allocate,
            100..=129 => Self::AllocateMany(bytes.word().into()),
            130..=149 => Self::AllocateAt(bytes.below(LARGEST_LIMIT as usize + 2) as u32),
            150..=219 => Self::Free(bytes.below(usize::MAX)),
            220..=239 => Self::FreeAny(bytes.size_u32().min(limit.saturating_add(1))),
            240..=243 => Self::FreeAny(bytes.size_u32()),
            244..=246 => Self::AllocateAt(u32::MAX),
            247..=250 => Self::Reset,
            _ => Self::ShrinkToFit,
        }
    }
}

/// Limits around the edges of a leaf and of a block.
const LIMITS: [u32; 10] = [0, 1, 2, 63, 64, 65, 200, 4096, 4097, LARGEST_LIMIT];
const LARGEST_LIMIT: u32 = 10_000;
const LEAF: u32 = 64;
const MANY: usize = 400;

/// The dumb twin: a set of used indices, searched from the start.
struct Shadow {
    used: BTreeSet<u32>,
    policy: Policy,
    limit: u32,
    last_leaf: u32,
}

impl Shadow {
    /// `capacity`: a leaf that was given back with its memory is not the last any more.
    fn allocate(&mut self, capacity: u32) -> Option<u32> {
        let leaf = self.last_leaf * LEAF..((self.last_leaf + 1) * LEAF).min(capacity);
        let in_leaf = || self.lowest_in(leaf);
        let first = if self.policy == Policy::LastLeaf { in_leaf() } else { None };
        let index = first.or_else(|| self.lowest_in(0..self.limit))?;
        self.used.insert(index);
        self.last_leaf = index / LEAF;
        Some(index)
    }

    fn lowest_in(&self, mut range: Range<u32>) -> Option<u32> {
        range.find(|index| !self.used.contains(index))
    }

    fn high_water(&self) -> u32 {
        self.used.last().map_or(0, |last| last + 1)
    }
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let policy = if bytes.byte().is_multiple_of(2) { Policy::Lowest } else { Policy::LastLeaf };
    let limit = LIMITS[bytes.below(LIMITS.len())];
    let mut space = AddressSpace::bounded(policy, limit);
    let mut shadow = Shadow { used: BTreeSet::new(), policy, limit, last_leaf: 0 };
    while !bytes.is_empty() {
        let op = Op::read(&mut bytes, limit);
        step(&mut space, &mut shadow, &op);
        space.check().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        // Comparing index by index costs more than all else where there are many.
        if shadow.used.len() < MANY || bytes.is_empty() {
            compare(&space, &shadow);
        }
    }
}

fn step(space: &mut AddressSpace, shadow: &mut Shadow, op: &Op) {
    let total_free = u64::from(shadow.limit) - shadow.used.len() as u64;
    let full = |requested| Error::Full { requested, largest_free: total_free, total_free };
    match *op {
        Op::Allocate => {
            let expected = shadow.allocate(space.capacity()).ok_or(full(1));
            assert_eq!(space.allocate(), expected);
        }
        Op::AllocateMany(count) => allocate_many(space, shadow, count, full(count.into())),
        Op::AllocateAt(index) if index >= shadow.limit => {
            assert_eq!(space.allocate_at(index), Err(Error::InvalidSize));
        }
        Op::AllocateAt(index) => {
            let is_new = shadow.used.insert(index);
            assert_eq!(space.allocate_at(index).is_ok(), is_new, "at {index}");
        }
        Op::Free(nth) => {
            let nth = nth % shadow.used.len().max(1);
            if let Some(&index) = shadow.used.iter().nth(nth) {
                shadow.used.remove(&index);
                assert_eq!(space.free(index), Ok(()));
                assert_eq!(space.free(index), Err(Error::NotAllocated));
            }
        }
        Op::FreeAny(index) => {
            let expected = shadow.used.remove(&index).then_some(()).ok_or(Error::NotAllocated);
            assert_eq!(space.free(index), expected, "free {index}");
        }
        Op::Reset => {
            space.reset();
            shadow.used.clear();
            shadow.last_leaf = 0;
        }
        Op::ShrinkToFit => space.shrink_to_fit(),
    }
}

fn allocate_many(space: &mut AddressSpace, shadow: &mut Shadow, count: u32, full: Error) {
    // A run that was there before must stay as it is, even if the new ones continue it.
    let before = 0..0;
    let mut runs = Vec::from([before.clone()]);
    let result = space.allocate_many(count, &mut runs);
    assert_eq!(runs.remove(0), before);
    if u64::from(count) > u64::from(shadow.limit) - shadow.used.len() as u64 {
        assert_eq!((result, runs), (Err(full), vec![]));
        return;
    }
    assert_eq!(result, Ok(()));
    assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start), "{runs:?}");
    let mut from = 0;
    for index in runs.iter().cloned().flatten() {
        assert_eq!(shadow.lowest_in(from..shadow.limit), Some(index));
        assert!(shadow.used.insert(index));
        from = index;
        shadow.last_leaf = index / LEAF;
    }
    assert_eq!(runs.iter().map(|run| run.end - run.start).sum::<u32>(), count);
}

fn compare(space: &AddressSpace, shadow: &Shadow) {
    assert!(space.iter().eq(shadow.used.iter().copied()));
    assert_eq!(space.len() as usize, shadow.used.len());
    assert_eq!(space.high_water(), shadow.high_water());
    assert!(!space.contains(shadow.high_water()));
    assert!(space.iter().all(|index| space.contains(index)));
    let gaps: Vec<_> = space.gaps().collect();
    let is_free = |index: u32| !shadow.used.contains(&index);
    assert!(gaps.iter().cloned().flatten().all(is_free));
    let in_gaps: u32 = gaps.iter().map(|gap| gap.end - gap.start).sum();
    assert_eq!(in_gaps, shadow.high_water() - space.len());
    assert!(gaps.iter().all(|gap| !gap.is_empty() && space.contains(gap.end)));
}
