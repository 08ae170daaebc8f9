use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use crate::Error;
#[cfg(debug_assertions)]
use crate::debug_aids::{fill_freed, fill_new};
use crate::region::dangling;

/// Memory that is allocated front to back: the common part of `Linear` and the scopes of
/// `ScopeStack`.
///
/// ```text
///  |<---- allocated ---->|<------- free ------->|
///  start                next                   end
/// ```
/// It bumps upwards, so that the last block can grow in place. It stores pointers instead of
/// offsets: a loop over `alloc` is bound by the latency from the store of `next` to its load, and
/// an addition between the load and the block's address doubles this latency.
///
/// The order of the fields separates `next`, which was stored last, from the fields that a fork
/// copies. If they were loaded together, all of them would wait for that store.
#[repr(C)]
pub(super) struct Bump {
    next: Cell<NonNull<u8>>,
    start: NonNull<u8>,
    end: NonNull<u8>,
}

impl Bump {
    /// # Safety
    /// - The bytes from `start` to `start + size_bytes` are one allocation, valid for reads and
    ///   writes, and nothing else uses them, as long as any allocated block is in use.
    pub(super) const unsafe fn new(start: NonNull<u8>, size_bytes: usize) -> Self {
        // SAFETY: the caller guarantees this number of bytes.
        let end = unsafe { start.add(size_bytes) };
        Self { next: Cell::new(start), start, end }
    }

    /// Creates a second allocator for the free bytes of this one.
    ///
    /// # Safety
    /// - This allocator is neither allocated from nor lowered as long as blocks of the other are in
    ///   use.
    #[inline]
    pub(super) unsafe fn fork(&self) -> Self {
        let start = self.next.get();
        Self { next: Cell::new(start), start, end: self.end }
    }

