use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::ptr::NonNull;

use crate::debug_aids::{Leak, fill_freed, fill_new, report_leak};
use crate::{Error, Region};

mod high_end;
mod low_end;
#[cfg(test)]
mod tests;

use high_end::HighEnd;
use low_end::LowEnd;

/// Size of a block's footer or header, and unit that block sizes are rounded up to.
pub(super) const WORD_BYTES: usize = size_of::<usize>();
/// Lowest bits of such a word, which hold tags because addresses are multiples of a word.
const TAGS: usize = WORD_BYTES - 1;
/// Tag of a block that was freed while others were on top.
const FREED: usize = 1;

/// Two stacks in one region that grow towards each other. Both are full when they meet.
///
/// ```text
///  |[bbbb│f][bb│f]|.......... free ..........|[h│bbbbbbb][h│bb]|
///         low()   ──►                      ◄──   high()
/// ```
/// Suited to two kinds of data with separate lifetimes: data that stays in a level at one end, data
/// needed only while it loads at the other. Each end can use all memory that the other one does not
/// use. Each end can be freed block by block, back to a [`StackMark`], or as a whole.
///
/// Source: Chris Brough's article on allocators, "Stack Allocator", which describes the double
/// ended stack as an extension.
///
/// # Cost
/// About 1 ns for each `allocate` and `free` at both ends, and a call more for an allocation that
/// raises the high-water mark. A block has one word of metadata, and its size is rounded up to a
/// word.
///
/// # Examples
/// ```
/// use std::alloc::Layout;
/// use drystone_memory::{DoubleStack, Region};
///
/// let stack = DoubleStack::new(Region::heap(4096)?);
/// let kept = stack.low().allocate(Layout::new::<[u8; 1000]>())?;
/// let scratch = stack.high().allocate(Layout::new::<[u8; 3000]>())?;
/// assert!(stack.low().allocate(Layout::new::<[u8; 1000]>()).is_err());
/// // SAFETY: nothing uses the block.
/// unsafe { stack.high().free(scratch)? };
/// assert!(stack.low().allocate(Layout::new::<[u8; 1000]>()).is_ok());
/// assert_eq!(stack.high_water(), 4016);
/// # let _ = kept;
/// # Ok::<(), drystone_memory::Error>(())
/// ```
pub struct DoubleStack<'m> {
    low: LowEnd,
    high: HighEnd,
    /// Smallest number of free bytes so far.
    least_free: Cell<usize>,
    pub(super) region: Region<'m>,
}

impl<'m> DoubleStack<'m> {
    /// Creates a stack in the whole words of the region, all free.
    pub fn new(region: Region<'m>) -> Self {
        let (start, end) = whole_words(&region);
        // SAFETY: these are bytes of the region, which owns them exclusively as long as it exists,
        // which is as long as the stack that owns it. Each end gets the edge of the other as its
        // limit.
        let (low, high) = unsafe { (LowEnd::new(start), HighEnd::new(end)) };
        let stack = Self { low, high, least_free: Cell::new(0), region };
        stack.least_free.set(stack.remaining());
        stack
    }

    /// Returns the end that grows upwards.
    #[inline]
    pub const fn low(&self) -> StackEnd<'_, 'm> {
        StackEnd { stack: self, is_low: true }
    }

    /// Returns the end that grows downwards.
    #[inline]
    pub const fn high(&self) -> StackEnd<'_, 'm> {
        StackEnd { stack: self, is_low: false }
    }

    /// Frees all blocks at both ends and keeps the memory. [`StackEnd::reset`] resets one end.
    pub fn reset(&mut self) {
        self.report_leaks();
        self.low.reset();
        self.high.reset();
    }

    fn report_leaks(&self) {
        let sizes = || self.low.live_sizes().chain(self.high.live_sizes());
        report_leak(|| Leak::of("stack", sizes()));
    }

    /// Whether both ends have no blocks.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty() && self.high.is_empty()
    }

    /// Size of all blocks, one word of metadata for each, and padding, in bytes.
    pub fn used(&self) -> usize {
        self.capacity() - self.remaining()
    }

    /// Number of free bytes between the two ends.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.high.edge().addr().get() - self.low.next().addr().get()
    }

    /// Capacity in bytes, without the word in front of the first block.
    pub fn capacity(&self) -> usize {
        let (start, end) = whole_words(&self.region);
        end.addr().get() - start.addr().get() - WORD_BYTES
    }

    /// Largest number of bytes that both ends together ever used at once, like
    /// [`used`](Self::used). A region of this size and one word is large enough.
    pub fn high_water(&self) -> usize {
        self.capacity() - self.least_free.get()
    }

    /// Records the free bytes after a block was allocated or resized.
    #[inline]
    fn record_use(&self) {
        self.least_free.set(self.least_free.get().min(self.remaining()));
    }

    #[cold]
    fn full(&self, layout: Layout) -> Error {
        let free = self.remaining();
        Error::Full {
            requested: layout.size() as u64,
            largest_free: free.saturating_sub(WORD_BYTES) as u64,
            total_free: free as u64,
        }
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        if self.least_free.get() > self.remaining() {
            return Err("more bytes are in use than at the high-water mark");
        }
        self.low.validate()?;
        self.high.validate()?;
        match self.low.next() <= self.high.edge() {
            true => Ok(()),
            false => Err("the two ends overlap"),
        }
    }
}

