use core::alloc::Layout;
use core::fmt;
use core::ptr::NonNull;

use super::Region;
use super::bump::POISON;
use crate::Error;

mod high_end;
mod low_end;
#[cfg(test)]
mod tests;

pub(super) use high_end::HighEnd;
pub(super) use low_end::LowEnd;

/// Size of a block's footer or header, and unit that block sizes are rounded up to.
pub(super) const WORD_BYTES: usize = size_of::<usize>();
/// Lowest bits of such a word, which hold tags because addresses are multiples of a word.
const TAGS: usize = WORD_BYTES - 1;
/// Tag of a block that was freed while others were on top.
const FREED: usize = 1;

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
/// About 1 ns for each `allocate` and `free`. A block has a footer of one word, and its size is
/// rounded up to a word. One more word precedes the first block.
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
    low: LowEnd,
    end: NonNull<u8>,
    region: Region<'m>,
}

impl<'m> Stack<'m> {
    /// Creates a stack in the whole words of the region, all free.
    pub fn new(region: Region<'m>) -> Self {
        let (start, end) = whole_words(&region);
        // SAFETY: these are bytes of the region, which owns them exclusively as long as it exists,
        // which is as long as the stack that owns it.
        let low = unsafe { LowEnd::new(start) };
        Self { low, end, region }
    }

    /// Allocates a block of uninitialized bytes on top of all others.
    ///
    /// # Errors
    /// `Full` if the block does not fit.
    #[inline]
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.low.push(layout, self.end)
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
        self.low.pop(block)
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
        self.low.resize(block, layout, self.end)
    }

    /// Frees all blocks and keeps the memory.
    pub fn reset(&mut self) {
        self.low.reset();
    }

    /// Whether the stack has no blocks.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// Size of all blocks, footers and padding, in bytes.
    pub fn used(&self) -> usize {
        self.low.used()
    }

    /// Number of free bytes, which the next block and its footer share.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.end.addr().get() - self.low.next().addr().get()
    }

    /// Capacity in bytes, without the word in front of the first block.
    pub fn capacity(&self) -> usize {
        let (start, end) = whole_words(&self.region);
        end.addr().get() - start.addr().get() - WORD_BYTES
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn check(&self) -> Result<(), &'static str> {
        self.low.check()
    }

    #[cfg(feature = "allocator-api2")]
    pub(super) const fn low(&self) -> &LowEnd {
        &self.low
    }
}

impl fmt::Debug for Stack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, capacity) = (self.used(), self.capacity());
        f.debug_struct("Stack").field("used", &used).field("capacity", &capacity).finish()
    }
}

// SAFETY: it is an address range in memory that its owner owns, and has no thread-specific state.
unsafe impl Send for LowEnd {}
// SAFETY: it is an address range in memory that its owner owns, and has no thread-specific state.
unsafe impl Send for HighEnd {}
// SAFETY: both of its parts can be sent, and the end is part of the region.
unsafe impl Send for Stack<'_> {}

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
pub(super) fn whole_words(region: &Region<'_>) -> (NonNull<u8>, NonNull<u8>) {
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

/// Overwrites free memory with [`POISON`] in builds with debug assertions.
#[inline]
fn poison(from: NonNull<u8>, to: NonNull<u8>) {
    if cfg!(debug_assertions) {
        let size_bytes = to.addr().get() - from.addr().get();
        // SAFETY: both are in the same region, and nothing uses the bytes between them.
        unsafe { from.write_bytes(POISON, size_bytes) }
    }
}

#[cold]
#[inline(never)]
fn full(requested: usize, from: NonNull<u8>, to: NonNull<u8>) -> Error {
    let free = to.addr().get() - from.addr().get();
    Error::Full {
        requested: requested as u64,
        largest_free: free.saturating_sub(WORD_BYTES) as u64,
        total_free: free as u64,
    }
}
