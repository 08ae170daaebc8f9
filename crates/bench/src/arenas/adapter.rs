use std::alloc::{GlobalAlloc, Layout};
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

/// Adapts an allocator for whole programs to collections and boxes.
pub(super) struct InProgram<A>(pub A);

// SAFETY: `A` gives the guarantees that this trait requires. Layouts of zero bytes, which `A` does
// not accept, never reach it.
unsafe impl<A: GlobalAlloc> Allocator for InProgram<A> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            return Err(AllocError);
        }
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { self.0.alloc(layout) }).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    #[inline]
    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller guarantees that the block is from this allocator, with this layout,
        // which is not empty.
        unsafe { self.0.dealloc(memory.as_ptr(), layout) }
    }
}
