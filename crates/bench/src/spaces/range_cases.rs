//! Cases for contenders that allocate ranges.

use std::time::Instant;

use drystone_alloc::RangeSpace;
use offset_allocator::Allocator as OffsetAllocator;

use super::ranges::{RangeAlloc, Ranges, Wide};
use crate::{
    Contender, Error, Failure, Figure, Options, Random, Run,
    rounds::{Round, elapsed_ns},
    turnover::{Turnover, random_size},
};

/// Units of the space, and of that of a quick run.
pub(super) const CAPACITY: u32 = 1 << 26;
pub(super) const QUICK_CAPACITY: u32 = 1 << 22;
/// Used share in the steady state.
const FULL_PERCENT: u64 = 85;
/// Pairs of a free and an allocation per round.
pub(super) const PAIRS: usize = 200_000;
pub(super) const QUICK_PAIRS: usize = 10_000;
/// Bounds of the sizes.
const SIZES: std::ops::RangeInclusive<u32> = 30..=20_000;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    run.case("ranges-churn", || {
        Ok(vec![
            churn_contender::<RangeSpace>(options),
            churn_contender::<Wide>(options),
            churn_contender::<OffsetAllocator<u32>>(options),
            #[cfg(feature = "peers")]
            churn_contender::<super::vma::Vma>(options),
            churn_contender::<RangeAlloc>(options),
        ])
    })?;
    run.case("ranges-fill", || {
        Ok(vec![
            fill_contender::<RangeSpace>(RangeSpace::NAME, Memory::Growing, options),
            fill_contender::<RangeSpace>("drystone-reserved", Memory::Reserved, options),
            fill_contender::<Wide>(Wide::NAME, Memory::Growing, options),
            fill_contender::<OffsetAllocator<u32>>(
                OffsetAllocator::NAME,
                Memory::Reserved,
                options,
            ),
            #[cfg(feature = "peers")]
            fill_contender::<super::vma::Vma>(super::vma::Vma::NAME, Memory::Growing, options),
        ])
    })?;
    run.case("ranges-fail", || {
        Ok(vec![
            fail_contender::<RangeSpace>(options),
            fail_contender::<OffsetAllocator<u32>>(options),
            #[cfg(feature = "peers")]
            fail_contender::<super::vma::Vma>(options),
        ])
    })
}

/// A space in its steady state.
pub(super) struct Steady<R: Ranges> {
    pub(super) space: R,
    capacity: u32,
    handles: Vec<R::Handle>,
    /// Sizes of all ranges, and those that replace them.
    sizes: Turnover<u32>,
}

impl<R: Ranges> Steady<R> {
    /// Fills a space up to the steady state.
    pub(super) fn new(capacity: u32, seed: u64) -> Result<Self, Failure> {
        let mut random = Random::new(seed);
        let mut space = R::with_capacity(capacity, capacity / *SIZES.start() / 8);
        let (mut handles, mut sizes) = (Vec::new(), Vec::new());
        let mut left = u64::from(capacity) * FULL_PERCENT / 100;
        loop {
            let size = random_size(&mut random, &SIZES);
            let Some(rest) = left.checked_sub(size.into()) else { break };
            left = rest;
            handles.push(space.allocate(size).ok_or("full at less than the steady state")?);
            sizes.push(size);
        }
        let sizes = Turnover::new(sizes, random, |random| random_size(random, &SIZES));
        Ok(Self { space, capacity, handles, sizes })
    }

    /// Frees and allocates. Returns the total time in nanoseconds.
    pub(super) fn churn(&mut self, pairs: usize) -> Result<f64, Failure> {
        self.sizes.make_plan(pairs);
        let start = Instant::now();
        for &(at, size) in &self.sizes.plan {
            let handle = &mut self.handles[at as usize];
            self.space.free(*handle);
            *handle = self.space.allocate(size).ok_or("full in the steady state")?;
        }
        Ok(elapsed_ns(start))
    }

