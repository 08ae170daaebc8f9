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
    /// Parts of these many elements, [`MAX_PARTS`] at the most, at the start of buffer 0.
    #[inline]
    pub(crate) fn new(part_counts: &[u32]) -> Self {
        let mut ranges = Self { ends: [0; MAX_PARTS], first: 0, buffer: 0, filled: 0 };
        let mut end = 0;
        for (part, part_end) in ranges.ends.iter_mut().enumerate() {
            let count = part_counts.get(part).copied().unwrap_or(0);
            end += count;
            *part_end = end;
            ranges.filled |= u8::from(count > 0) << part;
        }
        ranges
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
