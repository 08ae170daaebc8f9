use super::{RangeSpace, nodes::START};
use crate::{Error, Offset};

/// Statistics of a [`RangeSpace`], in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeStats<O = u32> {
    /// Capacity of the space.
    pub capacity: O,
    /// Number of units in live ranges.
    pub used: O,
    /// Number of units in gaps.
    pub free: O,
    /// Size of the largest gap.
    pub largest_free: O,
    /// Number of live ranges.
    pub live_blocks: u32,
    /// Number of gaps.
    pub free_blocks: u32,
    /// Allocated units beyond the requested ones. Always 0 for a [`RangeSpace`], which never rounds
    /// sizes; size classes round up.
    pub internal_waste: O,
}

impl<O: Offset> RangeStats<O> {
    /// Returns [`Error::Full`] for a request of `requested` units, with these figures.
    pub fn full(&self, requested: u64) -> Error {
        let (largest_free, total_free) = (self.largest_free.into(), self.free.into());
        Error::Full { requested, largest_free, total_free }
    }

    /// Fraction of the free units outside the largest gap, 0 to 1.
    pub fn external_fragmentation(&self) -> f64 {
        let (free, largest) = (self.free.into() as f64, self.largest_free.into() as f64);
        if free == 0.0 { 0.0 } else { 1.0 - largest / free }
    }

    /// Fraction of the allocated units that were not requested, 0 to 1.
    pub fn internal_fragmentation(&self) -> f64 {
        let (used, waste) = (self.used.into() as f64, self.internal_waste.into() as f64);
        if used == 0.0 { 0.0 } else { waste / used }
    }
}

impl<O: Offset> RangeSpace<O> {
    /// Returns the statistics.
    ///
    /// # Cost
    /// O(n) in the number of gaps of the highest bin that has any.
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

    /// Capacity of the space, in units.
    #[inline]
    pub const fn capacity(&self) -> O {
        self.capacity
    }

    /// Number of units in live ranges.
    #[inline]
    pub const fn used(&self) -> O {
        self.used
    }

    /// Number of live ranges.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.live_blocks
    }

    /// Whether no range is live.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.live_blocks == 0
    }

    /// Returns the end of the last live range, behind which all units are free.
    #[inline]
    pub fn high_water(&self) -> O {
        self.nodes[self.nodes[START].prev].end()
    }

    /// Returns the heap memory in use, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.nodes.size_bytes() + self.alignments.size_bytes() + self.bins.size_bytes()
    }

    /// Returns the size of the largest gap, which is in the highest bin that has any.
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
