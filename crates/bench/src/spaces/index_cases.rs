//! Cases for contenders that allocate one index at a time.

use std::{cell::Cell, hint::black_box, rc::Rc, time::Instant};

use drystone_alloc::AddressSpace;
use hibitset::BitSet;

use super::{
    article_tree::ArticleTree,
    indices::{Bitmap, FreeList, FreeSet, IndexSpace, LastLeaf},
};
use crate::{
    Contender, Error, Figure, Random, Run,
    rounds::{Round, elapsed_ns},
};

/// Slots of the usual case, and of a quick run.
pub(super) const SLOTS: u32 = 1 << 20;
pub(super) const QUICK_SLOTS: u32 = 1 << 14;
/// Slots of the large case.
const LARGE_SLOTS: u32 = 1 << 24;
/// Operations of one kind per round of a churn case.
const CHURN_PAIRS: usize = 1 << 20;
const QUICK_CHURN_PAIRS: usize = 1 << 15;
/// Sizes of the bursts of the churn cases.
const BURST: std::ops::RangeInclusive<usize> = 64..=4096;

/// Work of a case.
#[derive(Clone)]
enum Work {
    /// Fills an empty space, which includes its growth.
    Sequential,
    /// Frees a random half of a full space and allocates it again.
    Refill,
    /// A steady state: bursts that free random used indices, each followed by the same number of
    /// allocations. Only the allocator's own work is timed.
    Churn(Churn),
}

#[derive(Clone)]
struct Churn {
    used: u32,
    pairs: usize,
    /// Sum of all indices that the last lowest-first contender returned, and its round.
    agreed: Rc<Cell<(usize, u64)>>,
}

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let slots = run.options.size(SLOTS, QUICK_SLOTS);
    let large = run.options.size(LARGE_SLOTS, QUICK_SLOTS * 4);
    let pairs = run.options.size(CHURN_PAIRS, QUICK_CHURN_PAIRS);
    let churn = |slots: u32, free_permille: u64| {
        let used = slots - (u64::from(slots) * free_permille / 1000) as u32;
        Work::Churn(Churn { used, pairs, agreed: Rc::default() })
    };
    for (case, slots, work) in [
        ("sequential", slots, Work::Sequential),
        ("refill", slots, Work::Refill),
        ("churn-90", slots, churn(slots, 100)),
        ("churn-999", slots, churn(slots, 1)),
        ("churn-90-16m", large, churn(large, 100)),
    ] {
        run.case(case, || {
            Ok(vec![
                contender::<AddressSpace>(slots, &work),
                contender::<LastLeaf>(slots, &work),
                contender::<BitSet>(slots, &work),
                contender::<Bitmap>(slots, &work),
                contender::<ArticleTree>(slots, &work),
                contender::<slab::Slab<()>>(slots, &work),
                contender::<FreeSet>(slots, &work),
                contender::<FreeList>(slots, &work),
            ])
        })?;
    }
    Ok(())
}

fn contender<S: IndexSpace + 'static>(slots: u32, work: &Work) -> Contender<'static> {
    match work.clone() {
        Work::Sequential => Contender::new(S::NAME, move || sequential::<S>(slots)),
        Work::Refill => {
            let mut random = Random::new(2);
            Contender::new(S::NAME, move || refill::<S>(slots, &mut random))
        }
        Work::Churn(churn) => {
            let mut state: Option<Churned<S>> = None;
            Contender::new(S::NAME, move || {
                state.get_or_insert_with(|| Churned::new(slots, churn.used)).round(slots, &churn)
            })
        }
    }
}

fn sequential<S: IndexSpace>(slots: u32) -> Round {
    let mut space = S::with_capacity(slots);
    let start = Instant::now();
    let mut sum = 0;
    for _ in 0..slots {
        sum += u64::from(black_box(space.allocate()));
    }
    let mut figures = vec![Figure::time_since(start, slots as usize)];
    if sum != u64::from(slots) * u64::from(slots - 1) / 2 {
        return Err("the indices are not 0, 1, 2, …".into());
    }
    let bits = space.size_bytes().map(|bytes| bytes as f64 * 8.0 / f64::from(slots));
    figures.extend(bits.map(|bits| Figure::new("bits", "bits/slot", bits)));
    Ok(figures)
}

fn refill<S: IndexSpace>(slots: u32, random: &mut Random) -> Round {
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
    check_different(&indices, slots)?;
    Ok(vec![figure])
}

/// A space in its steady state.
struct Churned<S> {
    space: S,
    indices: Vec<u32>,
    random: Random,
    round: usize,
}

impl<S: IndexSpace> Churned<S> {
    fn new(slots: u32, used: u32) -> Self {
        let mut space = S::with_capacity(slots);
        let indices = (0..used).map(|_| space.allocate()).collect();
        Self { space, indices, random: Random::new(3), round: 0 }
    }

    fn round(&mut self, slots: u32, churn: &Churn) -> Round {
        self.round += 1;
        let (ns, sum) = self.run(churn.pairs);
        check_different(&self.indices, slots)?;
        if S::LOWEST_FIRST {
            let (last_round, last_sum) = churn.agreed.replace((self.round, sum));
            if last_round == self.round && last_sum != sum {
                return Err("the returned indices are not the lowest free ones".into());
            }
        }
        Ok(vec![Figure::time_ns_per_op(ns, 2 * churn.pairs)])
    }

    /// Time in nanoseconds, and a sum that depends on the order of all returned indices.
    fn run(&mut self, pairs: usize) -> (f64, u64) {
        let Self { space, indices, random, .. } = self;
        let indices = &mut indices[..];
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
}

fn check_different(indices: &[u32], slots: u32) -> Result<(), String> {
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
