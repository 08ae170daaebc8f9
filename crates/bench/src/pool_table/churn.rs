//! `churn-defrag`: an hour's worth of churn, then defragmentation frame by frame until it is
//! complete.

use std::{collections::BTreeMap, time::Instant};

use drystone_pool::{Access, MoveBudget, PoolStats, RangeState};

use super::steady::{FRAMES_IN_FLIGHT, MAX_QUADS, Meshes, RANGES_PERCENT, SteadyPool};
use crate::{
    Contender, Error, Failure, Figure, Run,
    rounds::{Round, elapsed_ns},
};

/// Number of meshes in the pool: about ten million quads.
const MESHES: usize = 20_000;
const QUICK_MESHES: usize = 5_000;
/// Number of replacements: an hour of five per frame at 60 frames per second.
const REPLACEMENTS: usize = 1_000_000;
const QUICK_REPLACEMENTS: usize = 10_000;
const REPLACEMENTS_PER_FRAME: usize = 50;
const BUFFERS: u32 = 6;
/// Budget of defragmentation per frame.
const BUDGET: MoveBudget = MoveBudget::DEFAULT.with_bytes(256 << 10);
/// Result that defragmentation must reach. Every buffer but one must be used to this share. In the
/// remaining buffer, this share of the free memory must be in one range.
const GOAL_PERCENT: u64 = 95;
/// Frames per buffer that may pass while defragmentation searches its meshes or waits for a free
/// range.
const SEARCH_FRAMES: u64 = 4;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let meshes = run.options.size(MESHES, QUICK_MESHES);
    let replacements = run.options.size(REPLACEMENTS, QUICK_REPLACEMENTS);
    let contender = |name, access| {
        let mut seed = 40;
        Contender::new(name, move || {
            seed += 1;
            let mut churn = Churn::new(Meshes::random(meshes, seed), access)?;
            let ns = churn.replace(replacements)?;
            let before = churn.0.pool.stats();
            let mut figures = vec![Figure::new("time", "ns/replacement", ns / replacements as f64)];
            figures.extend(churn.defragment()?);
            churn.check_goal(&before)?;
            figures.extend(churn.reserved_figures(&before));
            Ok(figures)
        })
    };
    run.case("churn-defrag", || {
        let direct = contender("drystone-direct", Access::Direct);
        Ok(vec![contender("drystone", Access::Staged), direct])
    })
}

/// A pool of several buffers.
struct Churn(SteadyPool<u32>);

impl Churn {
    fn new(meshes: Meshes, access: Access) -> Result<Self, Failure> {
        let capacity = (meshes.quads() * 100 / RANGES_PERCENT) as u32;
        let config = super::fixed_buffers(BUFFERS, capacity);
        Ok(Self(SteadyPool::new(config, access, meshes)?))
    }

    /// Replaces meshes by others of other sizes. Returns the total time in nanoseconds.
    fn replace(&mut self, replacements: usize) -> Result<f64, Failure> {
        self.0.meshes.make_plan(replacements);
        let start = Instant::now();
        for turn in 0..replacements {
            self.0.replace(turn)?;
            if turn % REPLACEMENTS_PER_FRAME == 0 {
                self.0.end_frame();
            }
        }
        Ok(elapsed_ns(start))
    }

    /// Defragments until it is complete, and returns the figures.
    fn defragment(&mut self) -> Round {
        let max_frames = self.max_frames();
        let (mut moved_bytes, mut max_bytes, mut slowest_ns) = (0, 0, 0.0_f64);
        for frame in 1..=max_frames {
            let start = Instant::now();
            let moved = self.0.pool.defragment(&BUDGET, &mut self.0.backend);
            slowest_ns = slowest_ns.max(elapsed_ns(start));
            if moved.bytes > BUDGET.bytes || moved.moves > BUDGET.moves {
                return Err(format!("{moved:?} is beyond the budget").into());
            }
            moved_bytes += moved.bytes;
            max_bytes = moved.bytes.max(max_bytes);
            self.0.end_frame();
            if moved.is_done {
                return Ok(vec![
                    Figure::new("frames", "count", frame as f64),
                    Figure::new("frames-stated", "count", max_frames as f64),
                    Figure::new("moved", "bytes", moved_bytes as f64),
                    Figure::new("moved-a-frame", "bytes", max_bytes as f64),
                    Figure::new("slowest", "us/frame", slowest_ns / 1e3),
                ]);
            }
        }
        Err(format!("not complete after {max_frames} frames").into())
    }

