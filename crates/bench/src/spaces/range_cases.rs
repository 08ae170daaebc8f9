//! Cases for contenders that allocate ranges.

use std::time::Instant;

use drystone_alloc::RangeSpace;

use super::ranges::{RangeAlloc, Ranges, Wide};
use crate::{Contender, Error, Figure, Options, Random, Table, rounds::elapsed_ns};

/// Units of the space, and of that of a quick run.
pub(super) const CAPACITY: u32 = 1 << 26;
pub(super) const QUICK_CAPACITY: u32 = 1 << 22;
/// Used share in the steady state.
const FULL_PERCENT: u64 = 85;
/// Pairs of a free and an allocation per round.
pub(super) const PAIRS: usize = 200_000;
pub(super) const QUICK_PAIRS: usize = 10_000;
/// Sizes are log-normal. These are the median, the deviation of the logarithm, and the bounds.
const MEDIAN_SIZE: f64 = 300.0;
const SIZE_DEVIATION: f64 = 1.0;
const SIZES: std::ops::RangeInclusive<u32> = 30..=20_000;
/// Live ranges per spare size. A freed size becomes spare, and a spare size is allocated, so that
/// the used share stays about the same.
const LIVE_PER_SPARE: usize = 100;

fn random_size(random: &mut Random) -> u32 {
    let size = (MEDIAN_SIZE.ln() + SIZE_DEVIATION * random.normal()).exp();
    (size as u32).clamp(*SIZES.start(), *SIZES.end())
}

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    if options.selects("ranges-churn") {
        let contenders = vec![
            churn_contender::<RangeSpace>(options),
            churn_contender::<Wide>(options),
            churn_contender::<offset_allocator::Allocator<u32>>(options),
            #[cfg(feature = "peers")]
            churn_contender::<super::vma::Vma>(options),
            churn_contender::<RangeAlloc>(options),
        ];
        table.run_case("ranges-churn", options, contenders)?;
    }
    if !options.selects("ranges-fail") {
        return Ok(());
    }
    let contenders = vec![
        fail_contender::<RangeSpace>(options),
        fail_contender::<offset_allocator::Allocator<u32>>(options),
        #[cfg(feature = "peers")]
        fail_contender::<super::vma::Vma>(options),
    ];
    table.run_case("ranges-fail", options, contenders)
}

/// A space in its steady state.
pub(super) struct Steady<R: Ranges> {
    pub(super) space: R,
    capacity: u32,
    handles: Vec<R::Handle>,
    sizes: Vec<u32>,
    spare: Vec<u32>,
    random: Random,
    /// Turns of a round: the range to free, and the size to allocate.
    plan: Vec<(u32, u32)>,
}

impl<R: Ranges> Steady<R> {
    /// Fills a space up to the steady state.
    pub(super) fn new(capacity: u32, seed: u64) -> Result<Self, String> {
        let mut random = Random::new(seed);
        let max_ranges = capacity / *SIZES.start() / 8;
        let mut space = R::with_capacity(capacity, max_ranges);
        let (mut handles, mut sizes) = (Vec::new(), Vec::new());
        let mut left = u64::from(capacity) * FULL_PERCENT / 100;
        loop {
            let size = random_size(&mut random);
            let Some(rest) = left.checked_sub(size.into()) else { break };
            left = rest;
            handles.push(space.allocate(size).ok_or("full at less than the steady state")?);
            sizes.push(size);
        }
        let waiting_count = handles.len().div_ceil(LIVE_PER_SPARE).max(1);
        let spare = (0..waiting_count).map(|_| random_size(&mut random)).collect();
        Ok(Self { space, capacity, handles, sizes, spare, random, plan: Vec::new() })
    }

    fn make_plan(&mut self, pairs: usize) {
        self.plan.clear();
        for _ in 0..pairs {
            let at = self.random.below(self.sizes.len());
            let next = self.random.below(self.spare.len());
            let spare = &mut self.spare[next];
            std::mem::swap(&mut self.sizes[at], spare);
            self.plan.push((at as u32, self.sizes[at]));
        }
    }

