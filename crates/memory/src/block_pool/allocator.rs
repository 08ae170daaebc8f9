use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use super::BlockPool;
use crate::allocator_api::Allocated;
use crate::region::dangling;

/// Every allocation that fits takes one block. An allocation that does not fit, by size or
/// alignment, is an error: choose sufficient block sizes, or reserve the capacity of collections.
///
/// Growing and shrinking within a block happens in place.
// SAFETY: blocks are valid until they are freed, and a `&BlockPool` that is moved or cloned refers
// to the same pool. Only `deallocate` and `shrink` free a block; `reset` requires exclusive access
// to the pool.
unsafe impl Allocator for &BlockPool<'_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Allocated {
        if layout.size() == 0 {
            return Ok(empty_block(layout));
        }
        if !self.fits(layout) {
            return Err(AllocError);
        }
        let block = BlockPool::allocate(self).map_err(|_| AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, self.block_layout().size()))
    }

    #[inline]
    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        if layout.size() != 0 {
            // SAFETY: the caller owns the block, which came from `allocate`.
            let freed = unsafe { self.free(memory) };
            debug_assert!(freed.is_ok(), "the block was freed before");
        }
    }

    #[inline]
    unsafe fn grow(&self, memory: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        if old.size() == 0 {
            return self.allocate(new);
        }
        // A size that fits is already within the block.
        match self.fits(new) {
            true => Ok(NonNull::slice_from_raw_parts(memory, self.block_layout().size())),
            false => Err(AllocError),
        }
    }

    #[inline]
    unsafe fn grow_zeroed(&self, memory: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: guaranteed by the caller.
        let grown = unsafe { self.grow(memory, old, new)? };
        // SAFETY: the block is at least as large as the new size, which is no less than the old
        // one.
        unsafe {
            let start = grown.cast::<u8>();
            start.add(old.size()).write_bytes(0, grown.len() - old.size());
        }
        Ok(grown)
    }

    #[inline]
    unsafe fn shrink(&self, memory: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        if new.size() == 0 {
            // SAFETY: the caller releases the block.
            unsafe { self.deallocate(memory, old) }
            return Ok(empty_block(new));
        }
        match self.fits(new) {
            true => Ok(NonNull::slice_from_raw_parts(memory, self.block_layout().size())),
            false => Err(AllocError),
        }
    }
}

impl BlockPool<'_> {
    #[inline]
    fn fits(&self, layout: Layout) -> bool {
        let block = self.block_layout();
        layout.size() <= block.size() && layout.align() <= block.align()
    }
}

/// Returns a block of 0 bytes at an aligned address.
fn empty_block(layout: Layout) -> NonNull<[u8]> {
    NonNull::slice_from_raw_parts(dangling(layout), 0)
}
