//! The allocators as those of collections: `allocator_api2::alloc::Allocator`.
//!
//! That trait lets blocks be freed in any order, which `Linear` and scopes answer by keeping
//! what is not the last, and stacks by keeping what is not the top until it is. The blocks
//! stay good while the allocator is borrowed, which is what the trait asks of references.

use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use super::bump::dangling;
use super::{Linear, Scope, Stack, StackEnd};
use crate::Error;

#[cfg(test)]
mod tests;

type Block = Result<NonNull<[u8]>, AllocError>;

#[inline]
fn block(start: Result<NonNull<u8>, Error>, layout: Layout) -> Block {
    match start {
        Ok(start) => Ok(NonNull::slice_from_raw_parts(start, layout.size())),
        Err(_) => Err(AllocError),
    }
}

// SAFETY: blocks do not overlap, and stay until the allocator is reset or dropped, for which
// it must not be borrowed.
unsafe impl Allocator for &Linear<'_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Block {
        block(Linear::allocate(self, layout), layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        let (bump, highest) = self.parts();
        // SAFETY: the caller's promise is the one that is asked for.
        unsafe { bump.free(start, layout, highest) }
    }

    #[inline]
    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        let (bump, highest) = self.parts();
        // SAFETY: as above.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }

    #[inline]
    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        let (bump, highest) = self.parts();
        // SAFETY: as above.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }
}

// SAFETY: blocks do not overlap, and stay until the scope ends, which outlives what borrows
// it. A scope within it, which takes the memory behind them, borrows it mutably.
unsafe impl Allocator for &Scope<'_, '_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Block {
        block(Scope::allocate(self, layout), layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        let (bump, highest) = self.parts();
        // SAFETY: the caller's promise is the one that is asked for.
        unsafe { bump.free(start, layout, highest) }
    }

    #[inline]
    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        let (bump, highest) = self.parts();
        // SAFETY: as above.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }

    #[inline]
    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        let (bump, highest) = self.parts();
        // SAFETY: as above.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }
}

// SAFETY: blocks do not overlap; they stay until they are freed, by the trait's `deallocate`
// or by another promise of its caller, or the stack is reset or dropped, for which it must
// not be borrowed.
unsafe impl Allocator for &Stack<'_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Block {
        allocate(*self, layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller says that it is a block of this stack, and not freed.
        unsafe { free(*self, start, layout) }
    }

    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        // SAFETY: the caller says that `start` is a block with this layout.
        unsafe { resize(*self, start, old, new) }
    }

    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        // SAFETY: as above.
        unsafe { resize(*self, start, old, new) }
    }
}

// SAFETY: as for `&Stack`; an end is a reference to its stack, and so are its copies.
unsafe impl Allocator for StackEnd<'_, '_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Block {
        allocate(*self, layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller says that it is a block of this end, and not freed.
        unsafe { free(*self, start, layout) }
    }

    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        // SAFETY: the caller says that `start` is a block with this layout.
        unsafe { resize(*self, start, old, new) }
    }

    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        // SAFETY: as above.
        unsafe { resize(*self, start, old, new) }
    }
}

/// What the two kinds of stacks have in common.
trait Blocks: Copy {
    fn push(self, layout: Layout) -> Result<NonNull<u8>, Error>;

    fn is_top(self, start: NonNull<u8>) -> bool;

    /// # Safety
    /// - As for [`Stack::resize`].
    unsafe fn resize_top(self, start: NonNull<u8>, new: Layout) -> Result<NonNull<u8>, Error>;

    /// # Safety
    /// - `start` is a block with this layout that was not freed before, and nobody uses it.
    unsafe fn free_any(self, start: NonNull<u8>, layout: Layout);

    /// # Safety
    /// - `start` is a block with the layout `old`, not freed and not the top; `size` is no
    ///   larger, and nobody uses what is behind it.
    unsafe fn shrink_any(self, start: NonNull<u8>, old: Layout, size: usize);
}

impl Blocks for &Stack<'_> {
    #[inline]
    fn push(self, layout: Layout) -> Result<NonNull<u8>, Error> {
        Stack::allocate(self, layout)
    }

    #[inline]
    fn is_top(self, start: NonNull<u8>) -> bool {
        self.low().is_top(start)
    }

    #[inline]
    unsafe fn resize_top(self, start: NonNull<u8>, new: Layout) -> Result<NonNull<u8>, Error> {
        // SAFETY: as the caller says.
        unsafe { self.resize(start, new) }
    }

    #[inline]
    unsafe fn free_any(self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { self.low().free(start, layout) }
    }

    unsafe fn shrink_any(self, start: NonNull<u8>, old: Layout, size: usize) {
        // SAFETY: as the caller says.
        unsafe { self.low().shrink(start, old, size) }
    }
}

impl Blocks for StackEnd<'_, '_> {
    #[inline]
    fn push(self, layout: Layout) -> Result<NonNull<u8>, Error> {
        StackEnd::allocate(self, layout)
    }

    #[inline]
    fn is_top(self, start: NonNull<u8>) -> bool {
        StackEnd::is_top(self, start)
    }

    #[inline]
    unsafe fn resize_top(self, start: NonNull<u8>, new: Layout) -> Result<NonNull<u8>, Error> {
        // SAFETY: as the caller says.
        unsafe { self.resize(start, new) }
    }

    #[inline]
    unsafe fn free_any(self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { StackEnd::free_any(self, start, layout) }
    }

    unsafe fn shrink_any(self, start: NonNull<u8>, old: Layout, size: usize) {
        // SAFETY: as the caller says.
        unsafe { StackEnd::shrink_any(self, start, old, size) }
    }
}

/// A block; of no bytes anywhere. That is no block of the stack: there are collections that
/// shrink one to nothing and then forget it.
#[inline]
fn allocate(stack: impl Blocks, layout: Layout) -> Block {
    match layout.size() {
        0 => block(Ok(dangling(layout)), layout),
        _ => block(stack.push(layout), layout),
    }
}

/// # Safety
/// - `start` is a block of `stack` with this layout, and not freed. Nobody uses it.
#[inline]
unsafe fn free(stack: impl Blocks, start: NonNull<u8>, layout: Layout) {
    if layout.size() != 0 {
        // SAFETY: as the caller says.
        unsafe { stack.free_any(start, layout) }
    }
}

/// The block with another layout: the top as it is, any other copied if it must be.
///
/// # Safety
/// - `start` is a block of `stack` with the layout `old`. After success nobody uses it by
///   its old address.
unsafe fn resize(stack: impl Blocks, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
    if old.size() != 0 && new.size() != 0 {
        if stack.is_top(start) {
            // SAFETY: as the caller says.
            return block(unsafe { stack.resize_top(start, new) }, new);
        }
        let is_aligned = start.addr().get() & (new.align() - 1) == 0;
        if is_aligned && new.size() <= old.size() {
            // SAFETY: it is not the top; the rest as the caller says.
            unsafe { stack.shrink_any(start, old, new.size()) }
            return block(Ok(start), new);
        }
    }
    let moved = allocate(stack, new)?;
    // SAFETY: both blocks have as many bytes and do not overlap; the old one is freed once.
    unsafe {
        moved.cast().copy_from_nonoverlapping(start, old.size().min(new.size()));
        free(stack, start, old);
    }
    Ok(moved)
}
