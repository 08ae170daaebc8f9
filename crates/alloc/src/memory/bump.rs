use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use crate::Error;

/// Content of memory that was given back, where debug assertions are on.
pub(super) const POISON: u8 = 0xDD;

/// A stretch of memory that is handed out from front to back: what `Linear` and the scopes
/// of `ScopeStack` have in common.
///
/// ```text
///  |<--- handed out --->|<------- free ------->|
///  start                next                   end
/// ```
/// It bumps upwards, so that the last block can grow in place. Pointers, not offsets: the
/// loop over `alloc` is bound by the time from the store of `next` to its load, and an
/// addition between the load and the block's address doubles it.
///
/// The order of the fields keeps `next`, which was stored last, away from what else a fork
/// copies: loaded together, all would wait for that store.
#[repr(C)]
pub(super) struct Bump {
    next: Cell<NonNull<u8>>,
    start: NonNull<u8>,
    end: NonNull<u8>,
}

impl Bump {
    /// # Safety
    /// - The bytes from `start` to `start + size_bytes` are one allocation, valid for reads
    ///   and writes, and nobody else's, as long as the blocks that are handed out.
    pub(super) const unsafe fn new(start: NonNull<u8>, size_bytes: usize) -> Self {
        // SAFETY: the caller says that there are as many bytes.
        let end = unsafe { start.add(size_bytes) };
        Self { next: Cell::new(start), start, end }
    }

    /// A second one over what is free in this.
    ///
    /// # Safety
    /// - This one hands out nothing and is not lowered as long as blocks of the other are
    ///   in use.
    #[inline]
    pub(super) unsafe fn fork(&self) -> Self {
        let start = self.next.get();
        Self { next: Cell::new(start), start, end: self.end }
    }