    /// Returns the largest number of frames that defragmentation may take. Each buffer is compacted
    /// and filled up once, and the last one only compacted, so the moved data are at most the
    /// content of these buffers. A frame uses its budget, except for the rest into which the next
    /// mesh does not fit. With direct writes, a range that was left is free only after the frames
    /// in flight. Then each step may take that many frames more.
    fn max_frames(&self) -> u64 {
        let held = |(taken, free): &(u64, Vec<u64>)| (*taken, taken + free.iter().sum::<u64>());
        let is_full = |(taken, all): &(u64, u64)| taken * 100 >= all * GOAL_PERCENT;
        let buffers = self.buffers();
        let not_full: Vec<_> = buffers.values().map(held).filter(|it| !is_full(it)).collect();
        let element_bytes = size_of::<u64>() as u64;
        let bytes = not_full.iter().map(|(_, all)| all * element_bytes).sum::<u64>();
        let frame_bytes = BUDGET.bytes - u64::from(MAX_QUADS) * element_bytes;
        let steps = bytes.div_ceil(frame_bytes) + SEARCH_FRAMES * not_full.len() as u64;
        match self.0.backend.0 {
            Access::Staged => steps,
            Access::Direct => steps * (1 + FRAMES_IN_FLIGHT),
        }
    }

    /// Returns the used elements and the free ranges of each buffer.
    fn buffers(&self) -> BTreeMap<u32, (u64, Vec<u64>)> {
        let mut buffers = BTreeMap::<u32, (u64, Vec<u64>)>::new();
        for range in self.0.pool.ranges() {
            let count = u64::from(range.elements.end - range.elements.start);
            let (taken, free) = buffers.entry(range.buffer).or_default();
            match range.state {
                RangeState::Free => free.push(count),
                RangeState::Live(_) | RangeState::Waiting => *taken += count,
            }
        }
        buffers
    }

    /// Checks that every buffer but one is full, that the free memory of that one is in one range,
    /// and that no mesh was lost.
    fn check_goal(&self, before: &PoolStats) -> Result<(), String> {
        self.0.pool.validate()?;
        let after = self.0.pool.stats();
        if (after.used, after.meshes) != (before.used, before.meshes) {
            return Err(format!("{before:?} became {after:?}"));
        }
        let mut not_full = 0;
        for (taken, free) in self.buffers().into_values() {
            let (total, largest) = (free.iter().sum::<u64>(), free.iter().max().unwrap_or(&0));
            if taken * 100 < (taken + total) * GOAL_PERCENT && taken > 0 {
                not_full += 1;
                if largest * 100 < total * GOAL_PERCENT {
                    return Err(format!(
                        "the largest free range is {largest} of {total} free elements"
                    ));
                }
            }
        }
        if not_full > 1 {
            return Err(format!("{not_full} buffers are not full"));
        }
        Ok(())
    }

    /// Figures of the reserved memory before and after, without empty buffers.
    fn reserved_figures(&mut self, before: &PoolStats) -> Vec<Figure> {
        for _ in 0..=self.0.pool.config().spare_frames {
            self.0.end_frame();
        }
        let after = self.0.pool.stats();
        let per_quad = |stats: &PoolStats| stats.capacity_bytes as f64 / stats.used as f64;
        vec![
            Figure::new("buffers", "count", f64::from(after.buffers)),
            Figure::new("bytes-before", "bytes/quad", per_quad(before)),
            Figure::new("bytes", "bytes/quad", per_quad(&after)),
        ]
    }
}