impl Drop for DoubleStack<'_> {
    #[inline]
    fn drop(&mut self) {
        self.report_leaks();
    }
}

impl fmt::Debug for DoubleStack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, capacity) = (self.used(), self.capacity());
        f.debug_struct("DoubleStack").field("used", &used).field("capacity", &capacity).finish()
    }
}

/// One end of a [`DoubleStack`]: a stack that is full where the other end begins.
///
/// With the feature `allocator-api2`, `StackEnd` implements `Allocator`, like `&Stack`.
#[derive(Clone, Copy, Debug)]
pub struct StackEnd<'d, 'm> {
    stack: &'d DoubleStack<'m>,
    is_low: bool,
}

impl StackEnd<'_, '_> {
    /// Allocates a block of uninitialized bytes on top of all others of this end.
    ///
    /// # Errors
    /// `Full` if the block would overlap the other end.
    #[inline]
    pub fn allocate(self, layout: Layout) -> Result<NonNull<u8>, Error> {
        // Where other blocks were before, the high-water mark needs no update.
        let block = match self.push(layout, self.stack.least_free.get()) {
            Some(block) => block,
            None => self.allocate_beyond(layout)?,
        };
        if cfg!(debug_assertions) {
            // SAFETY: the block is new, and as large as its layout.
            unsafe { fill_new(block, layout.size()) };
        }
        Ok(block)
    }

    /// Allocates a block. `None` if fewer than `kept_free` bytes would be free afterwards.
    #[inline]
    fn push(self, layout: Layout, kept_free: usize) -> Option<NonNull<u8>> {
        let DoubleStack { low, high, .. } = self.stack;
        match self.is_low {
            true => low.push(layout, high.edge().addr().get() - kept_free),
            false => high.push(layout, low.next().addr().get() + kept_free),
        }
    }

    /// Allocates a block after which fewer bytes are free than ever before.
    #[cold]
    fn allocate_beyond(self, layout: Layout) -> Result<NonNull<u8>, Error> {
        let block = self.push(layout, 0).ok_or_else(|| self.stack.full(layout))?;
        self.stack.record_use();
        Ok(block)
    }

    /// Frees the top block of this end.
    ///
    /// # Errors
    /// `OutOfOrder` if other blocks are on top of it. `NotAllocated` if it is no block of this end
    /// or was freed before. Nothing changes then.
    ///
    /// # Safety
    /// - After success nothing uses the block. A newer block that begins at the same address would
    ///   be freed instead, which is not detected.
    #[inline]
    pub unsafe fn free(self, block: NonNull<u8>) -> Result<(), Error> {
        if self.is_low { self.stack.low.pop(block) } else { self.stack.high.pop(block) }
    }

    /// Returns the present position of this end, which [`free_to`](Self::free_to) goes back to.
    #[inline]
    pub const fn mark(self) -> StackMark {
        let DoubleStack { low, high, .. } = self.stack;
        let at = if self.is_low { low.next() } else { high.edge() };
        StackMark { at, is_low: self.is_low }
    }

    /// Frees all blocks that were allocated at this end since `mark`. If all of them are freed
    /// already, nothing changes.
    ///
    /// # Cost
    /// O(freed blocks). An error visits all blocks.
    ///
    /// # Errors
    /// `NotAllocated` if no block of this end begins or ends at the mark: the mark belongs to
    /// another stack or end, or blocks below it were freed and others allocated since. Nothing changes
    /// then.
    ///
    /// # Safety
    /// - After success nothing uses the blocks beyond the mark. If blocks below the mark were freed
    ///   and a newer one ends at the mark, this is not detected.
    pub unsafe fn free_to(self, mark: StackMark) -> Result<(), Error> {
        let (start, end) = whole_words(&self.stack.region);
        if mark.is_low != self.is_low || !(start..=end).contains(&mark.at) {
            return Err(Error::NotAllocated);
        }
        if self.is_low { self.stack.low.pop_to(mark.at) } else { self.stack.high.pop_to(mark.at) }
    }

