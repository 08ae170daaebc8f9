use alloc::vec::Vec;
use core::ops::Range;

use crate::{Error, Handle, Slots};

/// Names one live range of a [`RangeSpace`].
pub type RangeHandle = Handle<Range<u32>>;

/// Hands out ranges of any size from a space of `capacity` units; the lowest place that
/// fits is taken.
///
/// # Cost
/// O(free places) to allocate and to free: a plain first fit behind the interface that an
/// O(1) one takes over.
#[derive(Clone, Debug)]
pub struct RangeSpace {
    capacity: u32,
    used: u32,
    live: Slots<Range<u32>>,
    /// Free ranges by offset; no two touch.
    free: Vec<Range<u32>>,
}

/// Figures of a [`RangeSpace`], in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeStats {
    /// The whole space.
    pub capacity: u32,
    /// Units in live ranges.
    pub used: u32,
    /// Units in free ranges.
    pub free: u32,
    /// The largest free range.
    pub largest_free: u32,
    /// How many ranges are live.
    pub live_blocks: u32,
    /// How many ranges are free.
    pub free_blocks: u32,
}

impl RangeSpace {
    /// A space of `capacity` units, all free.
    pub fn new(capacity: u32) -> Self {
        let mut free = Vec::new();
        if capacity > 0 {
            free.push(0..capacity);
        }
        Self { capacity, used: 0, live: Slots::new(), free }
    }

    /// Hands out `size` units in a row.
    ///
    /// # Errors
    /// `InvalidSize` for zero, `Full` with numbers when nothing fits.
    pub fn allocate(&mut self, size: u32) -> Result<RangeHandle, Error> {
        if size == 0 {
            return Err(Error::InvalidSize);
        }
        let found = self.free.iter().position(|free| free.end - free.start >= size);
        let index = found.ok_or_else(|| self.full(size))?;
        let start = self.free[index].start;
        let handle = self.live.insert(start..start + size).map_err(|_| self.full(size))?;
        self.free[index].start += size;
        if self.free[index].is_empty() {
            self.free.remove(index);
        }
        self.used += size;
        Ok(handle)
    }

    /// Takes a range back and joins it with free neighbours.
    ///
    /// # Errors
    /// `Stale` when it was given back before.
    pub fn free(&mut self, handle: RangeHandle) -> Result<(), Error> {
        let range = self.live.remove(handle).ok_or(Error::Stale)?;
        self.used -= range.end - range.start;
        let next = self.free.partition_point(|free| free.start < range.start);
        let joins_next = self.free.get(next).is_some_and(|free| free.start == range.end);
        let joins_previous = next > 0 && self.free[next - 1].end == range.start;
        match (joins_previous, joins_next) {
            (true, true) => self.free[next - 1].end = self.free.remove(next).end,
            (true, false) => self.free[next - 1].end = range.end,
            (false, true) => self.free[next].start = range.start,
            (false, false) => self.free.insert(next, range),
        }
        Ok(())
    }

    /// Where the range lies, or `None` when the handle is stale.
    pub fn range(&self, handle: RangeHandle) -> Option<Range<u32>> {
        self.live.get(handle).cloned()
    }

    /// The figures.
    pub fn stats(&self) -> RangeStats {
        let sizes = self.free.iter().map(|free| free.end - free.start);
        RangeStats {
            capacity: self.capacity,
            used: self.used,
            free: self.capacity - self.used,
            largest_free: sizes.max().unwrap_or(0),
            live_blocks: self.live.len(),
            free_blocks: self.free.len() as u32,
        }
    }

    fn full(&self, requested: u32) -> Error {
        self.stats().full(requested.into())
    }
}

impl RangeStats {
    /// The error that refuses `requested` units, with these figures.
    pub fn full(&self, requested: u64) -> Error {
        let (largest_free, total_free) = (self.largest_free.into(), self.free.into());
        Error::Full { requested, largest_free, total_free }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join_whatever_the_order_of_frees() {
        for order in [[0, 1, 2], [2, 1, 0], [0, 2, 1], [1, 0, 2]] {
            let mut space = RangeSpace::new(30);
            let ranges = [10, 10, 10].map(|size| space.allocate(size).unwrap());
            assert!(matches!(space.allocate(1), Err(Error::Full { total_free: 0, .. })));
            for i in order {
                space.free(ranges[i]).unwrap();
                assert_eq!(space.free(ranges[i]), Err(Error::Stale));
            }
            assert_eq!(space.stats().largest_free, 30);
            assert_eq!(space.stats().free_blocks, 1);
        }
    }

    #[test]
    fn edges_of_capacity_and_size() {
        assert!(RangeSpace::new(0).allocate(1).is_err());
        assert_eq!(RangeSpace::new(5).allocate(0), Err(Error::InvalidSize));
        let mut whole = RangeSpace::new(u32::MAX);
        let all = whole.allocate(u32::MAX).unwrap();
        assert_eq!(whole.range(all), Some(0..u32::MAX));
    }
}
