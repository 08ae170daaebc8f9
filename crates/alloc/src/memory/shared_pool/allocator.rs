use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use super::SharedPool;
use crate::memory::bump::dangling;

/// Which of the pool and its source a layout belongs to depends on the layout alone, so that
/// a block finds its way back.
// SAFETY: blocks of the pool and of the source are valid until they are freed, from any
// thread; a reference that is copied is the same pool.
unsafe impl Allocator for &SharedPool {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let start = if layout.size() == 0 {
            dangling(layout)
        } else if self.serves(layout) {
            SharedPool::allocate(self).map_err(|_| AllocError)?
        } else {
            self.source.allocate(layout).ok_or(AllocError)?
        };
        // No longer than asked for, even if the block is: the length decides where it goes
        // back to.
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        if layout.size() == 0 {
            return;
        }
        if !self.serves(layout) {
            // SAFETY: with this layout it came from the source, and the caller gives it up.
            return unsafe { self.source.free(memory, layout) };
        }
        // SAFETY: with this layout it came from the pool, and the caller gives it up.
        let freed = unsafe { self.free(memory) };
        debug_assert!(freed.is_ok(), "the block was freed before");
    }

    unsafe fn grow(
        &self,
        memory: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.resize(memory, old, new) }
    }

    unsafe fn shrink(
        &self,
        memory: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.resize(memory, old, new) }
    }
}

impl SharedPool {
    /// Whether blocks of this layout are the pool's.
    fn serves(&self, layout: Layout) -> bool {
        let block = self.block_layout();
        let fits = layout.size() <= block.size() && layout.align() <= block.align();
        fits && layout.size() > block.size() / 2
    }

    /// In place where both layouts are the pool's, else by a copy.
    ///
    /// # Safety
    /// - `memory` is a block of this allocator that fits `old`. After success nobody uses it
    ///   by its old address.
    unsafe fn resize(
        &self,
        memory: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        if self.serves(old) && self.serves(new) {
            return Ok(NonNull::slice_from_raw_parts(memory, new.size()));
        }
        let moved = Allocator::allocate(&self, new)?;
        // SAFETY: both have as many bytes and do not overlap; the old one is given up.
        unsafe {
            moved.cast().copy_from_nonoverlapping(memory, old.size().min(new.size()));
            self.deallocate(memory, old);
        }
        Ok(moved)
    }
}
