use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::ptr::NonNull;

use super::blocks::{Blocks, Head, Marks, SLAB_BYTES};
use crate::{Error, MemorySource, PoolStats, Region};

#[cfg(feature = "allocator-api2")]
mod allocator;
#[cfg(test)]
mod tests;

/// Pool of raw memory blocks of equal size, freed in any order. The blocks are in a region, or in
/// slabs that are added when needed. A double free is detected.
///
/// ```text
///  free ──────────────────────────────────┐
///  slab [ header | 0 1 1 0 … |  [·]  [x]  [x]  [·]  …  ]   a free block begins with the
///                  one bit a    └──────────────┘ next      address of the next
///                  block: in use
/// ```
/// [`Pool`](super::Pool) is safe to use and needs no bits, but stores values of one type. Source:
/// Chris Brough's article on allocators, "Pool Allocator". Its list of free blocks cannot detect a
/// double free; the bits are an addition.
///
/// # Cost
/// [`allocate`](Self::allocate) and [`free`](Self::free) are O(1), about 3 ns each. The block freed
/// last is reused first. A block is at least as large as an address, and rounded up to its
/// alignment. The overhead is one bit per block (two if its size is no power of two). If the size
/// is a multiple or a divisor of a cache line, a block never crosses a cache line unnecessarily.
/// Slabs never move. They are released by [`shrink`](Self::shrink) or when the pool is dropped.
///
/// # Examples
/// ```
/// use std::alloc::Layout;
/// use drystone_memory::{BlockPool, Error, Heap};
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
    /// Creates a pool of the blocks that fit into `region`.
    pub fn new(layout: Layout, region: Region<'m>) -> Self {
        Self::of(Blocks::in_region(layout, region))
    }

    /// Creates a pool with slabs of 1 MiB, which are allocated from `source` when needed.
    pub const fn in_slabs(layout: Layout, source: &'m dyn MemorySource) -> Self {
        Self::in_slabs_of(SLAB_BYTES, layout, source)
    }

    /// Creates a pool with slabs of `slab_bytes`, which are allocated from `source` when needed.
    /// The size is rounded up to a power of two, to a page and to eight blocks. Slabs are aligned
    /// to their size.
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

    /// Allocates a block of [`block_layout`](Self::block_layout) with uninitialized content.
    ///
    /// # Errors
    /// `Full` if all blocks are in use and the source is out of memory.
    #[inline]
    pub fn allocate(&self) -> Result<NonNull<u8>, Error> {
        let block = self.blocks.allocate()?;
        let (slab, offset) = self.blocks.slab_of(block);
        // SAFETY: the block is in that slab, which has marks for blocks of this size.
        unsafe { self.marks.set(slab, offset) }
        self.used_count.set(self.used_count.get() + 1);
        Ok(block)
    }

    /// Frees a block.
    ///
    /// # Errors
    /// `NotAllocated` if the block is already free. Nothing changes then.
    ///
    /// # Safety
    /// - `block` is a pointer that `allocate` of this pool returned, or a copy of it. Only debug
    ///   builds check that it is a block of this pool, and panic if it is not.
    /// - [`shrink`](Self::shrink) was not called after an earlier free of the block, because it may
    ///   have released its memory.
    /// - Nothing uses the block any more. If it was freed before and has been allocated again, it
    ///   belongs to the new owner, whose block would be freed.
    #[inline]
    pub unsafe fn free(&self, block: NonNull<u8>) -> Result<(), Error> {
        debug_assert!(self.blocks.is_block(block), "not a block of this pool");
        let (slab, offset) = self.blocks.slab_of(block);
        // SAFETY: the caller guarantees that it is one of our blocks, so it is in that slab.
        if !unsafe { self.marks.clear(slab, offset) } {
            return Err(not_allocated());
        }
        // SAFETY: it is one of our blocks and was in use until now.
        unsafe { self.blocks.free(block) }
        self.used_count.set(self.used_count.get() - 1);
        Ok(())
    }

    /// Frees all blocks at once and keeps the memory. Their memory may be allocated again.
    ///
    /// # Cost
    /// O(slabs): clears the bits of each slab.
    pub fn reset(&mut self) {
        self.blocks.reset();
        self.used_count.set(0);
    }

    /// Releases empty slabs to the source and returns their size in bytes. A region is kept.
    ///
    /// # Cost
    /// O(free blocks).
    pub fn shrink(&self) -> usize {
        self.blocks.shrink(0)
    }

    /// Releases empty slabs except one, and returns their size in bytes.
    pub(super) fn shrink_keeping_one(&self) -> usize {
        self.blocks.shrink(1)
    }

    /// Returns the size and alignment of a block: the requested ones, rounded up.
    pub const fn block_layout(&self) -> Layout {
        self.blocks.block()
    }

    /// Number of blocks in use.
    pub fn len(&self) -> usize {
        self.used_count.get()
    }

    /// Whether no block is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the statistics.
    pub fn stats(&self) -> PoolStats {
        self.blocks.stats()
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.blocks.validate(Some((self.marks, self.len())))
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
