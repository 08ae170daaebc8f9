//! Implements `allocator_api2::alloc::Allocator`, so that collections can use these allocators.
//!
//! The trait allows blocks to be freed in any order. `Linear` and scopes keep blocks that are not
//! the last one. Stacks keep blocks that are not the top until they become the top. Blocks stay
//! valid while the allocator is borrowed, as the trait requires of references.

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

// SAFETY: blocks do not overlap, and stay valid until the allocator is reset or dropped, which
// requires that it is not borrowed.
unsafe impl Allocator for &Linear<'_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Block {
        block(Linear::allocate(self, layout), layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        unsafe { bump.free(start, layout, highest) }
    }

    #[inline]
    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }

    #[inline]
    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }
}

// SAFETY: blocks do not overlap, and stay valid until the scope ends, which outlives its borrows. A
// nested scope, which uses the memory behind them, borrows it mutably.
unsafe impl Allocator for &Scope<'_, '_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Block {
        block(Scope::allocate(self, layout), layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        unsafe { bump.free(start, layout, highest) }
    }

    #[inline]
    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        let (bump, highest) = self.parts();
        // SAFETY: guaranteed by the caller.
        block(unsafe { bump.resize(start, old, new, highest) }, new)
    }

    #[inline]
    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
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
    fn allocate(&self, layout: Layout) -> Block {
        allocate(*self, layout)
    }

    #[inline]
    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller guarantees that it is a block of this stack that was not freed.
        unsafe { free(*self, start, layout) }
    }

    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        // SAFETY: the caller guarantees that `start` is a block with this layout.
        unsafe { resize(*self, start, old, new) }
    }

    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        // SAFETY: the caller guarantees that `start` is a block with this layout.
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
        // SAFETY: the caller guarantees that it is a block of this end that was not freed.
        unsafe { free(*self, start, layout) }
    }

    unsafe fn grow(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        // SAFETY: the caller guarantees that `start` is a block with this layout.
        unsafe { resize(*self, start, old, new) }
    }

    unsafe fn shrink(&self, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
        // SAFETY: the caller guarantees that `start` is a block with this layout.
        unsafe { resize(*self, start, old, new) }
    }
}

/// Common interface of `&Stack` and `StackEnd`.
trait Blocks: Copy {
    fn push(self, layout: Layout) -> Result<NonNull<u8>, Error>;

    fn is_top(self, start: NonNull<u8>) -> bool;

    /// # Safety
    /// - The conditions of [`Stack::resize`].
    unsafe fn resize_top(self, start: NonNull<u8>, new: Layout) -> Result<NonNull<u8>, Error>;

    /// # Safety
    /// - `start` is a block with this layout that was not freed before, and nothing uses it.
    unsafe fn free_any(self, start: NonNull<u8>, layout: Layout);

    /// # Safety
    /// - `start` is a block with the layout `old`, not freed and not the top. `size` is not larger,
    ///   and nothing uses the bytes behind it.
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
        // SAFETY: guaranteed by the caller.
        unsafe { self.resize(start, new) }
    }

    #[inline]
    unsafe fn free_any(self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.low().free(start, layout) }
    }

    unsafe fn shrink_any(self, start: NonNull<u8>, old: Layout, size: usize) {
        // SAFETY: guaranteed by the caller.
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
        // SAFETY: guaranteed by the caller.
        unsafe { self.resize(start, new) }
    }

    #[inline]
    unsafe fn free_any(self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { StackEnd::free_any(self, start, layout) }
    }

    unsafe fn shrink_any(self, start: NonNull<u8>, old: Layout, size: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { StackEnd::shrink_any(self, start, old, size) }
    }
}

/// Allocates a block. A block of 0 bytes has a dangling address outside the stack, because some
/// collections shrink to 0 bytes and never free.
#[inline]
fn allocate(stack: impl Blocks, layout: Layout) -> Block {
    match layout.size() {
        0 => block(Ok(dangling(layout)), layout),
        _ => block(stack.push(layout), layout),
    }
}

/// # Safety
/// - `start` is a block of `stack` with this layout, and not freed. Nothing uses it.
#[inline]
unsafe fn free(stack: impl Blocks, start: NonNull<u8>, layout: Layout) {
    if layout.size() != 0 {
        // SAFETY: guaranteed by the caller.
        unsafe { stack.free_any(start, layout) }
    }
}

/// Changes the layout of a block: the top in place, any other by a copy if necessary.
///
/// # Safety
/// - `start` is a block of `stack` with the layout `old`. After success nothing uses its old
///   address.
unsafe fn resize(stack: impl Blocks, start: NonNull<u8>, old: Layout, new: Layout) -> Block {
    if old.size() != 0 && new.size() != 0 {
        if stack.is_top(start) {
            // SAFETY: guaranteed by the caller.
            return block(unsafe { stack.resize_top(start, new) }, new);
        }
        let is_aligned = start.addr().get() & (new.align() - 1) == 0;
        if is_aligned && new.size() <= old.size() {
            // SAFETY: it is not the top; the rest is guaranteed by the caller.
            unsafe { stack.shrink_any(start, old, new.size()) }
            return block(Ok(start), new);
        }
    }
    let moved = allocate(stack, new)?;
    // SAFETY: both blocks have at least this number of bytes and do not overlap; the old one is
    // freed once.
    unsafe {
        moved.cast().copy_from_nonoverlapping(start, old.size().min(new.size()));
        free(stack, start, old);
    }
    Ok(moved)
}
