//! Operations that visit all free blocks: statistics, release of empty slabs, checks.

use core::cell::Cell;
use core::ptr::{self, NonNull};

use super::{Blocks, Link, Marks, Memory, PoolStats, Slab};

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
    pub(crate) fn validate(&self, marked: Option<(Marks, usize)>) -> Result<(), &'static str> {
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

    /// Releases empty slabs to the source, except `kept_count` of them, and returns their size in
    /// bytes. A region is not changed.
    ///
    /// Slabs have no counters of used blocks, so a free does not update any. This function counts
    /// all free blocks at once.
    pub(crate) fn shrink(&self, kept_count: usize) -> usize {
        let Memory::Source(source) = self.memory else { return 0 };
        let Some(layout) = self.slab_layout() else { return 0 };
        self.count_free();
        let is_releasable = |slab: &NonNull<Slab>| self.is_releasable(slab.as_ptr());
        for slab in self.slabs().filter(is_releasable).take(kept_count) {
            // SAFETY: it is one of our slabs. With a count of 0 it is not considered empty.
            unsafe { slab.as_ref() }.free_count.set(0);
        }
        self.unlist_releasable();
        let mut freed_count = 0;
        let kept = Cell::new(ptr::null_mut());
        let mut last_kept = &kept;
        for slab in self.slabs() {
            // SAFETY: it is one of our slabs.
            let header = unsafe { slab.as_ref() };
            if self.is_releasable(slab.as_ptr()) {
                freed_count += 1;
                // SAFETY: it came from this source with this layout, and its blocks are neither in
                // use nor listed any more. The iterator is one slab ahead.
                unsafe { source.free(slab.cast(), layout) }
            } else {
                last_kept.set(slab.as_ptr());
                last_kept = &header.next;
            }
        }
        last_kept.set(ptr::null_mut());
        self.slabs.set(kept.get());
        self.slab_count.set(self.slab_count.get() - freed_count);
        freed_count * layout.size()
    }

    /// Sets the number of free blocks of every slab.
    fn count_free(&self) {
        let mut count = 0;
        for slab in self.slabs() {
            // Slabs that were not opened are at the end.
            if slab.as_ptr() == self.unopened.get() {
                count = self.shape.block_count;
            }
            // SAFETY: it is one of our slabs.
            unsafe { slab.as_ref() }.free_count.set(count);
        }
        if let (1.., Some(fresh)) = (self.fresh_count.get(), NonNull::new(self.fresh.get())) {
            self.slab_free_count(fresh).set(self.fresh_count.get());
        }
        for free in self.listed() {
            let count = self.slab_free_count(free);
            count.set(count.get() + 1);
        }
    }

    /// Removes the blocks of releasable slabs from the free list and from the fresh blocks.
    fn unlist_releasable(&self) {
        let mut last_kept = ptr::null_mut::<Link>();
        let mut next = self.free.replace(ptr::null_mut());
        while let Some(free) = NonNull::new(next) {
            // SAFETY: a block in the list begins with a link.
            next = unsafe { free.read() }.cast();
            if self.is_releasable(self.slab_of(free.cast()).0) {
                continue;
            }
            match NonNull::new(last_kept) {
                None => self.free.set(free.as_ptr()),
                // SAFETY: the previous block, which is free and stays listed.
                Some(kept) => unsafe { kept.write(free.as_ptr().cast()) },
            }
            last_kept = free.as_ptr();
        }
        if let Some(last) = NonNull::new(last_kept) {
            // SAFETY: a free block that stays listed, as the last one.
            unsafe { last.write(ptr::null_mut()) }
        }
        if let (1.., Some(fresh)) = (self.fresh_count.get(), NonNull::new(self.fresh.get()))
            && self.is_releasable(self.slab_of(fresh).0)
        {
            self.fresh_count.set(0);
        }
        let mut unopened = self.unopened.get();
        while let Some(slab) = NonNull::new(unopened)
            && self.is_releasable(slab.as_ptr())
        {
            // SAFETY: it is one of our slabs.
            unopened = unsafe { slab.as_ref() }.next.get();
        }
        self.unopened.set(unopened);
    }

    /// Whether no block of a slab is in use and the pool itself is not stored there.
    fn is_releasable(&self, slab: *mut Slab) -> bool {
        // SAFETY: it is one of our slabs, whose free blocks were counted.
        let free_count = unsafe { (*slab).free_count.get() };
        free_count == self.shape.block_count && !self.is_stored_in(slab)
    }

    /// Returns the counter of the slab of a block. Only for slabs of a source.
    fn slab_free_count(&self, block: NonNull<u8>) -> &Cell<usize> {
        let (slab, _) = self.slab_of(block);
        // SAFETY: the block is one of ours, so its slab is too.
        unsafe { &(*slab).free_count }
    }
}