    /// Frees and allocates. Returns the total time in nanoseconds.
    pub(super) fn churn(&mut self, pairs: usize) -> Result<f64, String> {
        self.make_plan(pairs);
        let start = Instant::now();
        for &(at, size) in &self.plan {
            let handle = &mut self.handles[at as usize];
            self.space.free(*handle);
            *handle = self.space.allocate(size).ok_or("full in the steady state")?;
        }
        Ok(elapsed_ns(start))
    }

    /// Frees a random half of all ranges.
    pub(super) fn thin_out(&mut self) {
        for _ in 0..self.handles.len() / 2 {
            let at = self.random.below(self.handles.len());
            self.space.free(self.handles.swap_remove(at));
            self.sizes.swap_remove(at);
        }
    }

    /// Frees and allocates. Returns the 99.9th percentile of the times of the pairs.
    fn time_p999(&mut self, pairs: usize) -> Result<f64, String> {
        self.make_plan(pairs);
        let mut times = Vec::with_capacity(pairs);
        for &(at, size) in &self.plan {
            let handle = &mut self.handles[at as usize];
            let start = Instant::now();
            self.space.free(*handle);
            *handle = self.space.allocate(size).ok_or("full in the steady state")?;
            times.push(elapsed_ns(start));
        }
        times.sort_unstable_by(f64::total_cmp);
        Ok(times[pairs - 1 - pairs / 1000])
    }

    /// Returns the end of the last range, or an error if ranges overlap.
    fn checked_end(&self) -> Result<u32, String> {
        let ranges = self.handles.iter().zip(&self.sizes);
        let mut ranges: Vec<_> =
            ranges.map(|(&h, &size)| (self.space.range(h, size), size)).collect();
        ranges.sort_unstable_by_key(|(range, _)| range.start);
        let mut end = 0;
        for (range, size) in ranges {
            if range.start < end || range.end - range.start != size {
                return Err(format!("{range:?} overlaps or is not of {size} units"));
            }
            end = range.end;
        }
        if end > self.capacity {
            return Err(format!("{end} is beyond the capacity"));
        }
        Ok(end)
    }
}

fn churn_contender<R: Ranges + 'static>(options: &Options) -> Contender<'static> {
    let capacity = options.size(CAPACITY, QUICK_CAPACITY);
    let pairs = options.size(PAIRS, QUICK_PAIRS) / R::FEWER;
    let mut state: Option<Steady<R>> = None;
    Contender::new(R::NAME, move || {
        let steady = match &mut state {
            Some(steady) => steady,
            None => state.insert(Steady::new(capacity, 5)?),
        };
        let ns = steady.churn(pairs)?;
        let slowest = steady.time_p999(pairs)?;
        let end = f64::from(steady.checked_end()?) / f64::from(capacity);
        let mut figures = vec![
            Figure::new("time", "ns/pair", ns / pairs as f64),
            Figure::new("p999", "ns/pair", slowest),
            Figure::new("high-water", "percent", end * 100.0),
        ];
        let bytes =
            steady.space.size_bytes().map(|bytes| bytes as f64 / steady.handles.len() as f64);
        figures.extend(bytes.map(|bytes| Figure::new("metadata", "bytes/range", bytes)));
        Ok(figures)
    })
}

/// Measures the used share at the first failed allocation, after some time in the steady state.
fn fail_contender<R: Ranges + 'static>(options: &Options) -> Contender<'static> {
    let capacity = options.size(CAPACITY, QUICK_CAPACITY);
    let pairs = options.size(PAIRS, QUICK_PAIRS);
    let mut seed = 6;
    Contender::new(R::NAME, move || {
        seed += 1;
        let mut steady = Steady::<R>::new(capacity, seed)?;
        steady.churn(pairs)?;
        loop {
            let size = random_size(&mut steady.random);
            let Some(handle) = steady.space.allocate(size) else { break };
            steady.handles.push(handle);
            steady.sizes.push(size);
        }
        steady.checked_end()?;
        let used: u64 = steady.sizes.iter().map(|&size| u64::from(size)).sum();
        let percent = used as f64 / f64::from(capacity) * 100.0;
        Ok(vec![Figure::new("full", "percent", percent)])
    })
}
