use core::ops::Range;

use crate::{MAX_PARTS, PartSet};

/// Where a mesh's parts lie: side by side from `first` on, in one buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartRanges {
    /// Where each part ends, counted from `first`. Unused parts end where the last does.
    ends: [u32; MAX_PARTS],
    pub(crate) first: u32,
    pub(crate) buffer: u16,
    /// The parts that have elements, one bit each.
    filled: u8,
}

impl PartRanges {
    /// No elements.
    pub(crate) const EMPTY: Self = Self { ends: [0; MAX_PARTS], first: 0, buffer: 0, filled: 0 };

    /// Cuts into parts of these many elements, [`MAX_PARTS`] at the most, and returns the
    /// sum of these. Where that is beyond 32 bits the parts mean nothing.
    #[inline]
    pub(crate) fn set_counts(&mut self, part_counts: &[u32]) -> u64 {
        let (mut has, mut end) = ([0; MAX_PARTS], 0);
        for (part, part_end) in self.ends.iter_mut().enumerate() {
            let count = part_counts.get(part).copied().unwrap_or(0);
            end += u64::from(count);
            *part_end = end as u32;
            has[part] = u8::from(count > 0);
        }
        // Byte `n` times bit `56 - 7n` is bit `56 + n`: eight bytes become eight bits.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        self.filled = (u64::from_le_bytes(has).wrapping_mul(GATHER) >> 56) as u8;
        end
    }

    /// Elements in all.
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.ends[MAX_PARTS - 1]
    }

    /// How many elements of each part lie within `held`, counted from `first`.
    pub(crate) fn counts_within(&self, held: &Range<u32>) -> [u32; MAX_PARTS] {
        let mut start = 0;
        self.ends.map(|end| {
            let part = core::mem::replace(&mut start, end)..end;
            part.end.min(held.end).saturating_sub(part.start.max(held.start))
        })
    }

    /// Parts that have elements.
    #[inline]
    pub(crate) const fn part_count(&self) -> u32 {
        self.filled.count_ones()
    }

    /// Hands each run of visible parts to `emit`, in order.
    ///
    /// A run goes from a visible part to before the next hidden one; empty parts are
    /// neither. So there is one step a run, not one a part.
    #[inline]
    pub(crate) fn visible_runs(&self, parts: PartSet, mut emit: impl FnMut(Range<u32>)) {
        let mut visible = u32::from(self.filled & parts.bits());
        let hidden = u32::from(self.filled & !parts.bits()) | 1 << MAX_PARTS;
        while visible != 0 {
            let first = visible.trailing_zeros();
            let stop = (hidden & !0 << first).trailing_zeros();
            let start = if first == 0 { 0 } else { self.ends[first as usize - 1] };
            emit(start..self.ends[stop as usize - 1]);
            visible &= !0 << stop;
        }
    }
}
