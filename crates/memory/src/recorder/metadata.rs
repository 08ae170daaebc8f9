use core::alloc::Layout;

use super::tally::{LINES, SizeRecord, line_of};
use crate::MemorySource;
use crate::live_table::{Entry, LiveTable, Zeroable, ZeroedSlice};

/// Number of alignments, indexed by their logarithm: up to 2³¹, beyond all practical ones.
pub(super) const ALIGNMENTS: usize = 32;
/// Number of lifetimes, indexed by the logarithm of the allocations between allocation and free.
pub(super) const LIFETIMES: usize = 48;

/// Recorded data.
pub(super) struct Metadata {
    source: &'static dyn MemorySource,
    lines: ZeroedSlice<SizeRecord>,
    live: LiveTable<Birth>,
    pub(super) totals: Totals,
}

/// Recorded data of a live object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Birth {
    address: u64,
    size_bytes: u64,
    /// Allocations and bytes before this object's.
    allocations_before: u64,
    bytes_before: u64,
}

// SAFETY: integers, all of whose bit patterns are valid.
unsafe impl Zeroable for Birth {}

impl Entry for Birth {
    fn address(&self) -> u64 {
        self.address
    }
}

/// Counters over all sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) allocations: u64,
    pub(super) bytes: u64,
    pub(super) live_bytes: u64,
    pub(super) peak_bytes: u64,
    pub(super) live: u64,
    pub(super) peak: u64,
    /// Allocations without memory for the metadata.
    pub(super) missed: u64,
    /// Frees of objects that were not recorded.
    pub(super) unknown: u64,
    /// Allocations, indexed by the logarithm of their alignment.
    pub(super) alignments: [u64; ALIGNMENTS],
    /// Frees, indexed by the bits of the number of allocations between allocation and free: 0, 1,
    /// 2–3, 4–7 and so on.
    pub(super) lifetimes: [u64; LIFETIMES],
}

impl Totals {
    pub(super) const NONE: Self = Self {
        allocations: 0,
        bytes: 0,
        live_bytes: 0,
        peak_bytes: 0,
        live: 0,
        peak: 0,
        missed: 0,
        unknown: 0,
        alignments: [0; ALIGNMENTS],
        lifetimes: [0; LIFETIMES],
    };
}

impl Metadata {
    pub(super) const fn new(source: &'static dyn MemorySource) -> Self {
        let lines = ZeroedSlice::empty();
        Self { source, lines, live: LiveTable::new(), totals: Totals::NONE }
    }

    /// Iterates over the lines of all sizes that occurred, in ascending order.
    #[cfg(feature = "alloc")]
    pub(super) fn lines(&self) -> impl Iterator<Item = &SizeRecord> {
        self.lines.iter().filter(|line| line.allocations > 0 || line.peak > 0)
    }

    pub(super) fn allocated(&mut self, address: usize, layout: Layout) {
        let birth = Birth {
            address: address as u64,
            size_bytes: layout.size() as u64,
            allocations_before: self.totals.allocations,
            bytes_before: self.totals.bytes,
        };
        self.totals.allocations += 1;
        self.totals.bytes = self.totals.bytes.saturating_add(birth.size_bytes);
        self.totals.alignments[(layout.align().ilog2() as usize).min(ALIGNMENTS - 1)] += 1;
        if !self.has_lines() || !self.live.insert(self.source, birth) {
            self.totals.missed += 1;
            return;
        }
        self.lines[line_of(layout.size())].allocated(birth.size_bytes, layout.align() as u64);
        let totals = &mut self.totals;
        totals.live += 1;
        totals.peak = totals.peak.max(totals.live);
        totals.live_bytes = totals.live_bytes.saturating_add(birth.size_bytes);
        totals.peak_bytes = totals.peak_bytes.max(totals.live_bytes);
    }

    pub(super) fn freed(&mut self, address: usize) {
        let Some(birth) = self.live.remove(address as u64) else {
            self.totals.unknown += 1;
            return;
        };
        // The object's own allocation does not count.
        let allocations = self.totals.allocations - birth.allocations_before;
        let allocations = allocations.saturating_sub(1);
        let bytes = self.totals.bytes - birth.bytes_before;
        let bytes = bytes.saturating_sub(birth.size_bytes);
        self.lines[line_of(birth.size_bytes as usize)].freed(allocations, bytes);
        let bits = (u64::BITS - allocations.leading_zeros()) as usize;
        self.totals.lifetimes[bits.min(LIFETIMES - 1)] += 1;
        self.totals.live -= 1;
        self.totals.live_bytes = self.totals.live_bytes.saturating_sub(birth.size_bytes);
    }

    pub(super) fn reset(&mut self) {
        self.lines.iter_mut().for_each(SizeRecord::reset);
        let Totals { live, live_bytes, .. } = self.totals;
        self.totals =
            Totals { live, peak: live, live_bytes, peak_bytes: live_bytes, ..Totals::NONE };
        for birth in self.live.iter_mut() {
            // Allocated before everything that is counted from now on.
            (birth.allocations_before, birth.bytes_before) = (0, 0);
        }
    }

    fn has_lines(&mut self) -> bool {
        if self.lines.is_empty()
            && let Some(lines) = ZeroedSlice::new(self.source, LINES)
        {
            self.lines = lines;
        }
        !self.lines.is_empty()
    }
}
