use std::ops::Range;

use drystone_alloc::{AddressSpace, Error, IndexPolicy};
use drystone_testing::Bytes;

#[derive(Debug)]
enum Op {
    Allocate,
    AllocateMany(u32),
    AllocateAt(u32),
    /// Frees the n-th of the used indices.
    Free(usize),
    /// Frees an index, used or not.
    FreeAny(u32),
    /// Frees ranges that begin at a used index or anywhere, all or none.
    FreeMany([(bool, u32, u32); 3]),
    Reserve(u32),
    Reset,
    ShrinkToFit,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>, limit: u32) -> Self {
        match bytes.byte() {
            0..=99 => Self::Allocate,
            100..=122 => Self::AllocateMany(bytes.word().into()),
            123..=126 => Self::FreeMany(std::array::from_fn(|_| {
                let (is_used, start) = (bytes.byte() < 230, bytes.below(LARGEST_LIMIT as usize));
                (is_used, start as u32, bytes.below(if is_used { 100 } else { 10_000 }) as u32)
            })),
            127..=129 => Self::Reserve(bytes.word().into()),
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
const MANY: u32 = 400;

/// The reference model: for each index whether it is used, searched from the start.
struct Shadow {
    is_used: Vec<bool>,
    len: u32,
    policy: IndexPolicy,
    last_leaf: u32,
}

impl Shadow {
    fn limit(&self) -> u32 {
        self.is_used.len() as u32
    }

    /// Marks an index as used or free. Returns `false` if it already is, or is out of range.
    fn set(&mut self, index: u32, used: bool) -> bool {
        match self.is_used.get_mut(index as usize) {
            Some(was) if *was != used => *was = used,
            _ => return false,
        }
        self.len = if used { self.len + 1 } else { self.len - 1 };
        true
    }

    /// `capacity`: a leaf whose memory was released is no longer the last used one.
    fn allocate(&mut self, capacity: u32) -> Option<u32> {
        let leaf = self.last_leaf * LEAF..((self.last_leaf + 1) * LEAF).min(capacity);
        let in_leaf = || self.lowest_in(leaf);
        let first = if self.policy == IndexPolicy::LastLeaf { in_leaf() } else { None };
        let index = first.or_else(|| self.lowest_in(0..self.limit()))?;
        self.set(index, true);
        self.last_leaf = index / LEAF;
        Some(index)
    }

    fn lowest_in(&self, range: Range<u32>) -> Option<u32> {
        let slots = self.is_used.get(range.start as usize..range.end as usize)?;
        Some(range.start + slots.iter().position(|used| !used)? as u32)
    }

    fn used(&self) -> impl Iterator<Item = u32> {
        let used = self.is_used.iter().enumerate().filter(|(_, used)| **used);
        used.map(|(index, _)| index as u32)
    }

    fn high_water(&self) -> u32 {
        self.is_used.iter().rposition(|used| *used).map_or(0, |last| last as u32 + 1)
    }

    fn full(&self, requested: u32) -> Error {
        let total_free = u64::from(self.limit() - self.len);
        Error::Full { requested: requested.into(), largest_free: total_free, total_free }
    }
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let policy =
        if bytes.byte().is_multiple_of(2) { IndexPolicy::Lowest } else { IndexPolicy::LastLeaf };
    let limit = LIMITS[bytes.below(LIMITS.len())];
    let mut space = AddressSpace::bounded(policy, limit);
    let is_used = vec![false; limit as usize];
    let mut shadow = Shadow { is_used, len: 0, policy, last_leaf: 0 };
    while !bytes.is_empty() {
        let op = Op::read(&mut bytes, limit);
        step(&mut space, &mut shadow, &op);
        space.validate().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        // Comparing all indices of a large space would dominate the test.
        if shadow.limit() < MANY || bytes.is_empty() {
            compare(&space, &shadow);
        }
    }
}

fn step(space: &mut AddressSpace, shadow: &mut Shadow, op: &Op) {
    match *op {
        Op::Allocate => {
            let full = shadow.full(1);
            let expected = shadow.allocate(space.capacity()).ok_or(full);
            assert_eq!(space.allocate(), expected);
        }
        Op::AllocateMany(count) => allocate_many(space, shadow, count),
        Op::AllocateAt(index) if index >= shadow.limit() => {
            assert_eq!(space.allocate_at(index), Err(Error::InvalidSize));
        }
        Op::AllocateAt(index) => {
            let is_new = shadow.set(index, true);
            assert_eq!(space.allocate_at(index).is_ok(), is_new, "at {index}");
        }
        Op::Free(nth) => {
            let nth = nth % shadow.len.max(1) as usize;
            let index = shadow.used().nth(nth);
            if let Some(index) = index {
                shadow.set(index, false);
                assert_eq!(space.free(index), Ok(()));
                assert_eq!(space.free(index), Err(Error::NotAllocated));
            }
        }
        Op::FreeAny(index) => {
            let expected = shadow.set(index, false).then_some(()).ok_or(Error::NotAllocated);
            assert_eq!(space.free(index), expected, "free {index}");
        }
        Op::FreeMany(runs) => free_many(space, shadow, runs),
        Op::Reserve(additional) => {
            let is_possible = additional <= shadow.limit() - shadow.len;
            let expected = is_possible.then_some(()).ok_or(shadow.full(additional));
            assert_eq!(space.reserve(additional), expected);
            assert!(!is_possible || space.capacity() >= shadow.len + additional);
        }
        Op::Reset => {
            space.reset();
            shadow.is_used.fill(false);
            (shadow.len, shadow.last_leaf) = (0, 0);
        }
        Op::ShrinkToFit => space.shrink_to_fit(),
    }
}

fn allocate_many(space: &mut AddressSpace, shadow: &mut Shadow, count: u32) {
    // An existing run must not change, even if the new ones continue it.
    let before = 0..0;
    let mut runs = Vec::from([before.clone()]);
    let result = space.allocate_many(count, &mut runs);
    assert_eq!(runs.remove(0), before);
    if count > shadow.limit() - shadow.len {
        assert_eq!((result, runs), (Err(shadow.full(count)), vec![]));
        return;
    }
    assert_eq!(result, Ok(()));
    assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start), "{runs:?}");
    let mut from = 0;
    for index in runs.iter().cloned().flatten() {
        assert_eq!(shadow.lowest_in(from..shadow.limit()), Some(index));
        assert!(shadow.set(index, true));
        from = index;
        shadow.last_leaf = index / LEAF;
    }
    assert_eq!(runs.iter().map(|run| run.end - run.start).sum::<u32>(), count);
}

