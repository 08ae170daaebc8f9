use core::ops::Range;

use crate::{MAX_PARTS, part_runs::PartRuns};

/// Ranges of a mesh's parts, which are adjacent from `first` on in one buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartRanges {
    /// End of each part, relative to `first`. Unused parts end where the last one does.
    ends: [u32; MAX_PARTS],
    pub(crate) first: u32,
    pub(crate) buffer: u16,
    /// Parts that have elements, one bit each.
    filled: u8,
}

impl PartRanges {
    /// Ranges of a mesh without elements.
    pub(crate) const EMPTY: Self = Self { ends: [0; MAX_PARTS], first: 0, buffer: 0, filled: 0 };

    /// Sets the sizes of the parts, at most [`MAX_PARTS`], and returns their sum. If the sum
    /// exceeds 32 bits, the ranges are invalid.
    #[inline]
    pub(crate) fn set_counts(&mut self, part_counts: &[u32]) -> u64 {
        let (mut has, mut end) = ([0; MAX_PARTS], 0);
        for (part, part_end) in self.ends.iter_mut().enumerate() {
            let count = part_counts.get(part).copied().unwrap_or(0);
            end += u64::from(count);
            *part_end = end as u32;
            has[part] = u8::from(count > 0);
        }
        // Gathers eight bytes to eight bits: byte `n` times bit `56 - 7n` is bit `56 + n`.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        self.filled = (u64::from_le_bytes(has).wrapping_mul(GATHER) >> 56) as u8;
        end
    }

    /// Total number of elements.
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.ends[MAX_PARTS - 1]
    }

    /// Number of elements of each part within `held`, relative to `first`.
    pub(crate) fn counts_within(&self, held: &Range<u32>) -> [u32; MAX_PARTS] {
        let mut start = 0;
        self.ends.map(|end| {
            let part = core::mem::replace(&mut start, end)..end;
            part.end.min(held.end).saturating_sub(part.start.max(held.start))
        })
    }

    /// Number of parts that have elements.
    #[inline]
    pub(crate) const fn part_count(&self) -> u32 {
        self.filled.count_ones()
    }

    /// Passes the elements of each run of parts to `emit`, in order.
    #[inline]
    pub(crate) fn for_each_run(&self, runs: &PartRuns, mut emit: impl FnMut(Range<u32>)) {
        for &(first, stop) in runs.bounds() {
            // No run ends before its first part; the modulo lets the compiler omit the bounds
            // check.
            let end_of = |part: u8| self.ends[usize::from(part) % MAX_PARTS];
            let start = if first == 0 { 0 } else { end_of(first - 1) };
            emit(start..end_of(stop.wrapping_sub(1)));
        }
    }

    /// Parts that have elements, one bit each.
    #[inline]
    pub(crate) const fn filled(&self) -> u8 {
        self.filled
    }
}
