//! Cases for contenders that allocate one index at a time.

use std::{cell::Cell, hint::black_box, rc::Rc, time::Instant};

use drystone_alloc::{AddressSpace, Policy};
use hibitset::BitSet;

use super::{
    article_tree::ArticleTree,
    indices::{Bitmap, FreeList, FreeSet, IndexSpace, LastLeaf},
};
use crate::{Contender, Error, Figure, Options, Table, random::Random, rounds::elapsed_ns};

/// Slots of the usual case, and of a quick run.
const SLOTS: u32 = 1 << 20;
const QUICK_SLOTS: u32 = 1 << 14;
/// Slots of the large case.
const LARGE_SLOTS: u32 = 1 << 24;
/// Operations of one kind per round of a churn case.
const CHURN_PAIRS: usize = 1 << 20;
const QUICK_CHURN_PAIRS: usize = 1 << 15;
/// Sizes of the bursts of the churn cases.
const BURST: std::ops::RangeInclusive<usize> = 64..=4096;
/// Slots that `bulk` allocates at once.
const BULK: u32 = 4096;

/// Runs one round of a case for a contender.
trait Case {
    fn round<S: IndexSpace + 'static>(&self) -> Contender<'static>;
}

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    let slots = options.size(SLOTS, QUICK_SLOTS);
    let large = options.size(LARGE_SLOTS, QUICK_SLOTS * 4);
    let pairs = options.size(CHURN_PAIRS, QUICK_CHURN_PAIRS);
    run_case(table, options, "sequential", &Sequential { slots })?;
    run_case(table, options, "refill", &Refill { slots })?;
    for (name, slots, free_permille) in
        [("churn-90", slots, 100), ("churn-999", slots, 1), ("churn-90-16m", large, 100)]
    {
        let used = slots - (u64::from(slots) * free_permille / 1000) as u32;
        run_case(table, options, name, &Churn { slots, used, pairs, agreed: Rc::default() })?;
    }
    bulk(table, options, "bulk", slots, 0)?;
    bulk(table, options, "bulk-holes", slots, slots / 2)
}

fn run_case(
    table: &mut Table,
    options: &Options,
    name: &str,
    case: &impl Case,
) -> Result<(), Error> {
    if !options.selects(name) {
        return Ok(());
    }
    let contenders = vec![
        case.round::<AddressSpace>(),
        case.round::<LastLeaf>(),
        case.round::<BitSet>(),
        case.round::<Bitmap>(),
        case.round::<ArticleTree>(),
        case.round::<slab::Slab<()>>(),
        case.round::<FreeSet>(),
        case.round::<FreeList>(),
    ];
    table.run_case(name, options, contenders)
}

/// Fills an empty space, which includes its growth.
struct Sequential {
    slots: u32,
}

impl Case for Sequential {
    fn round<S: IndexSpace + 'static>(&self) -> Contender<'static> {
        let slots = self.slots;
        Contender::new(S::NAME, move || {
            let mut space = S::with_capacity(slots);
            let start = Instant::now();
            let mut sum = 0;
            for _ in 0..slots {
                sum += u64::from(black_box(space.allocate()));
            }
            let mut figures = vec![Figure::time_since(start, slots as usize)];
            if sum != u64::from(slots) * u64::from(slots - 1) / 2 {
                return Err("the indices are not 0, 1, 2, …".to_owned());
            }
            let bits = space.size_bytes().map(|bytes| bytes as f64 * 8.0 / f64::from(slots));
            figures.extend(bits.map(|bits| Figure::new("bits", "bits/slot", bits)));
            Ok(figures)
        })
    }
}

/// Frees a random half of a full space and allocates it again.
struct Refill {
    slots: u32,
}

impl Case for Refill {
    fn round<S: IndexSpace + 'static>(&self) -> Contender<'static> {
        let slots = self.slots;
        let mut random = Random::new(2);
        Contender::new(S::NAME, move || {
            let mut space = S::with_capacity(slots);
            let mut indices: Vec<u32> = (0..slots).map(|_| space.allocate()).collect();
            random.shuffle(&mut indices);
            let half = slots as usize / 2;
            let start = Instant::now();
            for &index in &indices[..half] {
                space.free(index);
            }
            for index in &mut indices[..half] {
                *index = space.allocate();
            }
            let figure = Figure::time_since(start, 2 * half);
            all_different(&indices, slots)?;
            Ok(vec![figure])
        })
    }
}

/// A steady state: bursts that free random used indices, each followed by the same number of
/// allocations. Only the allocator's own work is timed.
struct Churn {
    slots: u32,
    used: u32,
    pairs: usize,
    /// Sums of all indices that the last lowest-first contender returned, by round.
    agreed: Rc<Cell<(usize, u64)>>,
}