    /// Frees a random half of all ranges.
    pub(super) fn thin_out(&mut self) {
        for _ in 0..self.handles.len() / 2 {
            let at = self.sizes.random.below(self.handles.len());
            self.space.free(self.handles.swap_remove(at));
            self.sizes.live.swap_remove(at);
        }
    }

    /// Allocates until a range does not fit.
    fn fill(&mut self) {
        loop {
            let size = random_size(&mut self.sizes.random, &SIZES);
            let Some(handle) = self.space.allocate(size) else { return };
            self.handles.push(handle);
            self.sizes.live.push(size);
        }
    }

    /// Frees and allocates. Returns the 99.9th percentile of the times of the pairs.
    fn time_p999(&mut self, pairs: usize) -> Result<f64, Failure> {
        self.sizes.make_plan(pairs);
        let mut times = Vec::with_capacity(pairs);
        for &(at, size) in &self.sizes.plan {
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
        let ranges = self.handles.iter().zip(&self.sizes.live);
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
        match end > self.capacity {
            true => Err(format!("{end} is beyond the capacity")),
            false => Ok(end),
        }
    }

    fn churn_round(&mut self, pairs: usize) -> Round {
        let ns = self.churn(pairs)?;
        let slowest_ns = self.time_p999(pairs)?;
        let end = f64::from(self.checked_end()?) / f64::from(self.capacity);
        let mut figures = vec![
            Figure::new("time", "ns/pair", ns / pairs as f64),
            Figure::new("p999", "ns/pair", slowest_ns),
            Figure::new("high-water", "percent", end * 100.0),
        ];
        let bytes = self.space.size_bytes().map(|bytes| bytes as f64 / self.handles.len() as f64);
        figures.extend(bytes.map(|bytes| Figure::new("metadata", "bytes/range", bytes)));
        Ok(figures)
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
        steady.churn_round(pairs)
    })
}

/// Memory of the metadata while a space is filled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    /// Reserved before the first range, for all of them.
    Reserved,
    Growing,
}

/// Measures filling a new space up to the steady state: `time` without its creation and the reservation,
/// `whole` with both. offset-allocator's table has a fixed size and is written by its creation. The sizes
/// are the same for all contenders.
fn fill_contender<R: Ranges + 'static>(
    name: &'static str,
    memory: Memory,
    options: &Options,
) -> Contender<'static> {
    let capacity = options.size(CAPACITY, QUICK_CAPACITY);
    let mut random = Random::new(8);
    let mut left = u64::from(capacity) * FULL_PERCENT / 100;
    let sizes: Vec<u32> = std::iter::from_fn(|| {
        let size = random_size(&mut random, &SIZES);
        left = left.checked_sub(size.into())?;
        Some(size)
    })
    .collect();
    Contender::new(name, move || {
        let mut handles = Vec::with_capacity(sizes.len());
        let created = Instant::now();
        let mut space = R::with_capacity(capacity, sizes.len() as u32);
        if memory == Memory::Reserved && !space.reserve(sizes.len() as u32) {
            return Err("out of memory".into());
        }
        let start = Instant::now();
        for &size in &sizes {
            handles.push(space.allocate(size).ok_or("full at less than the steady state")?);
        }
        let time = Figure::time_since(start, sizes.len());
        let whole = Figure::new("whole", "ns/op", elapsed_ns(created) / sizes.len() as f64);
        let turnover =
            Turnover::new(sizes.clone(), Random::new(1), |random| random_size(random, &SIZES));
        Steady { space, capacity, handles, sizes: turnover }.checked_end()?;
        Ok(vec![time, whole])
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
        steady.fill();
        steady.checked_end()?;
        let used: u64 = steady.sizes.live.iter().map(|&size| u64::from(size)).sum();
        let percent = used as f64 / f64::from(capacity) * 100.0;
        Ok(vec![Figure::new("full", "percent", percent)])
    })
}
