use super::{RangeHandle, RangeSpace, nodes::START};
use crate::{Error, Offset};

/// Spaces and ranges that change their size.
impl<O: Offset> RangeSpace<O> {
    /// Adds `units` at the end of the space. No range moves.
    ///
    /// # Errors
    /// `InvalidSize` when the capacity would be beyond the largest offset.
    pub fn grow(&mut self, units: O) -> Result<(), Error> {
        if units > O::MAX - self.capacity {
            return Err(Error::InvalidSize);
        }
        self.capacity += units;
        let last = self.nodes[START].prev;
        self.change_gap(last, self.nodes[last].gap + units);
        Ok(())
    }

    /// Cuts off what lies behind the last live range, and returns the new capacity.
    pub fn shrink(&mut self) -> O {
        let last = self.nodes[START].prev;
        self.capacity -= self.nodes[last].gap;
        self.change_gap(last, O::default());
        self.capacity
    }

    /// Changes a range's size where it lies: the units behind it must be free.
    ///
    /// # Errors
    /// `Stale`, `InvalidSize` for zero, or `Full` when too little is free behind it: then
    /// `requested` are the units more, `largest_free` those behind it, and nothing has
    /// changed.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::new(100);
    /// let range = space.allocate(10)?;
    /// space.reallocate(range, 100)?;
    /// assert_eq!(space.range(range), Some(0..100));
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn reallocate(&mut self, handle: RangeHandle, size: O) -> Result<(), Error> {
        let node = self.live_node(handle)?;
        if size == O::default() {
            return Err(Error::InvalidSize);
        }
        let (old, gap) = (node.size, node.gap);
        if size > old && size - old > gap {
            return Err(Error::Full {
                requested: (size - old).into(),
                largest_free: gap.into(),
                total_free: (self.capacity - self.used).into(),
            });
        }
        // Both within what the range and its gap hold together.
        let gap = gap + old - size;
        self.change_gap(handle.index, gap);
        self.nodes[handle.index].size = size;
        self.used -= old;
        self.used += size;
        Ok(())
    }
}
