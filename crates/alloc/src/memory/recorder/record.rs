use alloc::vec::Vec;
use core::fmt;

use super::metadata::{ALIGNMENTS, LIFETIMES, Metadata, Totals};
use super::tally::{LINES, SizeRecord};

/// Lines of the printed table: the sizes that were asked for most.
const TABLE_LINES: usize = 32;

/// What a [`Recorder`](super::Recorder) wrote down up to a moment. Printed, it is a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    sizes: Vec<SizeRecord>,
    totals: Totals,
}

impl Record {
    /// Room for every line that there can be, so that copying allocates nothing.
    pub(super) fn with_room() -> Self {
        Self { sizes: Vec::with_capacity(LINES), totals: Totals::NONE }
    }

    pub(super) fn copy_from(&mut self, metadata: &Metadata) {
        self.totals = metadata.totals;
        let room = self.sizes.capacity();
        self.sizes.extend(metadata.lines().take(room));
    }

    /// A line for each size that occurred, or for a few that lie close together above 1024
    /// bytes, by rising size.
    pub fn sizes(&self) -> &[SizeRecord] {
        &self.sizes
    }

    /// How often something was allocated.
    pub fn allocations(&self) -> u64 {
        self.totals.allocations
    }

    /// Sum of the sizes of all allocations.
    pub fn allocated_bytes(&self) -> u64 {
        self.totals.bytes
    }

    /// Objects that live now, and how many did at most.
    pub fn live_and_peak(&self) -> (u64, u64) {
        (self.totals.live, self.totals.peak)
    }

    /// Bytes of the objects that live now, and how many there were at most.
    pub fn live_and_peak_bytes(&self) -> (u64, u64) {
        (self.totals.live_bytes, self.totals.peak_bytes)
    }

    /// Allocations for each alignment that occurred, by rising alignment.
    pub fn alignments(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = (0..ALIGNMENTS).map(|bits| (1 << bits, self.totals.alignments[bits]));
        counts.filter(|(_, count)| *count > 0)
    }

    /// Deaths by age: after fewer allocations than the first number (and not fewer than the
    /// first number of the line before) so many objects were freed.
    pub fn lifetimes(&self) -> impl Iterator<Item = (u64, u64)> {
        let used = self.totals.lifetimes.iter().rposition(|deaths| *deaths > 0);
        let count = used.map_or(0, |last| last + 1).min(LIFETIMES);
        (0..count).map(|bits| (1 << bits, self.totals.lifetimes[bits]))
    }

    /// Allocations that the metadata had no memory for, and frees of objects that were older
    /// than the recorder or missed by it.
    pub fn missed_and_unknown(&self) -> (u64, u64) {
        (self.totals.missed, self.totals.unknown)
    }

    /// The sizes asked for most, by rising size.
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
        writeln!(f, "{allocations} allocations of {bytes} bytes in all")?;
        writeln!(f, "live now {live} of {live_bytes} bytes, at most {peak} of {peak_bytes} bytes")?;
        let (missed, unknown) = self.missed_and_unknown();
        if missed + unknown > 0 {
            writeln!(f, "{missed} births missed, {unknown} frees of unknown objects")?;
        }
        writeln!(
            f,
            "\n{:>10} {:>6} {:>12} {:>7} {:>10} {:>10}   mean life in allocations, bytes",
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
            writeln!(f, "{rest:>10} more sizes, asked for less often")?;
        }
        Ok(())
    }
}
