use core::alloc::Layout;
use core::fmt;
use core::ptr::NonNull;

use super::Region;
use super::stack::{HighEnd, LowEnd, WORD_BYTES, whole_words};
use crate::Error;

#[cfg(test)]
mod tests;

/// Two stacks in one region, which grow towards each other; it is full when they meet.
///
/// ```text
///  |[bbbb│f][bb│f]|.......... free ..........|[h│bbbbbbb][h│bb]|
///         low()   ──►                      ◄──   high()
/// ```
/// For two kinds of things that live by two orders of their own: what stays of a level at
/// one end, what is needed only to load it at the other. Neither takes room from the other
/// before it needs it.
///
/// # Cost
/// As [`Stack`](super::Stack) for both ends.
///
/// # Examples
/// ```
/// use std::alloc::Layout;
/// use drystone_alloc::memory::{DoubleStack, Region};
///
/// let stack = DoubleStack::new(Region::heap(4096)?);
/// let kept = stack.low().allocate(Layout::new::<[u8; 1000]>())?;
/// let scratch = stack.high().allocate(Layout::new::<[u8; 3000]>())?;
/// assert!(stack.low().allocate(Layout::new::<[u8; 1000]>()).is_err());
/// // SAFETY: the block is not used.
/// unsafe { stack.high().free(scratch)? };
/// assert!(stack.low().allocate(Layout::new::<[u8; 1000]>()).is_ok());
/// # let _ = kept;
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
pub struct DoubleStack<'m> {
    low: LowEnd,
    high: HighEnd,
    region: Region<'m>,
}

impl<'m> DoubleStack<'m> {
    /// All of the region, free, but for what does not begin or end at a multiple of a word.
    pub fn new(region: Region<'m>) -> Self {
        let (start, end) = whole_words(&region);
        // SAFETY: these are bytes of the region, which are its own as long as it exists,
        // which is as long as the stack that owns it. Each end is given the edge of the
        // other as its limit.
        let (low, high) = unsafe { (LowEnd::new(start), HighEnd::new(end)) };
        Self { low, high, region }
    }

    /// The end that grows upwards.
    #[inline]
    pub const fn low(&self) -> StackEnd<'_, 'm> {
        StackEnd { stack: self, is_low: true }
    }

    /// The end that grows downwards.
    #[inline]
    pub const fn high(&self) -> StackEnd<'_, 'm> {
        StackEnd { stack: self, is_low: false }
    }

    /// Takes everything back and keeps the memory.
    pub fn reset(&mut self) {
        self.low.reset();
        self.high.reset();
    }

    /// Whether there is no block at either end.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty() && self.high.is_empty()
    }

    /// Bytes of blocks, a word for each, and padding.
    pub fn used(&self) -> usize {
        self.capacity() - self.remaining()
    }

    /// Bytes between the two ends.
    pub fn remaining(&self) -> usize {
        self.high.edge().addr().get() - self.low.next().addr().get()
    }

    /// All bytes, but for the word in front of the first block.
    pub fn capacity(&self) -> usize {
        let (start, end) = whole_words(&self.region);
        end.addr().get() - start.addr().get() - WORD_BYTES
    }

    /// Walks all blocks and says what is wrong with them, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.low.check()?;
        self.high.check()?;
        match self.low.next() <= self.high.edge() {
            true => Ok(()),
            false => Err("the two ends lie across each other"),
        }
    }
}

impl fmt::Debug for DoubleStack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, capacity) = (self.used(), self.capacity());
        f.debug_struct("DoubleStack").field("used", &used).field("capacity", &capacity).finish()
    }
}

/// One end of a [`DoubleStack`]: a stack of its own, except for where it is full.
///
/// With the feature `allocator-api2` it is an `allocator_api2::Allocator`, as `&Stack` is.
#[derive(Clone, Copy, Debug)]
pub struct StackEnd<'d, 'm> {
    stack: &'d DoubleStack<'m>,
    is_low: bool,
}

impl StackEnd<'_, '_> {
    /// A block of unknown content on top of all others of this end.
    ///
    /// # Errors
    /// `Full` when it would reach into the other end.
    #[inline]
    pub fn allocate(self, layout: Layout) -> Result<NonNull<u8>, Error> {
        let DoubleStack { low, high, .. } = self.stack;
        if self.is_low { low.push(layout, high.edge()) } else { high.push(layout, low.next()) }
    }

    /// Takes the top of this end back.
    ///
    /// # Errors
    /// `OutOfOrder` when others lie on top of it, `NotAllocated` when it is no block of this
    /// end or was freed before. Nothing changes then.
    ///
    /// # Safety
    /// - After success nobody uses the block. (It is not checked whether a block that was
    ///   allocated since begins at the same address.)
    #[inline]
    pub unsafe fn free(self, block: NonNull<u8>) -> Result<(), Error> {
        if self.is_low { self.stack.low.pop(block) } else { self.stack.high.pop(block) }
    }

    /// Makes the top of this end larger or smaller. Its content stays as far as both sizes
    /// go. At the low end it stays where it is, if it is aligned; at the high end it moves.
    ///
    /// # Errors
    /// As [`free`](Self::free), and `Full`. Nothing changes then.
    ///
    /// # Safety
    /// - After success nobody uses the block by its old address or size.
    #[inline]
    pub unsafe fn resize(self, block: NonNull<u8>, layout: Layout) -> Result<NonNull<u8>, Error> {
        let DoubleStack { low, high, .. } = self.stack;
        if self.is_low {
            low.resize(block, layout, high.edge())
        } else {
            high.resize(block, layout, low.next())
        }
    }

    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) fn is_top(self, block: NonNull<u8>) -> bool {
        if self.is_low { self.stack.low.is_top(block) } else { self.stack.high.is_top(block) }
    }

    /// Takes a block of this end back, now or when those on top of it have gone.
    ///
    /// # Safety
    /// - It is a block of this end with this layout, was not freed before, and nobody uses
    ///   it.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) unsafe fn free_any(self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe {
            if self.is_low {
                self.stack.low.free(block, layout);
            } else {
                self.stack.high.free(block);
            }
        }
    }

    /// Makes a block of this end smaller that is not the top.
    ///
    /// # Safety
    /// - It is a block of this end, not the top, with the layout `old`, and was not freed.
    ///   The new size is not larger, and nobody uses what is behind it.
    #[cfg(feature = "allocator-api2")]
    pub(super) unsafe fn shrink_any(self, block: NonNull<u8>, old: Layout, size: usize) {
        // At the high end a block's word is in front of it, wherever it ends.
        if self.is_low {
            // SAFETY: as the caller says.
            unsafe { self.stack.low.shrink(block, old, size) }
        }
    }
}
