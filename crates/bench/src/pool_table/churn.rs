//! `churn-defrag`: an hour's worth of churn, then defragmentation frame by frame until it is
//! complete.

use std::{collections::BTreeMap, time::Instant};

use drystone_pool::{
    Access, MeshHandle, MoveBudget, NullBackend, PoolConfig, PoolError, PoolStats, RangeState,
    VertexPool,
};

use super::meshes::{MAX_QUADS, Turnover};
use crate::{Contender, Error, Figure, Options, Table, rounds::elapsed_ns};

/// Number of meshes in the pool: about ten million quads.
const MESHES: usize = 20_000;
const QUICK_MESHES: usize = 5_000;
/// Number of replacements: an hour of five per frame at 60 frames per second.
const REPLACEMENTS: usize = 1_000_000;
const QUICK_REPLACEMENTS: usize = 10_000;
const REPLACEMENTS_PER_FRAME: usize = 50;
const FRAMES_IN_FLIGHT: u64 = 2;
/// Share of all buffers that is used.
const FULL_PERCENT: u64 = 85;
const BUFFERS: u32 = 6;
/// Budget of defragmentation per frame.
const BUDGET: MoveBudget = MoveBudget { bytes: 256 << 10, moves: 256 };
/// Result that defragmentation must reach. Every buffer but one must be used to this share. In the
/// remaining buffer, this share of the free memory must be in one range.
const GOAL_PERCENT: u64 = 95;
/// Frames per buffer that may pass while defragmentation searches its meshes or waits for a free
/// range.
const SEARCH_FRAMES: u64 = 4;

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    let contender = |name, access| {
        let options = options.clone();
        let mut seed = 40;
        Contender::new(name, move || {
            seed += 1;
            let mut churn = Churn::new(options.size(MESHES, QUICK_MESHES), seed, access)?;
            let replacements = options.size(REPLACEMENTS, QUICK_REPLACEMENTS);
            let ns = churn.replace(replacements)?;
            let before = churn.pool.stats();
            let mut figures = vec![Figure::new("time", "ns/replacement", ns / replacements as f64)];
            figures.extend(churn.defragment()?);
            churn.check_goal(&before)?;
            figures.extend(churn.reserved_figures(&before));
            Ok(figures)
        })
    };
    let contenders =
        vec![contender("drystone", Access::Staged), contender("drystone-direct", Access::Direct)];
    table.run_case("churn-defrag", options, contenders)
}

/// A pool of several buffers, with simulated frames.
struct Churn {
    pool: VertexPool<u64, u32>,
    backend: NullBackend,
    handles: Vec<MeshHandle>,
    turnover: Turnover,
    elements: Vec<u64>,
    frame: u64,
}

fn to_text(error: PoolError) -> String {
    error.to_string()
}

impl Churn {
    fn new(meshes: usize, seed: u64, access: Access) -> Result<Self, String> {
        let turnover = Turnover::new(meshes, seed);
        let buffer = (turnover.quads() * 100 / FULL_PERCENT / u64::from(BUFFERS)) as u32;
        let config = PoolConfig {
            min_buffer_elements: buffer,
            max_buffer_elements: buffer,
            max_buffers: BUFFERS as u16,
            ..PoolConfig::default()
        };
        let mut pool = VertexPool::new(config).map_err(to_text)?;
        let mut backend = NullBackend(access);
        let elements = vec![0; MAX_QUADS as usize];
        let mut handles = Vec::with_capacity(meshes);
        for shape in &turnover.live {
            let elements = &elements[..shape.quads as usize];
            handles.push(pool.insert(elements, &shape.parts, 0, &mut backend).map_err(to_text)?);
        }
        Ok(Self { pool, backend, handles, turnover, elements, frame: 0 })
    }

    /// Replaces meshes by others of other sizes. Returns the total time in nanoseconds.
    fn replace(&mut self, replacements: usize) -> Result<f64, String> {
        self.turnover.make_plan(replacements);
        let start = Instant::now();
        for turn in 0..replacements {
            let (at, shape) = self.turnover.plan[turn];
            let elements = &self.elements[..shape.quads as usize];
            let mesh = self.handles[at as usize];
            self.pool
                .replace(mesh, elements, &shape.parts, 0, &mut self.backend)
                .map_err(to_text)?;
            if turn % REPLACEMENTS_PER_FRAME == 0 {
                self.end_frame();
            }
        }
        Ok(elapsed_ns(start))
    }

    fn end_frame(&mut self) {
        self.frame += 1;
        self.pool.frame_submitted(self.frame);
        let completed = self.frame.saturating_sub(FRAMES_IN_FLIGHT);
        self.pool.frames_completed(completed, &mut self.backend);
    }

    /// Defragments until it is complete, and returns the figures.
    fn defragment(&mut self) -> Result<Vec<Figure>, String> {
        let max_frames = self.max_frames();
        let (mut moved_bytes, mut max_bytes, mut slowest_ns) = (0, 0, 0.0_f64);
        for frame in 1..=max_frames {
            let start = Instant::now();
            let moved = self.pool.defragment(&BUDGET, &mut self.backend);
            slowest_ns = slowest_ns.max(elapsed_ns(start));
            if moved.bytes > BUDGET.bytes || moved.moves > BUDGET.moves {
                return Err(format!("{moved:?} is beyond the budget"));
            }
            moved_bytes += moved.bytes;
            max_bytes = moved.bytes.max(max_bytes);
            self.end_frame();
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
        Err(format!("not complete after {max_frames} frames"))
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
        match self.backend.0 {
            Access::Staged => steps,
            Access::Direct => steps * (1 + FRAMES_IN_FLIGHT),
        }
    }

    /// Returns the used elements and the free ranges of each buffer.
    fn buffers(&self) -> BTreeMap<u32, (u64, Vec<u64>)> {
        let mut buffers = BTreeMap::<u32, (u64, Vec<u64>)>::new();
        for range in self.pool.ranges() {
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
        self.pool.validate()?;
        let after = self.pool.stats();
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
        for _ in 0..=self.pool.config().spare_frames {
            self.end_frame();
        }
        let after = self.pool.stats();
        let per_quad = |stats: &PoolStats| stats.capacity_bytes as f64 / stats.used as f64;
        vec![
            Figure::new("buffers", "count", f64::from(after.buffers)),
            Figure::new("bytes-before", "bytes/quad", per_quad(before)),
            Figure::new("bytes", "bytes/quad", per_quad(&after)),
        ]
    }
}