    /// A block; of no bytes anywhere.
    #[inline]
    pub(super) fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        let next = self.next.get();
        let mask = layout.align() - 1;
        let aligned = next.addr().get().wrapping_add(mask) & !mask;
        // Negative where aligning goes past the end; a layout is never larger than isize::MAX.
        let room = self.end.addr().get().wrapping_sub(aligned) as isize;
        if room < layout.size() as isize {
            return exhausted(layout, self.remaining());
        }
        let padding = aligned.wrapping_sub(next.addr().get());
        // SAFETY: `padding + size` is at most what lies between `next` and `end`.
        let (block, end) = unsafe { (next.add(padding), next.add(padding + layout.size())) };
        self.next.set(end);
        Ok(block)
    }

    /// A block whose size is a multiple of its alignment, as that of every value is: where it
    /// ends is then known without knowing where it begins, which is one addition less between
    /// the load of `next` and the next store of it.
    #[inline]
    pub(super) fn allocate_multiple(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        debug_assert!(layout.size().is_multiple_of(layout.align()));
        let next = self.next.get();
        let mask = layout.align() - 1;
        let end = next.addr().get().wrapping_add(layout.size() + mask) & !mask;
        // Negative where the block goes past the end: `size + mask` is at most isize::MAX.
        let room = self.end.addr().get().wrapping_sub(end) as isize;
        if room < 0 {
            return exhausted(layout, self.remaining());
        }
        let padded = end.wrapping_sub(next.addr().get());
        // SAFETY: `padded` is at least `size`, and at most what lies between `next` and `end`.
        let (block, end) = unsafe { (next.add(padded - layout.size()), next.add(padded)) };
        self.next.set(end);
        Ok(block)
    }

    /// The first byte that is free.
    #[inline]
    pub(super) const fn next(&self) -> NonNull<u8> {
        self.next.get()
    }

    /// The first byte of all.
    #[inline]
    pub(super) const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Bytes handed out, and the padding between them.
    #[inline]
    pub(super) fn used(&self) -> usize {
        self.next.get().addr().get() - self.start.addr().get()
    }

    /// Bytes that are free.
    #[inline]
    pub(super) fn remaining(&self) -> usize {
        self.end.addr().get() - self.next.get().addr().get()
    }

    /// Takes back all from `to` on. `highest` takes note of how far it had come.
    ///
    /// # Safety
    /// - `to` was a value of [`next`](Self::next), or lies in a block, and is not above
    ///   what `next` is now.
    /// - No byte from `to` on is in use.
    #[inline]
    pub(super) unsafe fn lower(&self, to: NonNull<u8>, highest: &HighMark) {
        highest.saw(self.next.get());
        if cfg!(debug_assertions) {
            let size_bytes = self.next.get().addr().get() - to.addr().get();
            // SAFETY: these bytes are ours, and nobody uses them.
            unsafe { to.write_bytes(POISON, size_bytes) }
        }
        self.next.set(to);
    }

    /// Takes the block back if it is the last; else it stays where it is.
    ///
    /// # Safety
    /// - `block` came from this with `layout`, and is not in use any more.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) unsafe fn free(&self, block: NonNull<u8>, layout: Layout, highest: &HighMark) {
        if self.is_last(block, layout) {
            // SAFETY: the block ends at `next`, and the caller does not use it.
            unsafe { self.lower(block, highest) }
        }
    }

    /// The block with another size: the last one in place, any other moved if it grows.
    /// `old` may be larger than `new` or smaller; on error it stays as it is.
    ///
    /// # Safety
    /// - `block` came from this with `old`. After success nobody uses it by its old address.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) unsafe fn resize(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
        highest: &HighMark,
    ) -> Result<NonNull<u8>, Error> {
        let is_aligned = block.addr().get() & (new.align() - 1) == 0;
        if is_aligned && self.is_last(block, old) {
            let room = self.end.addr().get() - block.addr().get();
            if new.size() > room {
                return exhausted(new, self.remaining());
            }
            // SAFETY: `new.size()` bytes lie between the block and the end.
            let end = unsafe { block.add(new.size()) };
            if new.size() < old.size() {
                // SAFETY: `end` lies in the block, whose owner gives the rest back.
                unsafe { self.lower(end, highest) }
            }
            self.next.set(end);
            return Ok(block);
        }
        if is_aligned && new.size() <= old.size() {
            return Ok(block);
        }
        let moved = self.allocate(new)?;
        // SAFETY: both are blocks of at least as many bytes, and no two blocks overlap.
        unsafe { moved.copy_from_nonoverlapping(block, old.size().min(new.size())) }
        Ok(moved)
    }

    /// A block of no bytes is no block of ours.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    fn is_last(&self, block: NonNull<u8>, layout: Layout) -> bool {
        let end = block.addr().get().wrapping_add(layout.size());
        layout.size() != 0 && end == self.next.get().addr().get()
    }
}

/// The highest that `next` ever was before it was lowered.
pub(super) struct HighMark(Cell<NonNull<u8>>);

impl HighMark {
    pub(super) const fn new(start: NonNull<u8>) -> Self {
        Self(Cell::new(start))
    }

    #[inline]
    pub(super) fn saw(&self, next: NonNull<u8>) {
        if next > self.0.get() {
            self.0.set(next);
        }
    }

    #[inline]
    pub(super) const fn get(&self) -> NonNull<u8> {
        self.0.get()
    }
}

// SAFETY: it is an address of memory that its owner owns.
unsafe impl Send for HighMark {}

// SAFETY: it is where memory lies that its owner owns, and holds no thread's state. Blocks
// borrow the owner, which therefore stays while they are in use.
unsafe impl Send for Bump {}

/// No room, unless nothing was asked for. Takes values, not the allocator, so that the
/// compiler may keep that in registers.
#[cold]
#[inline(never)]
fn exhausted(layout: Layout, remaining: usize) -> Result<NonNull<u8>, Error> {
    if layout.size() == 0 {
        return Ok(dangling(layout));
    }
    let free = remaining as u64;
    Err(Error::Full { requested: layout.size() as u64, largest_free: free, total_free: free })
}

/// Where a block of no bytes lies: nowhere, but aligned.
pub(super) const fn dangling(layout: Layout) -> NonNull<u8> {
    let address = core::ptr::without_provenance_mut(layout.align());
    match NonNull::new(address) {
        Some(address) => address,
        // No alignment is zero.
        None => NonNull::dangling(),
    }
}
