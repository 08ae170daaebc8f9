use core::alloc::Layout;
use core::fmt;
use core::ops::{Deref, DerefMut};

use allocator_api2::{SliceExt, boxed::Box, vec::Vec};
use drystone_alloc::memory::{Heap, PoolStats, SharedPool};

use crate::Material;

/// An array in a block of a pool, or of the heap where no pool has blocks of its size.
pub(super) struct Block<T: Copy>(Box<[T], &'static SharedPool>);

/// Bytes of the smallest pool's blocks: 16³ voxels of one bit.
const LEAST_BYTES: usize = 1 << 9;
/// Bytes that the pools ask the heap for at a time: a few dozens of chunks.
const SLAB_BYTES: usize = 1 << 20;

/// Pools of powers of two, up to 64 KiB: 32³ voxels of 16 bits.
static POOLS: [SharedPool; 8] = [
    pool::<LEAST_BYTES>(),
    pool::<{ LEAST_BYTES << 1 }>(),
    pool::<{ LEAST_BYTES << 2 }>(),
    pool::<{ LEAST_BYTES << 3 }>(),
    pool::<{ LEAST_BYTES << 4 }>(),
    pool::<{ LEAST_BYTES << 5 }>(),
    pool::<{ LEAST_BYTES << 6 }>(),
    pool::<{ LEAST_BYTES << 7 }>(),
];

const fn pool<const BYTES: usize>() -> SharedPool {
    let slab_bytes = if BYTES * 64 < SLAB_BYTES { BYTES * 64 } else { SLAB_BYTES };
    // The materials' alignment, which does for bytes too.
    let block = match Layout::from_size_align(BYTES, align_of::<Material>()) {
        Ok(block) => block,
        Err(_) => Layout::new::<Material>(),
    };
    SharedPool::new(slab_bytes, block, &Heap)
}

/// The pool of blocks of exactly so many bytes.
fn pool_of(bytes: usize) -> Option<&'static SharedPool> {
    POOLS.iter().find(|pool| pool.block_layout().size() == bytes)
}

pub(super) fn pool_stats(block_bytes: usize) -> PoolStats {
    pool_of(block_bytes).map_or_else(PoolStats::default, SharedPool::stats)
}

impl<T: Copy> Block<T> {
    /// So many times the same.
    pub(super) fn filled(len: usize, fill: T) -> Self {
        // A pool asks the heap for what its blocks do not fit.
        let pool = pool_of(len * size_of::<T>()).unwrap_or(&POOLS[0]);
        let mut values = Vec::with_capacity_in(len, pool);
        values.resize(len, fill);
        Self(values.into_boxed_slice())
    }

    pub(super) fn of(values: &[T]) -> Self {
        let pool = pool_of(size_of_val(values)).unwrap_or(&POOLS[0]);
        Self(SliceExt::to_vec_in(values, pool).into_boxed_slice())
    }
}

impl<T: Copy> Clone for Block<T> {
    fn clone(&self) -> Self {
        Self::of(self)
    }
}

impl<T: Copy> Deref for Block<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Copy> DerefMut for Block<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Block<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
