//! Statistics, iteration and checks.

use core::ops::Range;

use super::bins::bin_of;
use super::nodes::{NONE, Nodes, START};
use super::{RangeHandle, RangeSpace};
use crate::{Error, Offset};

/// Statistics of a [`RangeSpace`], in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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

    /// Iterates over all live ranges and gaps, sorted by offset, for example to draw a map.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::new(9);
    /// let range = space.allocate(4)?;
    /// let blocks: Vec<_> = space.blocks().map(|block| (block.range, block.handle)).collect();
    /// assert_eq!(blocks, [(0..4, Some(range)), (4..9, None)]);
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub const fn blocks(&self) -> RangeBlocks<'_, O> {
        RangeBlocks { nodes: &self.nodes, at: Some(START), gap_is_next: true }
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        let gaps = self.check_ring()?;
        if self.check_lists()? != gaps || self.bins.len() != gaps {
            return Err("the number of gaps in the lists differs from the number of gaps");
        }
        Ok(())
    }

    /// Verifies that the ring of nodes covers the space without overlap. Returns the number of
    /// gaps.
    fn check_ring(&self) -> Result<u32, &'static str> {
        let (mut at, mut end, mut used) = (START, O::default(), O::default());
        let (mut live, mut gaps) = (0, 0);
        loop {
            let node = self.nodes.get(at).ok_or("a neighbour does not exist")?;
            if node.generation % 2 == 0 {
                return Err("a node in the ring is not live");
            }
            if node.offset != end {
                return Err("a range does not start where the gap before it ends");
            }
            if node.gap > self.capacity || node.size > self.capacity - used {
                return Err("ranges and gaps exceed the capacity");
            }
            used += node.size;
            end = node.end() + node.gap;
            gaps += u32::from(node.gap > O::default());
            if self.nodes.get(node.next).is_none_or(|next| next.prev != at) {
                return Err("the links of two neighbours do not match");
            }
            at = node.next;
            if at == START {
                break;
            }
            live += 1;
            if live as usize >= self.nodes.len() {
                return Err("the ring is longer than the number of nodes");
            }
        }
        match (end, used, live) == (self.capacity, self.used, self.live_blocks) {
            true => Ok(gaps),
            false => Err("the sums over all ranges are wrong"),
        }
    }

    /// Verifies that every list holds gaps of its bin only. Returns the number of gaps in all
    /// lists.
    fn check_lists(&self) -> Result<u32, &'static str> {
        let mut listed = 0;
        for (bin, head, has_bit) in self.bins.iter() {
            if has_bit != (head != NONE) {
                return Err("a bin's bit does not match whether its list is empty");
            }
            let (mut at, mut prev) = (head, NONE);
            while let Some(node) = self.nodes.get(at) {
                let is_gap = node.generation % 2 == 1 && node.gap > O::default();
                if !is_gap || bin_of(node.gap.into()) != bin || node.bin_prev != prev {
                    return Err("a list holds a node that is not a gap of its bin");
                }
                listed += 1;
                (prev, at) = (at, node.bin_next);
            }
        }
        Ok(listed)
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

/// A live range or a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeBlock<O = u32> {
    /// Offsets of the block.
    pub range: Range<O>,
    /// Handle of the live range; `None` for a gap.
    pub handle: Option<RangeHandle>,
}

/// Iterator over all live ranges and gaps of a [`RangeSpace`], sorted by offset, without holes.
#[derive(Clone, Debug)]
pub struct RangeBlocks<'a, O> {
    nodes: &'a Nodes<O>,
    /// Node whose own block (if any) and gap come next; `None` at the end.
    at: Option<u32>,
    gap_is_next: bool,
}

impl<O: Offset> Iterator for RangeBlocks<'_, O> {
    type Item = RangeBlock<O>;

    fn next(&mut self) -> Option<RangeBlock<O>> {
        loop {
            let at = self.at?;
            let node = &self.nodes[at];
            if !self.gap_is_next {
                self.gap_is_next = true;
                let handle = RangeHandle { index: at, generation: node.generation };
                return Some(RangeBlock { range: node.offset..node.end(), handle: Some(handle) });
            }
            self.gap_is_next = false;
            self.at = (node.next != START).then_some(node.next);
            if node.gap > O::default() {
                return Some(RangeBlock { range: node.end()..node.end() + node.gap, handle: None });
            }
        }
    }
}
