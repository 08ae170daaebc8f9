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

/// What a block has besides its bytes, and what its size is rounded up to.
pub(super) const WORD_BYTES: usize = size_of::<usize>();
/// Lowest bits of such a word, which is a multiple of itself.
const TAGS: usize = WORD_BYTES - 1;
/// In the word of a block that was freed while others lay on top.
const FREED: usize = 1;

/// Blocks on top of each other: the last that was allocated is the first to be freed.
///
/// ```text
///  |[bbbb│f][bb│f]······[bbbbbbbbbbb│f]|.......... free ..........|
///                         ▲ top
/// ```
/// For what is needed in between and given back in reverse: buffers of nested calls, levels
/// of a parser. The order is checked: freeing anything but the top is an error and changes
/// nothing.
///
/// As an `allocator_api2::Allocator` (feature `allocator-api2`, on `&Stack`) it serves
/// vectors, maps and boxes. There, what is freed out of order waits until all on top of it
/// is freed, and a block that is not the top is copied to grow.
///
/// # Cost
/// Some 1 ns for each `allocate` and `free`. A block has a footer of one word, and its size
/// is rounded up to one; one more word stands in front of the first block.
///
/// # Examples
/// ```
/// use std::alloc::Layout;
/// use drystone_alloc::{Error, memory::{Region, Stack}};
///
/// let stack = Stack::new(Region::heap(4096)?);
/// let below = stack.allocate(Layout::new::<[u8; 100]>())?;
/// let above = stack.allocate(Layout::new::<u64>())?;
/// // SAFETY: the blocks are not used.
/// unsafe {
///     assert_eq!(stack.free(below), Err(Error::OutOfOrder));
///     stack.free(above)?;
///     stack.free(below)?;
///     assert_eq!(stack.free(below), Err(Error::NotAllocated));
/// }
/// assert!(stack.is_empty());
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
pub struct Stack<'m> {
    low: LowEnd,
    end: NonNull<u8>,
    region: Region<'m>,
}

impl<'m> Stack<'m> {
    /// All of the region, free, but for what does not begin or end at a multiple of a word.
    pub fn new(region: Region<'m>) -> Self {
        let (start, end) = whole_words(&region);
        // SAFETY: these are bytes of the region, which are its own as long as it exists,
        // which is as long as the stack that owns it.
        let low = unsafe { LowEnd::new(start) };
        Self { low, end, region }
    }

    /// A block of unknown content on top of all others.
    ///
    /// # Errors
    /// `Full`.
    #[inline]
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.low.push(layout, self.end)
    }

    /// Takes the top back.
    ///
    /// # Errors
    /// `OutOfOrder` when others lie on top of it, `NotAllocated` when it is no block of this
    /// stack or was freed before. Nothing changes then; to tell the two apart takes a walk
    /// over all blocks.
    ///
    /// # Safety
    /// - After success nobody uses the block. (It is not checked whether a block that was
    ///   allocated since begins at the same address.)
    #[inline]
    pub unsafe fn free(&self, block: NonNull<u8>) -> Result<(), Error> {
        self.low.pop(block)
    }

    /// Makes the top larger or smaller, where it is. Its content stays as far as both
    /// sizes go. If the new layout asks for more than the block's alignment, it moves.
    ///
    /// # Errors
    /// As [`free`](Self::free), and `Full`. Nothing changes then.
    ///
    /// # Safety
    /// - After success nobody uses the block by its old address or size.
    #[inline]
    pub unsafe fn resize(&self, block: NonNull<u8>, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.low.resize(block, layout, self.end)
    }

    /// Takes everything back and keeps the memory.
    pub fn reset(&mut self) {
        self.low.reset();
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// Bytes of blocks, footers and padding.
    pub fn used(&self) -> usize {
        self.low.used()
    }

    /// Bytes that are free: the next block and its footer.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.end.addr().get() - self.low.next().addr().get()
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

// SAFETY: it is where memory lies that its owner owns, and holds no thread's state.
unsafe impl Send for LowEnd {}
// SAFETY: as above.
unsafe impl Send for HighEnd {}
// SAFETY: both of its parts may be sent, and the end is part of the region.
unsafe impl Send for Stack<'_> {}

/// In place of a region that has no whole word.
struct Nowhere([*mut u8; 1]);

// SAFETY: it is a null pointer that nobody writes to.
unsafe impl Sync for Nowhere {}

static NOWHERE: Nowhere = Nowhere([low_end::NO_BLOCK]);

/// Where stacks lie that have no memory: they have a word in front of the first block, which
/// is the same for all, and no room for more.
fn nowhere() -> NonNull<u8> {
    NonNull::from(&NOWHERE.0).cast()
}

/// The part of a region that begins and ends at a multiple of a word, at least one.
pub(super) fn whole_words(region: &Region<'_>) -> (NonNull<u8>, NonNull<u8>) {
    let before = region.start().addr().get().wrapping_neg() % WORD_BYTES;
    let inside = region.size_bytes().saturating_sub(before) / WORD_BYTES * WORD_BYTES;
    // SAFETY: both ends lie in the region, or in the word that stands for it.
    unsafe {
        match inside {
            0 => (nowhere(), nowhere().add(WORD_BYTES)),
            _ => (region.start().add(before), region.start().add(before + inside)),
        }
    }
}

/// A size in whole words. Sizes of layouts are far enough from the largest number.
#[inline]
const fn round_up(size_bytes: usize) -> usize {
    (size_bytes + (WORD_BYTES - 1)) & !(WORD_BYTES - 1)
}

/// Spoils what is free, where debug assertions are on.
#[inline]
fn poison(from: NonNull<u8>, to: NonNull<u8>) {
    if cfg!(debug_assertions) {
        let size_bytes = to.addr().get() - from.addr().get();
        // SAFETY: both lie in the same region, and what is between them is nobody's.
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
