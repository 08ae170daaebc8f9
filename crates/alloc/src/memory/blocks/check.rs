use core::ptr::NonNull;

use super::{Blocks, Marks};
use crate::memory::PoolStats;

impl Blocks<'_> {
    /// What is used and reserved. Goes through the list of free blocks.
    pub(in crate::memory) fn stats(&self) -> PoolStats {
        let capacity = self.slab_count.get() * self.shape.block_count;
        PoolStats {
            used_count: capacity - self.fresh_count() - self.listed().count(),
            capacity,
            block_bytes: self.block.size(),
            slab_count: self.slab_count.get(),
            reserved_bytes: self.slab_count.get() * self.shape.slab_bytes,
        }
    }

    /// The blocks that were never handed out, or not since the last reset.
    fn fresh_count(&self) -> usize {
        let is_opened = |slab: &NonNull<_>| slab.as_ptr() != self.unopened.get();
        let unopened_count = self.slabs().skip_while(is_opened).count();
        self.fresh_count.get() + unopened_count * self.shape.block_count
    }

    /// The blocks in the list of free ones.
    fn listed(&self) -> impl Iterator<Item = NonNull<u8>> {
        let mut next = self.free.get();
        core::iter::from_fn(move || {
            let free = NonNull::new(next)?;
            // SAFETY: what is listed begins with a link.
            next = unsafe { free.read() }.cast();
            Some(free.cast())
        })
    }

    /// Walks slabs and list and says what does not hold. Where blocks are marked, `marked`
    /// has the marks, and how many blocks the pool says are used.
    pub(in crate::memory) fn check(
        &self,
        marked: Option<(Marks, usize)>,
    ) -> Result<(), &'static str> {
        if self.slabs().count() != self.slab_count.get() {
            return Err("the number of slabs is wrong");
        }
        let capacity = self.slab_count.get() * self.shape.block_count;
        let mut listed_count = 0;
        for free in self.listed() {
            listed_count += 1;
            if listed_count > capacity {
                return Err("the list of free blocks has no end");
            }
            if !self.is_block(free) {
                return Err("what is listed as free is no block");
            }
            let (slab, offset) = self.slab_of(free);
            // SAFETY: the block lies in that slab.
            if marked.is_some_and(|(marks, _)| unsafe { marks.is_set(slab, offset) }) {
                return Err("a free block is marked as used");
            }
        }
        let free_count = listed_count + self.fresh_count();
        // SAFETY: slabs of this shape.
        let count = |slab: NonNull<_>| unsafe { Marks::count(slab.as_ptr(), &self.shape) };
        match marked {
            None if free_count > capacity => Err("more blocks are free than there are"),
            Some((_, used_count)) if used_count + free_count != capacity => {
                Err("used and free blocks are not all blocks")
            }
            Some((_, used_count)) if self.slabs().map(count).sum::<usize>() != used_count => {
                Err("there are not as many marks as used blocks")
            }
            _ => Ok(()),
        }
    }
}
