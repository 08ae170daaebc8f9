use core::alloc::Layout;
use core::fmt;
use core::ptr::NonNull;

use crate::{DoubleStack, Error, Region, StackEnd, StackMark};

#[cfg(test)]
mod tests;

/// Stack of memory blocks: the block that was allocated last is freed first.
///
/// ```text
///  |[bbbb│f][bb│f]······[bbbbbbbbbbb│f]|.......... free ..........|
///                         ▲ top
/// ```
/// Suited to temporary data that is freed in reverse: buffers of nested calls, levels of a parser.
/// The sequence is checked: freeing any block but the top is an error and changes nothing.
///
/// With the feature `allocator-api2`, `&Stack` implements `Allocator` for vectors, maps and boxes.
/// A block freed out of sequence is then released as soon as all blocks on top of it are freed. A
/// block that is not the top is copied to grow.
///
/// Source: Chris Brough's article on allocators, "Stack Allocator". The footer takes the place of
/// the article's prefix, so that the test for the top needs no address arithmetic.
///
/// About 1 ns for each `allocate` and `free`, and a call more for an allocation that raises the
/// high-water mark. A block has a footer of one word, and its size is rounded up to a word. One more
/// word precedes the first block.
///
/// # Examples
/// ```
/// use std::alloc::Layout;
/// use drystone_memory::{Error, Region, Stack};
///
/// let stack = Stack::new(Region::heap(4096)?);
/// let below = stack.allocate(Layout::new::<[u8; 100]>())?;
/// let above = stack.allocate(Layout::new::<u64>())?;
/// // SAFETY: nothing uses the blocks.
/// unsafe {
///     assert_eq!(stack.free(below), Err(Error::OutOfOrder));
///     stack.free(above)?;
///     stack.free(below)?;
///     assert_eq!(stack.free(below), Err(Error::NotAllocated));
/// }
/// assert!(stack.is_empty());
/// # Ok::<(), drystone_memory::Error>(())
/// ```
pub struct Stack<'m> {
    ends: DoubleStack<'m>,
}

impl<'m> Stack<'m> {
    /// Creates a stack in the whole words of the region, all free.
    pub fn new(region: Region<'m>) -> Self {
        Self { ends: DoubleStack::new(region) }
    }

    /// Allocates a block of uninitialized bytes on top of all others.
    ///
    /// # Errors
    /// `Full` if the block does not fit.
    #[inline]
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.low().allocate(layout)
    }

    /// Frees the top block.
    ///
    /// # Errors
    /// `OutOfOrder` if other blocks are on top of it. `NotAllocated` if it is no block of this
    /// stack or was freed before. Nothing changes then. To distinguish these errors, all blocks are
    /// visited.
    ///
    /// # Safety
    /// - After success nothing uses the block. A newer block that begins at the same address would
    ///   be freed instead, which is not detected.
    #[inline]
    pub unsafe fn free(&self, block: NonNull<u8>) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.low().free(block) }
    }

    /// Returns the present top, which [`free_to`](Self::free_to) goes back to.
    ///
    /// # Examples
    /// ```
    /// # use std::alloc::Layout;
    /// # use drystone_memory::{Region, Stack};
    /// let stack = Stack::new(Region::heap(4096)?);
    /// stack.allocate(Layout::new::<[u64; 4]>())?;
    /// let mark = stack.mark();
    /// for _ in 0..10 {
    ///     stack.allocate(Layout::new::<[u64; 8]>())?;
    /// }
    /// // SAFETY: nothing uses the ten blocks.
    /// unsafe { stack.free_to(mark)? };
    /// assert_eq!((stack.used(), stack.high_water()), (5 * 8, 5 * 8 + 10 * 9 * 8));
    /// # Ok::<(), drystone_memory::Error>(())
    /// ```
    #[inline]
    pub const fn mark(&self) -> StackMark {
        self.low().mark()
    }

    /// Frees all blocks that were allocated since `mark`. If all of them are freed already, nothing
    /// changes.
    ///
    /// # Cost
    /// O(freed blocks). An error visits all blocks.
    ///
    /// # Errors
    /// `NotAllocated` if no block begins or ends at the mark: the mark belongs to another stack, or
    /// blocks below it were freed and others allocated since. Nothing changes then.
    ///
    /// # Safety
    /// - After success nothing uses the blocks above the mark. If blocks below the mark were freed
    ///   and a newer one ends at the mark, this is not detected.
    pub unsafe fn free_to(&self, mark: StackMark) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.low().free_to(mark) }
    }

    /// Changes the size of the top block in place. Its content is preserved up to the smaller size.
    /// The block moves only if the new layout has a larger alignment.
    ///
    /// # Errors
    /// `OutOfOrder` if other blocks are on top of it. `NotAllocated` if it is no block of this
    /// stack or was freed before. `Full` if the new size does not fit. Nothing changes then.
    ///
    /// # Safety
    /// - After success nothing uses the block by its old address or size.
    #[inline]
    pub unsafe fn resize(&self, block: NonNull<u8>, layout: Layout) -> Result<NonNull<u8>, Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.low().resize(block, layout) }
    }

    /// Frees all blocks and keeps the memory.
    pub fn reset(&mut self) {
        self.ends.reset();
    }

    /// Whether the stack has no blocks.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Size of all blocks, footers and padding, in bytes.
    pub fn used(&self) -> usize {
        self.ends.used()
    }

    /// Number of free bytes, which the next block and its footer share.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.ends.remaining()
    }

    /// Largest number of bytes that were ever in use at once, like [`used`](Self::used).
    pub fn high_water(&self) -> usize {
        self.ends.high_water()
    }

    /// Capacity in bytes, without the word in front of the first block.
    pub fn capacity(&self) -> usize {
        self.ends.capacity()
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.ends.validate()
    }

    /// Returns the only end that is used.
    #[inline]
    pub(super) const fn low(&self) -> StackEnd<'_, 'm> {
        self.ends.low()
    }
}

impl fmt::Debug for Stack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, capacity) = (self.used(), self.capacity());
        f.debug_struct("Stack").field("used", &used).field("capacity", &capacity).finish()
    }
}
