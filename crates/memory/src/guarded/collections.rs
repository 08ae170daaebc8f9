use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use super::Guarded;
use crate::allocator_api::Allocated;

// SAFETY: every block is the wrapped allocator's, with at least the caller's layout, and as valid as
// its blocks are. A wrapper that is moved still holds the same allocator.
unsafe impl<A: Allocator> Allocator for Guarded<A> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Allocated {
        let start = self.allocate_by(
            layout,
            |layout| self.allocator.allocate(layout).ok().map(NonNull::cast),
            // SAFETY: it was just allocated with this layout.
            |block, layout| unsafe { self.allocator.deallocate(block, layout) },
        );
        let start = start.ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    #[inline]
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: guaranteed by the caller; a block was allocated with this layout.
        unsafe {
            self.free_by(block, layout, |block, layout| self.allocator.deallocate(block, layout));
        }
    }

    // With guards, these use the trait's defaults: they allocate, copy and free.
    #[cfg(not(debug_assertions))]
    #[inline]
    unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: guaranteed by the caller.
        unsafe { self.allocator.grow(block, old, new) }
    }

    #[cfg(not(debug_assertions))]
    #[inline]
    unsafe fn shrink(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: guaranteed by the caller.
        unsafe { self.allocator.shrink(block, old, new) }
    }
}