impl Case for Churn {
    fn round<S: IndexSpace + 'static>(&self) -> Contender<'static> {
        let (slots, used, pairs) = (self.slots, self.used, self.pairs);
        let agreed = Rc::clone(&self.agreed);
        let mut random = Random::new(3);
        let mut state: Option<(S, Vec<u32>)> = None;
        let mut round = 0;
        Contender::new(S::NAME, move || {
            let (space, indices) = state.get_or_insert_with(|| {
                let mut space = S::with_capacity(slots);
                let indices = (0..used).map(|_| space.allocate()).collect();
                (space, indices)
            });
            round += 1;
            let (ns, sum) = churn(space, indices, pairs, &mut random);
            all_different(indices, slots)?;
            if S::LOWEST_FIRST {
                let (last_round, last_sum) = agreed.replace((round, sum));
                if last_round == round && last_sum != sum {
                    return Err("the returned indices are not the lowest free ones".to_owned());
                }
            }
            Ok(vec![Figure::time_ns_per_op(ns, 2 * pairs)])
        })
    }
}

/// Time in nanoseconds, and a sum that depends on the order of all returned indices.
fn churn<S: IndexSpace>(
    space: &mut S,
    indices: &mut [u32],
    pairs: usize,
    random: &mut Random,
) -> (f64, u64) {
    let (mut ns, mut sum) = (0.0, 0u64);
    let mut left = pairs;
    while left > 0 {
        let span = BURST.end() - BURST.start() + 1;
        let burst = (BURST.start() + random.below(span)).min(left).min(indices.len());
        // The first `burst` items of a partial shuffle are a random choice.
        for i in 0..burst {
            indices.swap(i, i + random.below(indices.len() - i));
        }
        let chosen = &mut indices[..burst];
        let start = Instant::now();
        for &index in &*chosen {
            space.free(index);
        }
        for index in &mut *chosen {
            *index = space.allocate();
        }
        ns += elapsed_ns(start);
        sum = chosen.iter().fold(sum, |sum, &i| sum.wrapping_mul(31).wrapping_add(i.into()));
        left -= burst;
    }
    (ns, sum)
}

/// Allocates many at once in a space with random used slots.
fn bulk(
    table: &mut Table,
    options: &Options,
    name: &str,
    slots: u32,
    taken: u32,
) -> Result<(), Error> {
    let mut order: Vec<u32> = (0..slots).collect();
    Random::new(4).shuffle(&mut order);
    let taken = &order[..taken as usize];
    let count = slots as usize - taken.len();
    let prepare = || {
        let mut space = AddressSpace::bounded(Policy::Lowest, slots);
        let all_taken = taken.iter().all(|&index| space.allocate_at(index).is_ok());
        all_taken.then_some(space).ok_or_else(|| "could not take some slots".to_owned())
    };
    let finished = |space: &AddressSpace, start: Instant| {
        let figure = Figure::time_since(start, count);
        let full = space.len() == slots && space.gaps().next().is_none();
        full.then_some(vec![figure]).ok_or_else(|| "the space is not full".to_owned())
    };
    let many = Contender::new("drystone", || {
        let mut space = prepare()?;
        let mut runs = Vec::new();
        let start = Instant::now();
        while space.len() < slots {
            runs.clear();
            let bulk = BULK.min(slots - space.len());
            space.allocate_many(bulk, &mut runs).map_err(|error| error.to_string())?;
            black_box(&runs);
        }
        finished(&space, start)
    });
    let one_by_one = Contender::new("drystone-one-by-one", || {
        let mut space = prepare()?;
        let start = Instant::now();
        for _ in 0..count {
            black_box(space.allocate()).map_err(|error| error.to_string())?;
        }
        finished(&space, start)
    });
    let list = Contender::new("free-list", || {
        let mut list = FreeList::with_capacity(0);
        order[taken.len()..].iter().for_each(|&index| list.free(index));
        let start = Instant::now();
        for _ in 0..count {
            black_box(list.allocate());
        }
        Ok(vec![Figure::time_since(start, count)])
    });
    table.run_case(name, options, vec![many, one_by_one, list])
}

fn all_different(indices: &[u32], slots: u32) -> Result<(), String> {
    let mut seen = vec![false; slots as usize];
    for &index in indices {
        match seen.get_mut(index as usize) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return Err(format!("index {index} was returned twice")),
            None => return Err(format!("index {index} is beyond the {slots} slots")),
        }
    }
    Ok(())
}
