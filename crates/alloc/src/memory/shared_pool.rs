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

/// Frees after which a pool looks for empty slabs, at least.
const LEAST_FREES: usize = 64;

/// Equal blocks for all threads, in slabs that are given back when they stand empty: a
/// [`BlockPool`] behind a lock, for a `static`.
///
/// For blocks that are large beside the cost of a lock, as the voxels of a chunk are. As an
/// `allocator_api2::Allocator` (feature `allocator-api2`, on `&SharedPool`) it takes any
/// layout: what is larger than a block, or less than half of one, comes from the source.
///
/// # Cost
/// O(1), some 20 ns while no other thread is in. One in so many frees looks at every free
/// block, to find empty slabs; at most one of these is kept.
///
/// # Examples
/// ```
/// use std::alloc::Layout;
/// use drystone_alloc::memory::{Heap, SharedPool};
///
/// static TILES: SharedPool = SharedPool::new(1 << 20, Layout::new::<[u16; 4096]>(), &Heap);
///
/// let mut tile = allocator_api2::vec::Vec::with_capacity_in(4096, &TILES);
/// tile.resize(4096, 7u16);
/// assert_eq!(TILES.stats().used_count, 1);
/// drop(tile);
/// assert_eq!(TILES.stats().used_count, 0);
/// ```
pub struct SharedPool {
    state: SpinLock<State>,
    block: Layout,
    /// For what is not of a block's size.
    #[cfg(feature = "allocator-api2")]
    source: &'static dyn MemorySource,
}

struct State {
    pool: BlockPool<'static>,
    /// Frees until empty slabs are looked for.
    frees_to_go: usize,
}

impl SharedPool {
    /// Blocks in slabs of `slab_bytes`, rounded up to a power of two, to a page and to room
    /// for eight blocks, which are asked of `source` as they are needed.
    pub const fn new(slab_bytes: usize, layout: Layout, source: &'static dyn MemorySource) -> Self {
        let pool = BlockPool::in_slabs_of(slab_bytes, layout, source);
        let block = pool.block_layout();
        Self {
            state: SpinLock::new(State { pool, frees_to_go: LEAST_FREES }),
            block,
            #[cfg(feature = "allocator-api2")]
            source,
        }
    }

    /// A block of [`block_layout`](Self::block_layout), whose content is unknown.
    ///
    /// # Errors
    /// `Full` when all blocks are in use and the source has no more memory.
    pub fn allocate(&self) -> Result<NonNull<u8>, Error> {
        self.state.with(|state| state.pool.allocate())
    }

    /// Takes a block back.
    ///
    /// # Errors
    /// `NotAllocated` if it is free already.
    ///
    /// # Safety
    /// - `block` came from `allocate` of this pool and is a copy of what that returned.
    /// - It was not freed before: its memory may have been given back.
    /// - Nothing uses it any more.
    pub unsafe fn free(&self, block: NonNull<u8>) -> Result<(), Error> {
        self.state.with(|state| {
            // SAFETY: the caller's promise.
            unsafe { state.pool.free(block) }?;
            state.frees_to_go = state.frees_to_go.saturating_sub(1);
            if state.frees_to_go == 0 || state.pool.is_empty() {
                state.pool.shrink_but_one();
                let PoolStats { capacity, used_count, .. } = state.pool.stats();
                // As many frees as there are blocks to look at pay for the next look.
                state.frees_to_go = (capacity - used_count).max(LEAST_FREES);
            }
            Ok(())
        })
    }

    /// Size and alignment of a block: what was asked for, rounded up.
    pub const fn block_layout(&self) -> Layout {
        self.block
    }

    /// What is used and what is reserved.
    pub fn stats(&self) -> PoolStats {
        self.state.with(|state| state.pool.stats())
    }

    /// Walks the whole pool and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.state.with(|state| state.pool.check())
    }
}

impl fmt::Debug for SharedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (block, stats) = (self.block, self.stats());
        f.debug_struct("SharedPool").field("block", &block).field("stats", &stats).finish()
    }
}
