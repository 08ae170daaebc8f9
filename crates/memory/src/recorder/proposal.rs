use alloc::{vec, vec::Vec};
use core::fmt;

use super::record::Record;
use crate::{SlotClass, SmallObjectsConfig};

/// Alignment of all slots, in bytes.
const SLOT_ALIGN_BYTES: u64 = SmallObjectsConfig::GRANULE_BYTES as u64;

/// Limits of a [`Proposal`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProposalConfig {
    /// Maximum number of size classes, at most [`SmallObjectsConfig::MAX_CLASSES`]. More classes
    /// waste less inside slots and more in empty slots. Default: 7.
    pub classes: usize,
    /// Maximum size of objects in the classes, in bytes, at most
    /// [`SmallObjectsConfig::MAX_SLOT_BYTES`]. Default: 128.
    pub largest_bytes: usize,
    /// Additional slots beyond the recorded peaks, in percent. Default: 25.
    pub spare_percent: usize,
    /// Additional slots of each class, beyond those of `spare_percent`. In a
    /// [`GlobalSmallObjects`](crate::GlobalSmallObjects), each thread caches free slots of each
    /// class. Default: 0.
    pub spare_slots: usize,
}

impl Default for ProposalConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl ProposalConfig {
    /// The default limits, for constants.
    pub const DEFAULT: Self =
        Self { classes: 7, largest_bytes: 128, spare_percent: 25, spare_slots: 0 };

    /// Replaces [`classes`](Self::classes).
    #[must_use]
    pub const fn with_classes(mut self, classes: usize) -> Self {
        self.classes = classes;
        self
    }

    /// Replaces [`largest_bytes`](Self::largest_bytes).
    #[must_use]
    pub const fn with_largest_bytes(mut self, largest_bytes: usize) -> Self {
        self.largest_bytes = largest_bytes;
        self
    }

    /// Replaces [`spare_percent`](Self::spare_percent).
    #[must_use]
    pub const fn with_spare_percent(mut self, spare_percent: usize) -> Self {
        self.spare_percent = spare_percent;
        self
    }

    /// Replaces [`spare_slots`](Self::spare_slots).
    #[must_use]
    pub const fn with_spare_slots(mut self, spare_slots: usize) -> Self {
        self.spare_slots = spare_slots;
        self
    }
}

/// Proposed size classes for a [`Record`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// Sorted by size.
    pub classes: Vec<SlotClass>,
    /// Unused fraction of the slots' bytes, if each size were at its peak, in percent.
    pub waste_percent: f64,
    /// Fraction of all allocations that the classes serve, in percent.
    pub served_percent: f64,
}

impl Proposal {
    /// Returns the config for a [`SmallObjects`](crate::SmallObjects) or a
    /// [`GlobalSmallObjects`](crate::GlobalSmallObjects).
    pub fn config(&self) -> SmallObjectsConfig<'_> {
        SmallObjectsConfig { classes: &self.classes }
    }
}

impl Record {
    /// Proposes the size classes, and their numbers of slots, that waste least for the recorded
    /// data.
    ///
    /// The size of a class is always the largest size that it serves, rounded up to a multiple of
    /// the strictest alignment. A choice therefore cuts the sorted sizes into runs. The best cut is
    /// found by dynamic programming, as W. D. Fisher groups sorted numbers in *On Grouping for
    /// Maximum Homogeneity* (1958): the best cut of the first n sizes into k runs is a best cut of
    /// fewer sizes into k − 1 runs, plus one run. The cost of a run is the rounding to its slot
    /// size, with each size at its peak. The sum of the peaks is also its number of slots, which suffices for the same
    /// program even if its sizes peak at different times.
    ///
    /// # Cost
    /// O(classes · sizes²).
    pub fn propose(&self, config: &ProposalConfig) -> Proposal {
        let points = self.points(config.largest_bytes);
        let max_classes = config.classes.min(SmallObjectsConfig::MAX_CLASSES);
        let runs = cheapest_runs(&points, max_classes);
        let mut proposal =
            Proposal { classes: Vec::new(), waste_percent: 0.0, served_percent: 0.0 };
        let (mut slot_bytes, mut used_bytes, mut served) = (0.0, 0.0, 0.0);
        for run in runs {
            let size_bytes = run_size(run);
            let peak: u64 = run.iter().map(|point| point.peak).sum();
            let spare = peak.saturating_mul(config.spare_percent as u64).div_ceil(100);
            let slots = peak.saturating_add(spare).saturating_add(config.spare_slots as u64);
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

    /// Returns the sizes that can have a slot. Sizes that round to the same slot size stay separate
    /// points; there are few.
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

/// Line of the histogram.
struct Point {
    size: u64,
    align: u64,
    peak: u64,
    allocations: u64,
}

/// Returns the slot size of a run. A multiple of the strictest alignment is one of all.
fn run_size(run: &[Point]) -> u64 {
    let size = run.iter().map(|point| point.size).max().unwrap_or(0);
    let align = run.iter().map(|point| point.align).max().unwrap_or(SLOT_ALIGN_BYTES);
    size.next_multiple_of(align)
}

/// Cuts the points into at most `max_runs` runs of least waste, or fewer if the waste is equal.
fn cheapest_runs(points: &[Point], max_runs: usize) -> Vec<&[Point]> {
    let max_runs = max_runs.min(points.len());
    if max_runs == 0 {
        return Vec::new();
    }
    // waste[from][to]: waste of the points from..to in one run.
    let waste: Vec<Vec<u128>> = (0..points.len()).map(|from| wastes_from(points, from)).collect();
    // best[k][n]: the least waste of the first n points in k + 1 runs, and the start of the last of
    // these runs.
    let in_one_run = |n: usize| if n == 0 { (u128::MAX, 0) } else { (waste[0][n], 0) };
    let mut best: Vec<Vec<(u128, usize)>> = vec![(0..=points.len()).map(in_one_run).collect()];
    for k in 1..max_runs {
        let with_fewer_runs = &best[k - 1];
        let cheapest = |n: usize| {
            let cut_at = |cut: usize| (with_fewer_runs[cut].0.saturating_add(waste[cut][n]), cut);
            (k..n).map(cut_at).min().unwrap_or((u128::MAX, 0))
        };
        let row = (0..=points.len()).map(cheapest).collect();
        best.push(row);
    }
    let all = points.len();
    let fewest = (0..max_runs).min_by_key(|&k| (best[k][all].0, k)).unwrap_or(0);
    let (mut runs, mut n) = (Vec::new(), all);
    for k in (0..=fewest).rev() {
        let start = best[k][n].1;
        runs.push(&points[start..n]);
        n = start;
    }
    runs.reverse();
    runs
}

/// Returns the waste of the run of points `from..to`, for every `to`.
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
