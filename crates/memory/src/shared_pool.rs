use core::alloc::Layout;
use core::fmt;
use core::ptr::NonNull;

use super::spin_lock::SpinLock;
use super::{BlockPool, MemorySource, PoolStats};
use crate::Error;

#[cfg(feature = "allocator-api2")]
mod allocator;
#[cfg(test)]
mod tests;

/// Minimum number of frees between two searches for empty slabs.
const MIN_FREES: usize = 64;

/// Pool of blocks of equal size, shared by all threads: a [`BlockPool`] behind a lock, suited to a
/// `static`. Empty slabs are released automatically.
///
/// Suited to blocks that are large compared with the cost of a lock, such as the voxels of a chunk.
/// With the feature `allocator-api2`, `&SharedPool` implements `Allocator` for all layouts. A
/// request larger than a block, or smaller than half a block, goes to the source.
///
/// # Cost
/// O(1), about 20 ns if no other thread holds the lock. Some frees also visit every free block to
/// release empty slabs; at most one empty slab is kept. The amortized cost stays O(1).
///
/// # Examples
/// ```
/// use std::alloc::Layout;
/// use drystone_memory::{Heap, SharedPool};
///
/// static TILES: SharedPool = SharedPool::new(1 << 20, Layout::new::<[u16; 4096]>(), &Heap);
///
/// # #[cfg(feature = "allocator-api2")] {
/// let mut tile = allocator_api2::vec::Vec::with_capacity_in(4096, &TILES);
/// tile.resize(4096, 7u16);
/// assert_eq!(TILES.stats().used_count, 1);
/// drop(tile);
/// assert_eq!(TILES.stats().used_count, 0);
/// # }
/// ```
pub struct SharedPool {
    state: SpinLock<State>,
    block: Layout,
    /// Source of allocations that do not match the block size.
    #[cfg(feature = "allocator-api2")]
    source: &'static dyn MemorySource,
}

struct State {
    pool: BlockPool<'static>,
    /// Number of frees until the next search for empty slabs.
    frees_until_shrink: usize,
}

impl SharedPool {
    /// Creates a pool with slabs of `slab_bytes`, which are allocated from `source` when needed.
    /// The size is rounded up to a power of two, to a page and to eight blocks.
    pub const fn new(slab_bytes: usize, layout: Layout, source: &'static dyn MemorySource) -> Self {
        let pool = BlockPool::in_slabs_of(slab_bytes, layout, source);
        let block = pool.block_layout();
        Self {
            state: SpinLock::new(State { pool, frees_until_shrink: MIN_FREES }),
            block,
            #[cfg(feature = "allocator-api2")]
            source,
        }
    }

    /// Allocates a block of [`block_layout`](Self::block_layout) with uninitialized content.
    ///
    /// # Errors
    /// `Full` if all blocks are in use and the source is out of memory.
    pub fn allocate(&self) -> Result<NonNull<u8>, Error> {
        self.state.with(|state| state.pool.allocate())
    }

    /// Frees a block.
    ///
    /// # Errors
    /// `NotAllocated` if the block is already free.
    ///
    /// # Safety
    /// - `block` is a pointer that `allocate` of this pool returned, or a copy of it.
    /// - It was not freed before: its memory may have been released since.
    /// - Nothing uses it any more.
    pub unsafe fn free(&self, block: NonNull<u8>) -> Result<(), Error> {
        self.state.with(|state| {
            // SAFETY: guaranteed by the caller.
            unsafe { state.pool.free(block) }?;
            state.frees_until_shrink = state.frees_until_shrink.saturating_sub(1);
            if state.frees_until_shrink == 0 || state.pool.is_empty() {
                state.pool.shrink_keeping_one();
                let PoolStats { capacity, used_count, .. } = state.pool.stats();
                // One free per block that the search visits keeps the amortized cost O(1).
                state.frees_until_shrink = (capacity - used_count).max(MIN_FREES);
            }
            Ok(())
        })
    }

    /// Returns the size and alignment of a block: the requested ones, rounded up.
    pub const fn block_layout(&self) -> Layout {
        self.block
    }

    /// Returns the statistics.
    pub fn stats(&self) -> PoolStats {
        self.state.with(|state| state.pool.stats())
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.state.with(|state| state.pool.validate())
    }
}

impl fmt::Debug for SharedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (block, stats) = (self.block, self.stats());
        f.debug_struct("SharedPool").field("block", &block).field("stats", &stats).finish()
    }
}
