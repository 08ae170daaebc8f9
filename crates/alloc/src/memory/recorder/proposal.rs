use alloc::{vec, vec::Vec};
use core::fmt;

use super::super::{SlotClass, SmallObjectsConfig};
use super::record::Record;

/// Slots begin at multiples of this.
const SLOT_ALIGN_BYTES: u64 = SmallObjectsConfig::GRANULE_BYTES as u64;

/// What a [`Proposal`] may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalConfig {
    /// Size classes, at most, and never more than [`SmallObjectsConfig::MAX_CLASSES`]. More
    /// waste less inside slots, and more in slots that stand empty. 7 unless told.
    pub classes: usize,
    /// Larger objects are left to another allocator, in bytes, as are all above
    /// [`SmallObjectsConfig::MAX_SLOT_BYTES`]. 128 unless told.
    pub largest_bytes: usize,
    /// Slots beyond the peaks that were recorded, in percent. 25 unless told.
    pub spare_percent: usize,
}

impl Default for ProposalConfig {
    fn default() -> Self {
        Self { classes: 7, largest_bytes: 128, spare_percent: 25 }
    }
}

/// Size classes for what was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// By rising size.
    pub classes: Vec<SlotClass>,
    /// The part of the slots' bytes that the objects would not have used, when each size was
    /// at its peak, in percent.
    pub waste_percent: f64,
    /// The part of all allocations that the classes serve, in percent.
    pub served_percent: f64,
}

impl Proposal {
    /// The config that a [`SmallObjects`](crate::memory::SmallObjects) or a
    /// [`GlobalSmallObjects`](crate::memory::GlobalSmallObjects) is made of.
    pub fn config(&self) -> SmallObjectsConfig<'_> {
        SmallObjectsConfig { classes: &self.classes }
    }
}

impl Record {
    /// The size classes, with a number of slots each, that waste least for what was
    /// recorded.
    ///
    /// A class is always the largest of the sizes that it serves, made a multiple of their
    /// strictest alignment, so choosing means cutting the sorted sizes into runs. The
    /// cheapest cut of the first sizes into k runs is a cheapest cut of fewer sizes into
    /// k − 1 runs, and one run more. A run costs what its slots are larger than its objects,
    /// with each size at its peak; the sum of the peaks is also its number of slots, enough
    /// for the same program whenever its sizes peak.
    ///
    /// # Cost
    /// O(classes · sizes²).
    pub fn propose(&self, config: &ProposalConfig) -> Proposal {
        let points = self.points(config.largest_bytes);
        let most = config.classes.min(SmallObjectsConfig::MAX_CLASSES);
        let runs = cheapest_runs(&points, most);
        let mut proposal =
            Proposal { classes: Vec::new(), waste_percent: 0.0, served_percent: 0.0 };
        let (mut slot_bytes, mut used_bytes, mut served) = (0.0, 0.0, 0.0);
        for run in runs {
            let size_bytes = run_size(run);
            let peak: u64 = run.iter().map(|point| point.peak).sum();
            let spare = peak.saturating_mul(config.spare_percent as u64).div_ceil(100);
            let slots = peak.saturating_add(spare);
            proposal.classes.push(SlotClass::new(size_bytes as usize, slots as usize));
            slot_bytes += size_bytes as f64 * peak as f64;
            used_bytes += run.iter().map(|p| p.size as f64 * p.peak as f64).sum::<f64>();
            served += run.iter().map(|point| point.allocations as f64).sum::<f64>();
        }
        if slot_bytes > 0.0 {
            proposal.waste_percent = (1.0 - used_bytes / slot_bytes) * 100.0;
            proposal.served_percent = served * 100.0 / self.allocations().max(1) as f64;
        }
        proposal
    }

    /// The sizes that may get a slot. Those that need one of the same size stay apart: there
    /// are few.
    fn points(&self, largest_bytes: usize) -> Vec<Point> {
        let largest_bytes = largest_bytes.min(SmallObjectsConfig::MAX_SLOT_BYTES) as u64;
        let small = self.sizes().iter().filter(|line| line.peak > 0);
        let points = small.map(|line| Point {
            size: line.size_bytes,
            align: line.align_bytes.max(SLOT_ALIGN_BYTES),
            peak: line.peak,
            allocations: line.allocations,
        });
        points.filter(|p| p.size.next_multiple_of(p.align) <= largest_bytes).collect()
    }
}

/// One size of the histogram.
struct Point {
    size: u64,
    align: u64,
    peak: u64,
    allocations: u64,
}

/// The slot that serves all of a run. A multiple of the strictest alignment is one of all.
fn run_size(run: &[Point]) -> u64 {
    let size = run.iter().map(|point| point.size).max().unwrap_or(0);
    let align = run.iter().map(|point| point.align).max().unwrap_or(SLOT_ALIGN_BYTES);
    size.next_multiple_of(align)
}

/// Cuts the points into at most `most` runs of least waste, and fewer where that wastes no
/// more.
fn cheapest_runs(points: &[Point], most: usize) -> Vec<&[Point]> {
    let most = most.min(points.len());
    if most == 0 {
        return Vec::new();
    }
    // waste[from][to]: of points from..to in one run.
    let waste: Vec<Vec<u128>> = (0..points.len()).map(|from| wastes_from(points, from)).collect();
    // best[k][n]: the least waste of the first n points in k + 1 runs, and where the last
    // of them begins.
    let in_one_run = |n: usize| if n == 0 { (u128::MAX, 0) } else { (waste[0][n], 0) };
    let mut best: Vec<Vec<(u128, usize)>> = vec![(0..=points.len()).map(in_one_run).collect()];
    for k in 1..most {
        let with_one_less = &best[k - 1];
        let cheapest = |n: usize| {
            let cut_at = |cut: usize| (with_one_less[cut].0.saturating_add(waste[cut][n]), cut);
            (k..n).map(cut_at).min().unwrap_or((u128::MAX, 0))
        };
        let with_these = (0..=points.len()).map(cheapest).collect();
        best.push(with_these);
    }
    let all = points.len();
    let fewest = (0..most).min_by_key(|&k| (best[k][all].0, k)).unwrap_or(0);
    let (mut runs, mut n) = (Vec::new(), all);
    for k in (0..=fewest).rev() {
        let start = best[k][n].1;
        runs.push(&points[start..n]);
        n = start;
    }
    runs.reverse();
    runs
}

/// The waste of the run of points `from..to`, for every `to`.
fn wastes_from(points: &[Point], from: usize) -> Vec<u128> {
    let (mut size, mut align) = (0, SLOT_ALIGN_BYTES);
    let (mut peak, mut used) = (0u128, 0u128);
    let mut wastes = vec![0; from + 1];
    for point in &points[from..] {
        (size, align) = (size.max(point.size), align.max(point.align));
        peak += u128::from(point.peak);
        used += u128::from(point.size) * u128::from(point.peak);
        wastes.push(u128::from(size.next_multiple_of(align)) * peak - used);
    }
    wastes
}

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>10} {:>10}", "bytes", "slots")?;
        for SlotClass { slot_bytes, slots } in &self.classes {
            writeln!(f, "{slot_bytes:>10} {slots:>10}")?;
        }
        let Self { waste_percent, served_percent, .. } = self;
        writeln!(f, "serve {served_percent:.1} % of the allocations, waste {waste_percent:.1} %")
    }
}
