use core::alloc::Layout;
use core::fmt;
use core::ops::{Deref, DerefMut};

use allocator_api2::{SliceExt, boxed::Box, vec::Vec};
use drystone_alloc::memory::{Heap, PoolStats, SharedPool};

use crate::Material;

/// Where a chunk keeps its voxels.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    Uniform(Material),
    Dense(Voxels),
}

/// Voxels one by one: X runs fastest, then Y, then Z.
pub(super) struct Voxels(Box<[Material], &'static SharedPool>);

/// Bytes that the pools ask the heap for at a time: some dozens of chunks.
const SLAB_BYTES: usize = 2 << 20;

static SIDE_16: SharedPool = pool::<{ 16 * 16 * 16 }>();
static SIDE_32: SharedPool = pool::<{ 32 * 32 * 32 }>();

const fn pool<const VOLUME: usize>() -> SharedPool {
    SharedPool::new(SLAB_BYTES, Layout::new::<[Material; VOLUME]>(), &Heap)
}

/// The pool that takes arrays of `volume` voxels. Other volumes than its own it takes from
/// the heap.
fn pool_for(volume: usize) -> &'static SharedPool {
    if volume <= 16 * 16 * 16 { &SIDE_16 } else { &SIDE_32 }
}

pub(super) fn pool_stats(side: u32) -> PoolStats {
    match side {
        16 => SIDE_16.stats(),
        32 => SIDE_32.stats(),
        _ => PoolStats::default(),
    }
}

impl Voxels {
    pub(super) fn filled(volume: usize, fill: Material) -> Self {
        let mut voxels = Vec::with_capacity_in(volume, pool_for(volume));
        voxels.resize(volume, fill);
        Self(voxels.into_boxed_slice())
    }
}

impl Clone for Voxels {
    fn clone(&self) -> Self {
        let copy = SliceExt::to_vec_in(&*self.0, pool_for(self.len()));
        Self(copy.into_boxed_slice())
    }
}

impl Deref for Voxels {
    type Target = [Material];

    #[inline]
    fn deref(&self) -> &[Material] {
        &self.0
    }
}

impl DerefMut for Voxels {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Material] {
        &mut self.0
    }
}

impl fmt::Debug for Voxels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
