use std::alloc::{GlobalAlloc, Layout};
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

/// An allocator that is made for whole programs, as one for collections and boxes.
pub(super) struct InProgram<A>(pub A);

// SAFETY: what `A` promises of its blocks is what is asked here. Layouts of no bytes, which
// it does not take, never reach it.
unsafe impl<A: GlobalAlloc> Allocator for InProgram<A> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            return Err(AllocError);
        }
        // SAFETY: the layout has bytes.
        let start = NonNull::new(unsafe { self.0.alloc(layout) }).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    #[inline]
    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller says that the block is ours, of this layout, which has bytes.
        unsafe { self.0.dealloc(memory.as_ptr(), layout) }
    }
}
