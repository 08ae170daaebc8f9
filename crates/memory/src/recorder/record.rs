use alloc::vec::Vec;
use core::fmt;

use super::metadata::{ALIGNMENTS, LIFETIMES, Metadata, Totals};
use super::tally::{LINES, SizeRecord};

/// Number of lines of the printed table, for the most frequent sizes.
const TABLE_LINES: usize = 32;

/// Snapshot of the data of a [`Recorder`](super::Recorder). `Display` prints it as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    sizes: Vec<SizeRecord>,
    totals: Totals,
}

impl Record {
    /// Creates a record with memory for all possible lines, so that copying does not allocate.
    pub(super) fn with_max_lines() -> Self {
        Self { sizes: Vec::with_capacity(LINES), totals: Totals::NONE }
    }

    pub(super) fn copy_from(&mut self, metadata: &Metadata) {
        self.totals = metadata.totals;
        let max_lines = self.sizes.capacity();
        self.sizes.extend(metadata.lines().take(max_lines));
    }

    /// Returns a line for each size that occurred, in ascending order. Above 1024 bytes, similar
    /// sizes share a line.
    pub fn sizes(&self) -> &[SizeRecord] {
        &self.sizes
    }

    /// Total number of allocations.
    pub fn allocations(&self) -> u64 {
        self.totals.allocations
    }

    /// Sum of the sizes of all allocations, in bytes.
    pub fn allocated_bytes(&self) -> u64 {
        self.totals.bytes
    }

    /// Number of live objects: present and maximum.
    pub fn live_and_peak(&self) -> (u64, u64) {
        (self.totals.live, self.totals.peak)
    }

    /// Size of the live objects in bytes: present and maximum.
    pub fn live_and_peak_bytes(&self) -> (u64, u64) {
        (self.totals.live_bytes, self.totals.peak_bytes)
    }

    /// Iterates over the alignments that occurred, in ascending order, with their numbers of
    /// allocations.
    pub fn alignments(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = (0..ALIGNMENTS).map(|bits| (1 << bits, self.totals.alignments[bits]));
        counts.filter(|(_, count)| *count > 0)
    }

    /// Histogram of lifetimes, in ascending order: upper bound (exclusive) in allocations, and
    /// number of objects freed at this age. The lower bound is the upper bound of the previous
    /// entry.
    pub fn lifetimes(&self) -> impl Iterator<Item = (u64, u64)> {
        let used = self.totals.lifetimes.iter().rposition(|deaths| *deaths > 0);
        let count = used.map_or(0, |last| last + 1).min(LIFETIMES);
        (0..count).map(|bits| (1 << bits, self.totals.lifetimes[bits]))
    }

    /// Number of allocations without memory for the metadata, and of frees of unknown objects,
    /// which are older than the recorder or were missed by it.
    pub fn missed_and_unknown(&self) -> (u64, u64) {
        (self.totals.missed, self.totals.unknown)
    }

    /// Returns the most frequent sizes, in ascending order of size.
    fn most_frequent(&self) -> Vec<&SizeRecord> {
        let mut lines: Vec<_> = self.sizes.iter().collect();
        lines.sort_by_key(|line| core::cmp::Reverse(line.allocations));
        lines.truncate(TABLE_LINES);
        lines.sort_by_key(|line| line.size_bytes);
        lines
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Totals { allocations, bytes, live, peak, live_bytes, peak_bytes, .. } = self.totals;
        writeln!(f, "{allocations} allocations of {bytes} bytes in total")?;
        writeln!(f, "live: {live} of {live_bytes} bytes, peak: {peak} of {peak_bytes} bytes")?;
        let (missed, unknown) = self.missed_and_unknown();
        if missed + unknown > 0 {
            writeln!(f, "{missed} allocations missed, {unknown} frees of unknown objects")?;
        }
        writeln!(
            f,
            "\n{:>10} {:>6} {:>12} {:>7} {:>10} {:>10}   mean lifetime in allocations, bytes",
            "bytes", "align", "allocations", "percent", "live", "peak"
        )?;
        let frequent = self.most_frequent();
        for line in &frequent {
            let percent = line.allocations as f64 * 100.0 / allocations.max(1) as f64;
            writeln!(
                f,
                "{:>10} {:>6} {:>12} {percent:>7.2} {:>10} {:>10} {:>12.0} {:>12.0}",
                line.size_bytes,
                line.align_bytes,
                line.allocations,
                line.live,
                line.peak,
                line.mean_lifetime_allocations(),
                line.mean_lifetime_bytes(),
            )?;
        }
        let rest = self.sizes.len() - frequent.len();
        if rest > 0 {
            writeln!(f, "{rest:>10} more sizes, less frequent")?;
        }
        Ok(())
    }
}
