use core::cell::Cell;
use core::ptr::{self, NonNull};

use super::{Blocks, Link, Memory, Slab};

impl Blocks<'_> {
    /// Gives slabs none of whose blocks is in use back to the source, all but `kept_count`,
    /// and says how many bytes that were. A region is kept as it is.
    ///
    /// Slabs do not count their blocks, so that no free pays for it; here all free blocks
    /// are counted at once.
    pub(in crate::memory) fn shrink(&self, kept_count: usize) -> usize {
        let Memory::Source(source) = self.memory else { return 0 };
        let Some(layout) = self.slab_layout() else { return 0 };
        self.count_free();
        let is_superfluous = |slab: &NonNull<Slab>| self.is_superfluous(slab.as_ptr());
        for slab in self.slabs().filter(is_superfluous).take(kept_count) {
            // SAFETY: it is one of our slabs. With this count it is not taken for empty.
            unsafe { slab.as_ref() }.free_count.set(0);
        }
        self.unlist_superfluous();
        let mut freed_count = 0;
        let kept = Cell::new(ptr::null_mut());
        let mut last_kept = &kept;
        for slab in self.slabs() {
            // SAFETY: it is one of our slabs.
            let header = unsafe { slab.as_ref() };
            if self.is_superfluous(slab.as_ptr()) {
                freed_count += 1;
                // SAFETY: it came from this source with this layout, and none of its blocks
                // is in use or listed any more. The iterator is one slab ahead.
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

    /// Has every slab know how many of its blocks are free.
    fn count_free(&self) {
        let mut count = 0;
        for slab in self.slabs() {
            // Those that were not opened are at the end.
            if slab.as_ptr() == self.unopened.get() {
                count = self.shape.block_count;
            }
            // SAFETY: it is one of our slabs.
            unsafe { slab.as_ref() }.free_count.set(count);
        }
        if let (1.., Some(fresh)) = (self.fresh_count.get(), NonNull::new(self.fresh.get())) {
            self.free_count_around(fresh).set(self.fresh_count.get());
        }
        let mut next = self.free.get();
        while let Some(free) = NonNull::new(next) {
            let count = self.free_count_around(free.cast());
            count.set(count.get() + 1);
            // SAFETY: what is listed begins with a link.
            next = unsafe { free.read() }.cast();
        }
    }

    /// Takes the blocks of slabs that go off the list of free ones and out of what is fresh.
    fn unlist_superfluous(&self) {
        let mut last_kept = ptr::null_mut::<Link>();
        let mut next = self.free.replace(ptr::null_mut());
        while let Some(free) = NonNull::new(next) {
            // SAFETY: what is listed begins with a link.
            next = unsafe { free.read() }.cast();
            if self.is_superfluous(self.slab_of(free.cast()).0) {
                continue;
            }
            match NonNull::new(last_kept) {
                None => self.free.set(free.as_ptr()),
                // SAFETY: the block before, which is free and stays listed.
                Some(kept) => unsafe { kept.write(free.as_ptr().cast()) },
            }
            last_kept = free.as_ptr();
        }
        if let Some(last) = NonNull::new(last_kept) {
            // SAFETY: a free block that stays listed, as the last one.
            unsafe { last.write(ptr::null_mut()) }
        }
        if let (1.., Some(fresh)) = (self.fresh_count.get(), NonNull::new(self.fresh.get()))
            && self.is_superfluous(self.slab_of(fresh).0)
        {
            self.fresh_count.set(0);
        }
        let mut unopened = self.unopened.get();
        while let Some(slab) = NonNull::new(unopened)
            && self.is_superfluous(slab.as_ptr())
        {
            // SAFETY: it is one of our slabs.
            unopened = unsafe { slab.as_ref() }.next.get();
        }
        self.unopened.set(unopened);
    }

    /// Whether no block of a slab is in use, nor the pool itself lives there.
    fn is_superfluous(&self, slab: *mut Slab) -> bool {
        // SAFETY: it is one of our slabs, whose free blocks were counted.
        let free_count = unsafe { (*slab).free_count.get() };
        free_count == self.shape.block_count && !self.lives_in(slab)
    }

    /// The count of the slab in which a block of a source's slabs lies.
    fn free_count_around(&self, block: NonNull<u8>) -> &Cell<usize> {
        let (slab, _) = self.slab_of(block);
        // SAFETY: the block is one of ours, so its slab is.
        unsafe { &(*slab).free_count }
    }
}
