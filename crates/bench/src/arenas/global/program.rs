//! The allocator of this program, whatever it is.

use std::{
    alloc::{Layout, alloc, dealloc},
    ptr::NonNull,
};

use super::tree::Objects;

/// Allocates as boxes of this program do.
pub(super) struct Program;

// SAFETY: a global allocator gives these guarantees.
unsafe impl Objects for Program {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees that the layout is not empty.
        NonNull::new(unsafe { alloc(layout) })
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { dealloc(object.as_ptr(), layout) };
        true
    }
}

/// Frees a tree of this program.
pub(super) fn free(tree: super::tree::Tree<'_>) -> bool {
    // SAFETY: `Program` has no state, so every tree was built with it.
    unsafe { tree.free(&mut Program) }
}
