use core::alloc::Layout;
use core::fmt;
use core::ops::{Deref, DerefMut};

use allocator_api2::{SliceExt, boxed::Box, vec::Vec};
use drystone_memory::{Heap, PoolStats, SharedPool};

use crate::Material;

/// Array in a block of a pool, or on the heap if no pool has a suitable block size.
pub(super) struct Block<T: Copy>(Box<[T], &'static SharedPool>);

/// Size of the smallest blocks: 16³ voxels of one bit. Small blocks are multiples of this, so that
/// bricks, which have any length, leave few bytes unused.
const STEP_BYTES: usize = 1 << 9;
/// Limit for block sizes in steps of [`STEP_BYTES`]; larger sizes are powers of two.
const SMALL_BYTES: usize = 16 * STEP_BYTES;
/// Size of the slabs that pools allocate from the heap: space for some dozens of chunks.
const SLAB_BYTES: usize = 1 << 20;

/// Pools with blocks of up to 64 KiB: 32³ voxels of 16 bits.
static POOLS: [SharedPool; 19] = [
    pool::<STEP_BYTES>(),
    pool::<{ STEP_BYTES * 2 }>(),
    pool::<{ STEP_BYTES * 3 }>(),
    pool::<{ STEP_BYTES * 4 }>(),
    pool::<{ STEP_BYTES * 5 }>(),
    pool::<{ STEP_BYTES * 6 }>(),
    pool::<{ STEP_BYTES * 7 }>(),
    pool::<{ STEP_BYTES * 8 }>(),
    pool::<{ STEP_BYTES * 9 }>(),
    pool::<{ STEP_BYTES * 10 }>(),
    pool::<{ STEP_BYTES * 11 }>(),
    pool::<{ STEP_BYTES * 12 }>(),
    pool::<{ STEP_BYTES * 13 }>(),
    pool::<{ STEP_BYTES * 14 }>(),
    pool::<{ STEP_BYTES * 15 }>(),
    pool::<SMALL_BYTES>(),
    pool::<{ SMALL_BYTES << 1 }>(),
    pool::<{ SMALL_BYTES << 2 }>(),
    pool::<{ SMALL_BYTES << 3 }>(),
];

const fn pool<const BYTES: usize>() -> SharedPool {
    let slab_bytes = if BYTES * 64 < SLAB_BYTES { BYTES * 64 } else { SLAB_BYTES };
    // Alignment of materials, which is sufficient for bytes too.
    let block = match Layout::from_size_align(BYTES, align_of::<Material>()) {
        Ok(block) => block,
        Err(_) => Layout::new::<Material>(),
    };
    SharedPool::new(slab_bytes, block, &Heap)
}

/// Returns the pool with the smallest blocks of at least `bytes`. Above [`SMALL_BYTES`], only exact
/// sizes have a pool. The pool allocates on the heap if less than half of a block would be used.
fn pool_for(bytes: usize) -> Option<&'static SharedPool> {
    match bytes {
        ..=SMALL_BYTES => POOLS.get(bytes.div_ceil(STEP_BYTES).checked_sub(1)?),
        _ => POOLS.iter().find(|pool| pool.block_layout().size() == bytes),
    }
}

pub(super) fn pool_stats(block_bytes: usize) -> PoolStats {
    let pool = pool_for(block_bytes).filter(|pool| pool.block_layout().size() == block_bytes);
    pool.map_or_else(PoolStats::default, SharedPool::stats)
}

impl<T: Copy> Block<T> {
    /// Creates an array of `len` copies of `fill`.
    pub(super) fn filled(len: usize, fill: T) -> Self {
        // A pool allocates on the heap if the size does not suit its blocks.
        let pool = pool_for(len * size_of::<T>()).unwrap_or(&POOLS[0]);
        let mut values = Vec::with_capacity_in(len, pool);
        values.resize(len, fill);
        Self(values.into_boxed_slice())
    }

    pub(super) fn of(values: &[T]) -> Self {
        let pool = pool_for(size_of_val(values)).unwrap_or(&POOLS[0]);
        Self(SliceExt::to_vec_in(values, pool).into_boxed_slice())
    }

    /// Returns the size of the array's block, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let bytes = size_of_val(&**self);
        let block_bytes = Box::allocator(&self.0).block_layout().size();
        if (block_bytes.div_ceil(2)..=block_bytes).contains(&bytes) { block_bytes } else { bytes }
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
