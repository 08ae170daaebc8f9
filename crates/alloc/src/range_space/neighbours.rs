use super::nodes::{Node, START, padding};
use super::{RangeHandle, RangeMove, RangeSpace};
use crate::{Error, Offset};

/// Access to neighbours, for code that packs a space by moves that do not overlap: the old range
/// stays allocated while the new one is written.
impl<O: Offset> RangeSpace<O> {
    /// Returns the next range by offset; the first one for `None`. Returns `None` after the last
    /// range and for a stale handle.
    #[inline]
    pub fn next(&self, after: Option<RangeHandle>) -> Option<RangeHandle> {
        let next = self.nodes[self.node_of(after).ok()?].next;
        let generation = self.nodes[next].generation;
        (next != START).then_some(RangeHandle { index: next, generation })
    }

    /// Returns the range before another by offset. Returns `None` for the first range and for a stale
    /// handle.
    #[inline]
    pub fn previous(&self, range: RangeHandle) -> Option<RangeHandle> {
        let previous = self.live_node(range).ok()?.prev;
        let generation = self.nodes[previous].generation;
        (previous != START).then_some(RangeHandle { index: previous, generation })
    }

    /// Returns the number of free units directly behind a range, or at the start of the space for
    /// `None`.
    ///
    /// # Errors
    /// `Stale` if the handle is stale.
    #[inline]
    pub fn gap_behind(&self, range: Option<RangeHandle>) -> Result<O, Error> {
        Ok(self.nodes[self.node_of(range)?].gap)
    }

    /// Allocates `size` units directly behind a range, or at the start of the space for `None`. The
    /// offset is the first multiple of `align` there.
    ///
    /// # Errors
    /// `InvalidSize` if `size` or `align` is zero. `Stale` if the handle is stale. `Full` if the
    /// gap there is too small: `largest_free` is then the size of this gap.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::new(100);
    /// let ranges = [10, 20, 30].map(|size| space.allocate(size).unwrap());
    /// space.free(ranges[1])?;
    /// let packed = space.allocate_behind(Some(ranges[0]), 15, 1)?;
    /// assert_eq!(space.range(packed), Some(10..25));
    /// assert_eq!(space.next(Some(packed)), Some(ranges[2]));
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn allocate_behind(
        &mut self,
        range: Option<RangeHandle>,
        size: O,
        align: O,
    ) -> Result<RangeHandle, Error> {
        if size == O::default() || align == O::default() {
            return Err(Error::InvalidSize);
        }
        let before = self.node_of(range)?;
        let pad = padding(self.nodes[before].end(), align).unwrap_or(O::MAX);
        self.allocate_in_gap(before, pad, (size, align))
    }

    /// Allocates `size` units at this offset, in the gap behind a range, or at the start of the space for
    /// `None`. Restores a range that was freed, without its alignment.
    ///
    /// # Errors
    /// `InvalidSize` if `size` is zero. `Stale` if the handle is stale. `Full` if the gap there does not
    /// contain these units (`largest_free` is then its size), or if the heap has no memory for the metadata.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::new(100);
    /// let [first, second] = [10, 20].map(|size| space.allocate(size).unwrap());
    /// let before = space.previous(second);
    /// assert_eq!(before, Some(first));
    /// space.free(second)?;
    /// let again = space.allocate_at(before, 10, 20)?;
    /// assert_eq!(space.range(again), Some(10..30));
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn allocate_at(
        &mut self,
        after: Option<RangeHandle>,
        offset: O,
        size: O,
    ) -> Result<RangeHandle, Error> {
        if size == O::default() {
            return Err(Error::InvalidSize);
        }
        let before = self.node_of(after)?;
        let end = self.nodes[before].end();
        let pad = if offset >= end { offset - end } else { O::MAX };
        let unaligned = O::default();
        self.allocate_in_gap(before, pad, (size, unaligned))
    }

    /// Allocates the target of a move as a range of its own, with the alignment of the moving
    /// range. The moving range keeps its offset. Free it after its units are copied and no reader
    /// uses the old ones.
    ///
    /// # Errors
    /// `Stale` if the range was freed after planning. `NotAllocated` if its offset or size has
    /// changed since. `Full` if the target is no longer free or breaks the alignment.
    pub fn allocate_target(&mut self, step: &RangeMove<O>) -> Result<RangeHandle, Error> {
        let node = self.live_node(step.handle)?;
        if (node.offset, node.size) != (step.from, step.size) {
            return Err(Error::NotAllocated);
        }
        let after = self.nodes.get(step.after).filter(|after| after.generation % 2 == 1);
        match after.map(Node::end) {
            Some(end) if step.to >= end && self.keeps_alignment(step) => {
                let align = self.alignments.get(step.handle.index);
                self.allocate_in_gap(step.after, step.to - end, (step.size, align))
            }
            _ => Err(self.stats().full(step.size.into())),
        }
    }

