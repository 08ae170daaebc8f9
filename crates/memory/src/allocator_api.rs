//! Implements `allocator_api2::alloc::Allocator`, so that collections can use these allocators.
//!
//! The trait allows blocks to be freed in any order. `Linear` and scopes keep blocks that are not
//! the last one. Stacks keep blocks that are not the top until they become the top. Blocks stay
//! valid while the allocator is borrowed, as the trait requires of references.

use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use crate::region::dangling;
use crate::{Error, Linear, Scope, Stack, StackEnd};

#[cfg(test)]
mod tests;

/// Result of a call that returns a block.
pub(crate) type Allocated = Result<NonNull<[u8]>, AllocError>;

#[inline]
fn block(start: Result<NonNull<u8>, Error>, layout: Layout) -> Allocated {
    match start {
        Ok(start) => Ok(NonNull::slice_from_raw_parts(start, layout.size())),
        Err(_) => Err(AllocError),
    }
}

// SAFETY: blocks do not overlap, and stay valid until the allocator is reset or dropped, which
// requires that it is not borrowed.
unsafe impl Allocator for &Linear<'_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Allocated {
        block(Linear::allocate(self, layout), layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        unsafe { bump.free(start, layout, highest) }
    }

    #[inline]
    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }

    #[inline]
    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }
}

// SAFETY: blocks do not overlap, and stay valid until the scope ends, which outlives its borrows. A
// nested scope, which uses the memory behind them, borrows it mutably.
unsafe impl Allocator for &Scope<'_, '_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Allocated {
        block(Scope::allocate(self, layout), layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        unsafe { bump.free(start, layout, highest) }
    }

    #[inline]
    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }

    #[inline]
    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }
}

// SAFETY: blocks do not overlap. They stay valid until they are freed, by the trait's `deallocate`
// or another unsafe call, or until the stack is reset or dropped, which requires that it is not
// borrowed.
unsafe impl Allocator for &Stack<'_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Allocated {
        Allocator::allocate(&self.low(), layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.low().deallocate(start, layout) }
    }

    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: guaranteed by the caller.
        unsafe { resize(self.low(), start, old, new) }
    }

    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: guaranteed by the caller.
        unsafe { resize(self.low(), start, old, new) }
    }
}

// SAFETY: as for `&Stack`; an end is a reference to its stack, and so are its copies.
unsafe impl Allocator for StackEnd<'_, '_> {
    /// Allocates a block. A block of 0 bytes has a dangling address outside the stack, because some
    /// collections shrink to 0 bytes and never free.
    #[inline]
    fn allocate(&self, layout: Layout) -> Allocated {
        match layout.size() {
            0 => block(Ok(dangling(layout)), layout),
            _ => block(StackEnd::allocate(*self, layout), layout),
        }
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        if layout.size() != 0 {
            // SAFETY: the caller guarantees that it is a block of this end that was not freed.
            unsafe { self.free_any(start, layout) }
        }
    }

    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: guaranteed by the caller.
        unsafe { resize(*self, start, old, new) }
    }

    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: guaranteed by the caller.
        unsafe { resize(*self, start, old, new) }
    }
}

/// Changes the layout of a block: the top in place, any other by a copy if necessary.
///
/// # Safety
/// - `start` is a block of `end` with the layout `old`. After success nothing uses its old
///   address.
unsafe fn resize(end: StackEnd<'_, '_>, start: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
    if old.size() != 0 && new.size() != 0 {
        if end.is_top(start) {
            // SAFETY: guaranteed by the caller.
            return block(unsafe { end.resize(start, new) }, new);
        }
        let is_aligned = start.addr().get() & (new.align() - 1) == 0;
        if is_aligned && new.size() <= old.size() {
            // SAFETY: it is not the top; the rest is guaranteed by the caller.
            unsafe { end.shrink_any(start, old, new.size()) }
            return block(Ok(start), new);
        }
    }
    let moved = Allocator::allocate(&end, new)?;
    // SAFETY: both blocks have at least this number of bytes and do not overlap; the old one is
    // freed once.
    unsafe {
        moved.cast().copy_from_nonoverlapping(start, old.size().min(new.size()));
        end.deallocate(start, old);
    }
    Ok(moved)
}