    /// Frees all blocks of this end and keeps those of the other.
    ///
    /// # Safety
    /// - Nothing uses the blocks of this end any more, collections included.
    pub unsafe fn reset(self) {
        let DoubleStack { low, high, .. } = self.stack;
        if self.is_low {
            report_leak(|| Leak::of("stack", low.live_sizes()));
            low.reset();
        } else {
            report_leak(|| Leak::of("stack", high.live_sizes()));
            high.reset();
        }
    }

    /// Changes the size of the top block of this end. Its content is preserved up to the smaller
    /// size. At the low end the block stays in place if it is aligned; at the high end it moves.
    ///
    /// # Errors
    /// `OutOfOrder` if other blocks are on top of it. `NotAllocated` if it is no block of this end
    /// or was freed before. `Full` if the new size does not fit. Nothing changes then.
    ///
    /// # Safety
    /// - After success nothing uses the block by its old address or size.
    #[inline]
    pub unsafe fn resize(self, block: NonNull<u8>, layout: Layout) -> Result<NonNull<u8>, Error> {
        let DoubleStack { low, high, .. } = self.stack;
        let resized = match self.is_low {
            true => low.resize(block, layout, high.edge().addr().get())?,
            false => high.resize(block, layout, low.next().addr().get())?,
        };
        let resized = resized.ok_or_else(|| self.stack.full(layout))?;
        self.stack.record_use();
        Ok(resized)
    }

    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) fn is_top(self, block: NonNull<u8>) -> bool {
        if self.is_low { self.stack.low.is_top(block) } else { self.stack.high.is_top(block) }
    }

    /// Frees a block of this end, now or as soon as all blocks on top of it are freed.
    ///
    /// # Safety
    /// - It is a block of this end with this layout, was not freed before, and nothing uses it.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) unsafe fn free_any(self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if self.is_low {
                self.stack.low.free(block, layout);
            } else {
                self.stack.high.free(block);
            }
        }
    }

    /// Shrinks a block of this end that is not the top.
    ///
    /// # Safety
    /// - It is a block of this end, not the top, with the layout `old`, and was not freed. The new
    ///   size is not larger, and nothing uses the bytes behind it.
    #[cfg(feature = "allocator-api2")]
    pub(super) unsafe fn shrink_any(self, block: NonNull<u8>, old: Layout, size: usize) {
        // At the high end a block's header is in front of it, so a new end changes nothing.
        if self.is_low {
            // SAFETY: guaranteed by the caller.
            unsafe { self.stack.low.shrink(block, old, size) }
        }
    }
}

/// Position in a [`Stack`](crate::Stack) or at an end of a [`DoubleStack`]. Everything allocated
/// since can be freed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackMark {
    at: NonNull<u8>,
    is_low: bool,
}

// SAFETY: it is an address range in memory that its owner owns, and has no thread-specific state.
unsafe impl Send for LowEnd {}
// SAFETY: it is an address range in memory that its owner owns, and has no thread-specific state.
unsafe impl Send for HighEnd {}

/// Memory of stacks whose region has no whole word.
struct EmptyStack([*mut u8; 1]);

// SAFETY: it is a null pointer that is never written.
unsafe impl Sync for EmptyStack {}

static EMPTY_STACK: EmptyStack = EmptyStack([low_end::NO_BLOCK]);

/// Returns the address of stacks without memory. They share the word in front of the first block,
/// and are full.
fn empty_stack() -> NonNull<u8> {
    NonNull::from(&EMPTY_STACK.0).cast()
}

/// Returns the part of a region that begins and ends at a multiple of a word, at least one word.
fn whole_words(region: &Region<'_>) -> (NonNull<u8>, NonNull<u8>) {
    let before = region.start().addr().get().wrapping_neg() % WORD_BYTES;
    let inside = region.size_bytes().saturating_sub(before) / WORD_BYTES * WORD_BYTES;
    // SAFETY: both ends are in the region, or in the word that replaces it.
    unsafe {
        match inside {
            0 => (empty_stack(), empty_stack().add(WORD_BYTES)),
            _ => (region.start().add(before), region.start().add(before + inside)),
        }
    }
}

/// Rounds a size up to whole words. Cannot overflow, because layouts are at most isize::MAX.
#[inline]
const fn round_up(size_bytes: usize) -> usize {
    (size_bytes + (WORD_BYTES - 1)) & !(WORD_BYTES - 1)
}

/// Overwrites free memory in builds with debug assertions.
#[inline]
fn poison(from: NonNull<u8>, to: NonNull<u8>) {
    // SAFETY: both are in the same region, and nothing uses the bytes between them.
    unsafe { fill_freed(from, to.addr().get() - from.addr().get()) }
}
