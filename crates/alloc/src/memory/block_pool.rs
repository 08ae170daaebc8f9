use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::ptr::NonNull;

use super::blocks::{Blocks, Head, Marks, SLAB_BYTES};
use super::{MemorySource, PoolStats, Region};
use crate::Error;

#[cfg(feature = "allocator-api2")]
mod allocator;
#[cfg(test)]
mod tests;

/// Equal blocks of raw memory, from a region or from slabs of a growing number, freed in
/// any order. A block that is freed twice is found out.
///
/// ```text
///  free ──────────────────────────────────┐
///  slab [ header | 0 1 1 0 … |  [·]  [x]  [x]  [·]  …  ]   a free block begins with the
///                  one bit a    └──────────────┘ next      address of the next
///                  block: in use
/// ```
/// For values of one type there is [`Pool`](super::Pool), which is safe to use and asks no
/// bits. From Chris Brough's article on allocators, "Pool Allocator"; its list of free
/// blocks cannot tell a second free, the bits are ours.
///
/// # Cost
/// [`allocate`](Self::allocate) and [`free`](Self::free) are O(1), some 3 ns each; the block
/// freed last is the first reused. A block is at least as large as an address, and rounded
/// up to its alignment; besides it costs one bit (two where its size is no power of two).
/// Blocks whose size is a multiple or an even part of a cache line straddle none. Slabs
/// never move, and are given back by [`shrink`](Self::shrink) or with the pool.
///
/// # Examples
/// ```
/// use std::alloc::Layout;
/// use drystone_alloc::{Error, memory::{BlockPool, Heap}};
///
/// let pool = BlockPool::in_slabs(Layout::from_size_align(64, 64).unwrap(), &Heap);
/// let block = pool.allocate()?;
/// assert!(block.addr().get() % 64 == 0);
/// // SAFETY: the block came from this pool, and nothing uses it.
/// unsafe {
///     pool.free(block)?;
///     assert_eq!(pool.free(block), Err(Error::NotAllocated));
/// }
/// # Ok::<(), Error>(())
/// ```
pub struct BlockPool<'m> {
    blocks: Blocks<'m>,
    marks: Marks,
    used_count: Cell<usize>,
}

impl<'m> BlockPool<'m> {
    /// As many blocks as `region` has room for.
    pub fn new(layout: Layout, region: Region<'m>) -> Self {
        Self::of(Blocks::in_region(layout, region))
    }

    /// Blocks in slabs of a mebibyte, which are asked of `source` as they are needed.
    pub const fn in_slabs(layout: Layout, source: &'m dyn MemorySource) -> Self {
        Self::in_slabs_of(SLAB_BYTES, layout, source)
    }

    /// Blocks in slabs of `slab_bytes`, rounded up to a power of two, to a page and to room
    /// for eight blocks. The source is asked for slabs that are aligned to their size.
    pub const fn in_slabs_of(
        slab_bytes: usize,
        layout: Layout,
        source: &'m dyn MemorySource,
    ) -> Self {
        Self::of(Blocks::in_slabs(layout, Head::Marks, slab_bytes, source))
    }

    const fn of(blocks: Blocks<'m>) -> Self {
        let marks = Marks::new(blocks.block().size());
        Self { blocks, marks, used_count: Cell::new(0) }
    }

    /// A block of [`block_layout`](Self::block_layout), whose content is unknown.
    ///
    /// # Errors
    /// `Full` when all blocks are in use and the source has no more memory.
    #[inline]
    pub fn allocate(&self) -> Result<NonNull<u8>, Error> {
        let block = self.blocks.allocate()?;
        let (slab, offset) = self.blocks.slab_of(block);
        // SAFETY: the block lies in that slab, which has marks for blocks of this size.
        unsafe { self.marks.set(slab, offset) }
        self.used_count.set(self.used_count.get() + 1);
        Ok(block)
    }

    /// Takes a block back.
    ///
    /// # Errors
    /// `NotAllocated` if it is free already: nothing happens then.
    ///
    /// # Safety
    /// - `block` came from `allocate` of this pool and is a copy of what that returned, not
    ///   an address made otherwise: whether it is one of the pool's at all is checked only
    ///   in debug builds, where it panics.
    /// - No [`shrink`](Self::shrink) came after an earlier free of it, for that may have
    ///   given back its memory.
    /// - Nothing uses it any more. If it was freed before and has been handed out again, it
    ///   belongs to the new owner, and this frees it under the other's hands.
    #[inline]
    pub unsafe fn free(&self, block: NonNull<u8>) -> Result<(), Error> {
        debug_assert!(self.blocks.is_block(block), "a block of another pool, or no block");
        let (slab, offset) = self.blocks.slab_of(block);
        // SAFETY: the caller says that it is one of our blocks, so it lies in that slab.
        if !unsafe { self.marks.clear(slab, offset) } {
            return Err(not_allocated());
        }
        // SAFETY: it is one of our blocks and was in use until now.
        unsafe { self.blocks.free(block) }
        self.used_count.set(self.used_count.get() - 1);
        Ok(())
    }

    /// Takes every block back at once and keeps the memory. Blocks that were handed out
    /// may be handed out again from now on.
    ///
    /// # Cost
    /// The bits of all slabs are cleared.
    pub fn reset(&mut self) {
        self.blocks.reset();
        self.used_count.set(0);
    }

    /// Gives slabs that have no block in use back to the source, and says how many bytes
    /// that were. A region is kept.
    ///
    /// # Cost
    /// Looks at every free block.
    pub fn shrink(&self) -> usize {
        self.blocks.shrink(0)
    }

    /// [`shrink`](Self::shrink) that keeps one empty slab.
    pub(super) fn shrink_but_one(&self) -> usize {
        self.blocks.shrink(1)
    }

    /// Size and alignment of a block: what was asked for, rounded up.
    pub const fn block_layout(&self) -> Layout {
        self.blocks.block()
    }

    /// How many blocks are in use.
    pub fn len(&self) -> usize {
        self.used_count.get()
    }

    /// Whether no block is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is used and what is reserved.
    pub fn stats(&self) -> PoolStats {
        self.blocks.stats()
    }

    /// Walks the whole pool and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.blocks.check(Some((self.marks, self.len())))
    }
}

#[cold]
fn not_allocated() -> Error {
    Error::NotAllocated
}

impl fmt::Debug for BlockPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (block, stats) = (self.block_layout(), self.stats());
        f.debug_struct("BlockPool").field("block", &block).field("stats", &stats).finish()
    }
}
