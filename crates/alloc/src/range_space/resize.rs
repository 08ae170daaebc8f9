use super::{RangeHandle, RangeSpace, nodes::START};
use crate::{Error, Offset};

/// Changes the size of spaces and ranges.
impl<O: Offset> RangeSpace<O> {
    /// Adds `units` units at the end of the space. No range moves.
    ///
    /// # Errors
    /// `InvalidSize` if the new capacity is not representable.
    pub fn grow(&mut self, units: O) -> Result<(), Error> {
        if units > O::MAX - self.capacity {
            return Err(Error::InvalidSize);
        }
        self.capacity += units;
        let last = self.nodes[START].prev;
        self.change_gap(last, self.nodes[last].gap + units);
        Ok(())
    }

    /// Removes the free units behind the last live range and returns the new capacity.
    pub fn shrink(&mut self) -> O {
        let last = self.nodes[START].prev;
        self.capacity -= self.nodes[last].gap;
        self.change_gap(last, O::default());
        self.capacity
    }

    /// Changes the size of a range in place. To grow, the units behind it must be free.
    ///
    /// # Errors
    /// `Stale` if the handle is stale. `InvalidSize` if `size` is zero. `Full` if too few units are
    /// free behind the range: `requested` is then the number of additional units, `largest_free`
    /// the number of free units there. On an error nothing has changed.
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
        // Neither operation overflows: both stay within the range and its gap.
        let gap = gap + old - size;
        self.change_gap(handle.index, gap);
        self.nodes[handle.index].size = size;
        self.used -= old;
        self.used += size;
        Ok(())
    }
}