    /// Allocates a block. The address of a block of 0 bytes is arbitrary but aligned.
    #[inline]
    pub(super) fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        let next = self.next.get();
        let mask = layout.align() - 1;
        let aligned = next.addr().get().wrapping_add(mask) & !mask;
        // Negative if the alignment passes the end. A layout is never larger than isize::MAX.
        let free = self.end.addr().get().wrapping_sub(aligned) as isize;
        if free < layout.size() as isize {
            return exhausted(layout, self.remaining());
        }
        let padding = aligned.wrapping_sub(next.addr().get());
        // SAFETY: `padding + size` is at most the distance between `next` and `end`.
        let (block, end) = unsafe { (next.add(padding), next.add(padding + layout.size())) };
        self.next.set(end);
        #[cfg(debug_assertions)]
        // SAFETY: the block is new.
        unsafe {
            fill_new(block, layout.size());
        }
        Ok(block)
    }

    /// Allocates a block whose size is a multiple of its alignment, as for every Rust value. Its
    /// end is computed without its start: one addition less between the load and the store of
    /// `next`.
    #[inline]
    pub(super) fn allocate_multiple(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        debug_assert!(layout.size().is_multiple_of(layout.align()));
        let next = self.next.get();
        let mask = layout.align() - 1;
        let end = next.addr().get().wrapping_add(layout.size() + mask) & !mask;
        // Negative if the block passes the end: `size + mask` is at most isize::MAX.
        let free = self.end.addr().get().wrapping_sub(end) as isize;
        if free < 0 {
            return exhausted(layout, self.remaining());
        }
        let padded = end.wrapping_sub(next.addr().get());
        // SAFETY: `padded` is at least `size`, and at most the distance between `next` and `end`.
        let (block, end) = unsafe { (next.add(padded - layout.size()), next.add(padded)) };
        self.next.set(end);
        #[cfg(debug_assertions)]
        // SAFETY: the block is new.
        unsafe {
            fill_new(block, layout.size());
        }
        Ok(block)
    }

    /// Returns the first free byte.
    #[inline]
    pub(super) const fn next(&self) -> NonNull<u8> {
        self.next.get()
    }

    /// Returns the first byte of the memory.
    #[inline]
    pub(super) const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Number of allocated bytes, including the padding between them.
    #[inline]
    pub(super) fn used(&self) -> usize {
        self.next.get().addr().get() - self.start.addr().get()
    }

    /// Number of free bytes.
    #[inline]
    pub(super) fn remaining(&self) -> usize {
        self.end.addr().get() - self.next.get().addr().get()
    }

    /// Frees everything from `to` on and records the old end in `highest`.
    ///
    /// # Safety
    /// - `to` was a value of [`next`](Self::next), or is within a block, and is not above the
    ///   present value of `next`.
    /// - No byte from `to` on is in use.
    #[inline]
    pub(super) unsafe fn lower(&self, to: NonNull<u8>, highest: &HighWaterMark) {
        highest.raise(self.next.get());
        #[cfg(debug_assertions)]
        // SAFETY: these bytes belong to this allocator, and nothing uses them.
        unsafe {
            fill_freed(to, self.next.get().addr().get() - to.addr().get());
        }
        self.next.set(to);
    }

    /// Frees a block if it is the last one. Any other block stays allocated.
    ///
    /// # Safety
    /// - `block` was returned by this allocator for `layout`, and is no longer in use.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) unsafe fn free(&self, block: NonNull<u8>, layout: Layout, highest: &HighWaterMark) {
        if self.is_last(block, layout) {
            // SAFETY: the block ends at `next`, and the caller does not use it.
            unsafe { self.lower(block, highest) }
        }
    }

    /// Changes the size of a block: in place if it is the last one, otherwise moved if it grows.
    /// `new` may be larger or smaller than `old`. On an error the block is unchanged.
    ///
    /// # Safety
    /// - `block` was returned by this allocator for `old`. After success nothing uses its old
    ///   address.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) unsafe fn resize(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
        highest: &HighWaterMark,
    ) -> Result<NonNull<u8>, Error> {
        let is_aligned = block.addr().get() & (new.align() - 1) == 0;
        if is_aligned && self.is_last(block, old) {
            let free = self.end.addr().get() - block.addr().get();
            if new.size() > free {
                return exhausted(new, self.remaining());
            }
            // SAFETY: there are `new.size()` bytes between the block and the end.
            let end = unsafe { block.add(new.size()) };
            if new.size() < old.size() {
                // SAFETY: `end` is within the block, whose owner releases the rest.
                unsafe { self.lower(end, highest) }
            }
            self.next.set(end);
            return Ok(block);
        }
        if is_aligned && new.size() <= old.size() {
            return Ok(block);
        }
        let moved = self.allocate(new)?;
        // SAFETY: both blocks have at least this number of bytes, and no two blocks overlap.
        unsafe { moved.copy_from_nonoverlapping(block, old.size().min(new.size())) }
        Ok(moved)
    }

    /// Whether the block is the last one. False for a block of 0 bytes, which is not in this
    /// memory.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    fn is_last(&self, block: NonNull<u8>, layout: Layout) -> bool {
        let end = block.addr().get().wrapping_add(layout.size());
        layout.size() != 0 && end == self.next.get().addr().get()
    }
}

/// Highest value of `next` before it was lowered.
pub(super) struct HighWaterMark(Cell<NonNull<u8>>);

impl HighWaterMark {
    pub(super) const fn new(start: NonNull<u8>) -> Self {
        Self(Cell::new(start))
    }

    #[inline]
    pub(super) fn raise(&self, next: NonNull<u8>) {
        if next > self.0.get() {
            self.0.set(next);
        }
    }

    #[inline]
    pub(super) const fn get(&self) -> NonNull<u8> {
        self.0.get()
    }
}

// SAFETY: it is an address in memory that its owner owns.
unsafe impl Send for HighWaterMark {}

// SAFETY: it is an address range in memory that its owner owns, and has no thread-specific state.
// Blocks borrow the owner, which therefore exists while they are in use.
unsafe impl Send for Bump {}

/// Result of an allocation that does not fit: an error, or a dangling pointer for 0 bytes. The
/// parameters are values instead of the allocator, so that the compiler can keep the allocator in
/// registers.
#[cold]
#[inline(never)]
fn exhausted(layout: Layout, remaining: usize) -> Result<NonNull<u8>, Error> {
    if layout.size() == 0 {
        return Ok(dangling(layout));
    }
    let free = remaining as u64;
    Err(Error::Full { requested: layout.size() as u64, largest_free: free, total_free: free })
}
