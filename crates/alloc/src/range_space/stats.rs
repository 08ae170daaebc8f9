use super::{RangeSpace, nodes::START};
use crate::{Error, Offset};

/// Figures of a [`RangeSpace`], in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeStats<O = u32> {
    /// The whole space.
    pub capacity: O,
    /// Units in live ranges.
    pub used: O,
    /// Units in gaps.
    pub free: O,
    /// The largest gap.
    pub largest_free: O,
    /// How many ranges are live.
    pub live_blocks: u32,
    /// How many gaps there are.
    pub free_blocks: u32,
    /// Units handed out beyond those asked for: always 0 here, because sizes are never
    /// rounded. Size classes pay for their speed in these.
    pub internal_waste: O,
}

impl<O: Offset> RangeStats<O> {
    /// The error that refuses `requested` units, with these figures.
    pub fn full(&self, requested: u64) -> Error {
        let (largest_free, total_free) = (self.largest_free.into(), self.free.into());
        Error::Full { requested, largest_free, total_free }
    }

    /// The part of what is free that is not in the largest gap, 0 to 1: what a request for
    /// all of it would miss.
    pub fn external_fragmentation(&self) -> f64 {
        let (free, largest) = (self.free.into() as f64, self.largest_free.into() as f64);
        if free == 0.0 { 0.0 } else { 1.0 - largest / free }
    }

    /// The part of what is handed out that nobody asked for, 0 to 1.
    pub fn internal_fragmentation(&self) -> f64 {
        let (used, waste) = (self.used.into() as f64, self.internal_waste.into() as f64);
        if used == 0.0 { 0.0 } else { waste / used }
    }
}

impl<O: Offset> RangeSpace<O> {
    /// The figures.
    ///
    /// # Cost
    /// O(gaps about as large as the largest).
    pub fn stats(&self) -> RangeStats<O> {
        RangeStats {
            capacity: self.capacity,
            used: self.used,
            free: self.capacity - self.used,
            largest_free: self.largest_free(),
            live_blocks: self.live_blocks,
            free_blocks: self.bins.len(),
            internal_waste: O::default(),
        }
    }

    /// Units of the whole space.
    #[inline]
    pub const fn capacity(&self) -> O {
        self.capacity
    }

    /// Units in live ranges.
    #[inline]
    pub const fn used(&self) -> O {
        self.used
    }

    /// How many ranges are live.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.live_blocks
    }

    /// Whether no range is live.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.live_blocks == 0
    }

    /// The end of the last live range: what lies behind is one gap.
    #[inline]
    pub fn high_water(&self) -> O {
        self.nodes[self.nodes[START].prev].end()
    }

    /// Bytes of heap memory held.
    pub fn size_bytes(&self) -> usize {
        self.nodes.size_bytes() + self.alignments.size_bytes() + self.bins.size_bytes()
    }

    /// The largest gap: it is in the highest bin that has any.
    pub(super) fn largest_free(&self) -> O {
        let mut largest = O::default();
        let mut at = self.bins.last().map(|bin| self.bins.head(bin));
        while let Some(node) = at.and_then(|at| self.nodes.get(at)) {
            largest = largest.max(node.gap);
            at = Some(node.bin_next);
        }
        largest
    }
}