fn free_many(space: &mut AddressSpace, shadow: &mut Shadow, runs: [(bool, u32, u32); 3]) {
    let runs = runs.map(|(is_used, nth, length)| {
        let nth_used = shadow.used().nth(nth as usize % shadow.len.max(1) as usize);
        let start = if is_used { nth_used.unwrap_or(0) } else { nth };
        let used = (start..start + length)
            .take_while(|at| shadow.is_used.get(*at as usize) == Some(&true));
        start..if is_used { start + used.count() as u32 } else { start + length }
    });
    let before = shadow.is_used.clone();
    let is_valid = runs.iter().cloned().flatten().all(|index| shadow.set(index, false));
    let expected = is_valid.then_some(()).ok_or(Error::NotAllocated);
    assert_eq!(space.free_many(&runs), expected, "{runs:?}");
    if !is_valid {
        shadow.len = before.iter().filter(|used| **used).count() as u32;
        shadow.is_used = before;
    }
}

fn compare(space: &AddressSpace, shadow: &Shadow) {
    let high_water = shadow.high_water();
    assert!(space.iter().eq(shadow.used()));
    assert_eq!((space.len(), space.high_water()), (shadow.len, high_water));
    assert!(
        (0..=high_water)
            .all(|i| space.contains(i) == (shadow.is_used.get(i as usize) == Some(&true)))
    );
    let gaps: Vec<_> = space.gaps().collect();
    assert!(gaps.iter().cloned().flatten().all(|index| !shadow.is_used[index as usize]));
    let in_gaps: u32 = gaps.iter().map(|gap| gap.end - gap.start).sum();
    assert_eq!(in_gaps, high_water - space.len());
    assert!(gaps.iter().all(|gap| !gap.is_empty() && space.contains(gap.end)));
}
