use core::ptr::NonNull;

use super::{Blocks, Marks};
use crate::PoolStats;

impl Blocks<'_> {
    /// Returns the statistics. Visits the list of free blocks.
    pub(crate) fn stats(&self) -> PoolStats {
        let capacity = self.slab_count.get() * self.shape.block_count;
        PoolStats {
            used_count: capacity - self.fresh_count() - self.listed().count(),
            capacity,
            block_bytes: self.block.size(),
            slab_count: self.slab_count.get(),
            reserved_bytes: self.slab_count.get() * self.shape.slab_bytes,
        }
    }

    /// Number of blocks that were never allocated, or not since the last reset.
    fn fresh_count(&self) -> usize {
        let is_opened = |slab: &NonNull<_>| slab.as_ptr() != self.unopened.get();
        let unopened_count = self.slabs().skip_while(is_opened).count();
        self.fresh_count.get() + unopened_count * self.shape.block_count
    }

    /// Iterates over the list of free blocks.
    fn listed(&self) -> impl Iterator<Item = NonNull<u8>> {
        let mut next = self.free.get();
        core::iter::from_fn(move || {
            let free = NonNull::new(next)?;
            // SAFETY: a block in the list begins with a link.
            next = unsafe { free.read() }.cast();
            Some(free.cast())
        })
    }

    /// Verifies all invariants of the slabs and the list. For a pool with marks, `marked` has the
    /// marks and the pool's number of used blocks.
    pub(crate) fn check(&self, marked: Option<(Marks, usize)>) -> Result<(), &'static str> {
        if self.slabs().count() != self.slab_count.get() {
            return Err("the number of slabs is wrong");
        }
        let capacity = self.slab_count.get() * self.shape.block_count;
        let mut listed_count = 0;
        for free in self.listed() {
            listed_count += 1;
            if listed_count > capacity {
                return Err("the list of free blocks has a cycle");
            }
            if !self.is_block(free) {
                return Err("the list of free blocks has an address that is no block");
            }
            let (slab, offset) = self.slab_of(free);
            // SAFETY: the block is in that slab.
            if marked.is_some_and(|(marks, _)| unsafe { marks.is_set(slab, offset) }) {
                return Err("a free block is marked as used");
            }
        }
        let free_count = listed_count + self.fresh_count();
        // SAFETY: slabs of this shape.
        let count = |slab: NonNull<_>| unsafe { Marks::count(slab.as_ptr(), &self.shape) };
        match marked {
            None if free_count > capacity => Err("more blocks are free than exist"),
            Some((_, used_count)) if used_count + free_count != capacity => {
                Err("the numbers of used and free blocks do not add up to the capacity")
            }
            Some((_, used_count)) if self.slabs().map(count).sum::<usize>() != used_count => {
                Err("the number of marks differs from the number of used blocks")
            }
            _ => Ok(()),
        }
    }
}