    /// Allocates units in the gap behind a live node, at `pad` units from its start.
    fn allocate_in_gap(
        &mut self,
        before: u32,
        pad: O,
        (size, align): (O, O),
    ) -> Result<RangeHandle, Error> {
        let gap = self.nodes[before].gap;
        let fits = gap >= pad && gap - pad >= size;
        match fits.then(|| self.nodes.take_unused()).flatten() {
            Some(at) => self.insert_node_aligned(at, before, pad, (size, align)),
            None => Err(Error::Full {
                requested: size.into(),
                largest_free: gap.into(),
                total_free: (self.capacity - self.used).into(),
            }),
        }
    }

    fn node_of(&self, range: Option<RangeHandle>) -> Result<u32, Error> {
        let Some(handle) = range else { return Ok(START) };
        self.live_node(handle)?;
        Ok(handle.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DefragBudget, MoveOrder};

    #[test]
    fn a_range_is_allocated_directly_behind_another_or_refused() {
        let mut space = RangeSpace::new(100);
        let [a, b, c] = [10, 20, 30].map(|size| space.allocate(size).unwrap());
        space.free(b).unwrap();
        assert_eq!((space.next(None), space.next(Some(a))), (Some(a), Some(c)));
        assert_eq!((space.next(Some(c)), space.next(Some(b))), (None, None));
        assert_eq!((space.gap_behind(None), space.gap_behind(Some(a))), (Ok(0), Ok(20)));
        let full = Error::Full { requested: 21, largest_free: 20, total_free: 60 };
        assert_eq!(space.allocate_behind(Some(a), 21, 1), Err(full));
        assert!(space.allocate_behind(None, 1, 1).is_err());
        assert_eq!(space.allocate_behind(Some(b), 1, 1), Err(Error::Stale));
        assert_eq!(space.allocate_behind(Some(a), 0, 1), Err(Error::InvalidSize));
        assert_eq!(space.allocate_behind(Some(a), 1, 0), Err(Error::InvalidSize));
        let aligned = space.allocate_behind(Some(a), 6, 12).unwrap();
        assert_eq!((space.range(aligned), space.alignment(aligned)), (Some(12..18), Some(12)));
        assert!(space.allocate_behind(Some(a), 1, u32::MAX).is_err());
        space.free(aligned).unwrap();
        let d = space.allocate_behind(Some(a), 20, 1).unwrap();
        assert_eq!(space.range(d), Some(10..30));
        assert_eq!(RangeHandle::from_bits(d.to_bits()), Some(d));
        assert_ne!(RangeHandle::from_bits(b.to_bits()), Some(d));
        space.validate().unwrap();
    }

    #[test]
    fn a_freed_range_is_allocated_again_at_its_offset() {
        let mut space = RangeSpace::new(100);
        let [a, b, c] = [10, 20, 30].map(|size| space.allocate(size).unwrap());
        assert_eq!([a, b, c].map(|it| space.previous(it)), [None, Some(a), Some(b)]);
        space.free(a).unwrap();
        space.free(b).unwrap();
        assert_eq!((space.previous(a), space.previous(c)), (None, None));
        let full = Error::Full { requested: 20, largest_free: 30, total_free: 70 };
        assert_eq!(space.allocate_at(None, 11, 20), Err(full));
        assert!(space.allocate_at(Some(c), 59, 1).is_err());
        assert_eq!(space.allocate_at(Some(b), 10, 20), Err(Error::Stale));
        assert_eq!(space.allocate_at(None, 10, 0), Err(Error::InvalidSize));
        let b = space.allocate_at(None, 10, 20).unwrap();
        assert_eq!((space.range(b), space.gap_behind(None)), (Some(10..30), Ok(10)));
        let end = space.allocate_at(Some(c), 90, 10).unwrap();
        assert_eq!((space.range(end), space.previous(end)), (Some(90..100), Some(c)));
        space.validate().unwrap();
    }

    #[test]
    fn the_target_of_a_move_is_a_separate_range() {
        let mut space = RangeSpace::new(35);
        let [low, _middle, top] = [10, 10, 10].map(|size| space.allocate(size).unwrap());
        space.free(low).unwrap();
        let budget = DefragBudget { order: MoveOrder::AtOnce, ..DefragBudget::default() };
        let plan = space.plan_defragmentation(&budget);
        let target = space.allocate_target(&plan[0]).unwrap();
        assert_eq!((space.range(target), space.range(top)), (Some(0..10), Some(20..30)));
        assert!(space.allocate_target(&plan[0]).is_err());
        space.free(top).unwrap();
        assert_eq!(space.allocate_target(&plan[0]), Err(Error::Stale));
        assert_eq!(space.stats().largest_free, 15);
        space.validate().unwrap();
    }
}
