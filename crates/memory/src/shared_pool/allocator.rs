use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use super::SharedPool;
use crate::allocator_api::Allocated;
use crate::region::dangling;

/// The layout alone determines whether a block is in the pool or in its source, so that each block
/// is freed where it was allocated.
// SAFETY: blocks of the pool and of the source are valid until they are freed, from any thread; a
// copied reference refers to the same pool.
unsafe impl Allocator for &SharedPool {
    fn allocate(&self, layout: Layout) -> Allocated {
        let start = if layout.size() == 0 {
            dangling(layout)
        } else if self.serves(layout) {
            SharedPool::allocate(self).map_err(|_| AllocError)?
        } else {
            self.source.allocate(layout).ok_or(AllocError)?
        };
        // The length is the requested size, even if the block is larger: the size determines where
        // the block is freed.
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        if layout.size() == 0 {
            return;
        }
        if !self.serves(layout) {
            // SAFETY: with this layout it came from the source, and the caller releases it.
            return unsafe { self.source.free(memory, layout) };
        }
        // SAFETY: with this layout it came from the pool, and the caller releases it.
        let freed = unsafe { self.free(memory) };
        debug_assert!(freed.is_ok(), "the block was freed before");
    }

    unsafe fn grow(&self, memory: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: guaranteed by the caller.
        unsafe { self.resize(memory, old, new) }
    }

    unsafe fn shrink(&self, memory: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: guaranteed by the caller.
        unsafe { self.resize(memory, old, new) }
    }
}

impl SharedPool {
    /// Whether blocks of this layout are allocated in the pool.
    fn serves(&self, layout: Layout) -> bool {
        let block = self.block_layout();
        let fits = layout.size() <= block.size() && layout.align() <= block.align();
        fits && layout.size() > block.size() / 2
    }

    /// Changes the size of a block: in place if the pool serves both layouts, otherwise by a copy.
    ///
    /// # Safety
    /// - `memory` is a block of this allocator that fits `old`. After success nothing uses its old
    ///   address.
    unsafe fn resize(&self, memory: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        if self.serves(old) && self.serves(new) {
            return Ok(NonNull::slice_from_raw_parts(memory, new.size()));
        }
        let moved = Allocator::allocate(&self, new)?;
        // SAFETY: both have at least this number of bytes and do not overlap; the old one is
        // released.
        unsafe {
            moved.cast().copy_from_nonoverlapping(memory, old.size().min(new.size()));
            self.deallocate(memory, old);
        }
        Ok(moved)
    }
}
