//! The bare allocators that a pool uses.

use drystone_alloc::{
    BucketHandle, BucketRing, ClassHandle, RangeHandle, RangeSpace, SizeClassConfig, SizeClasses,
};
use drystone_pool::Placement;

use super::steady::MAX_QUADS;

/// An allocator of ranges.
pub(super) trait RangeAllocator {
    const NAME: &'static str;
    type Handle: Copy;
    fn new(capacity: u32, histogram: &[(u32, u64)]) -> Self;
    fn allocate(&mut self, size: u32) -> Option<Self::Handle>;
    fn free(&mut self, handle: Self::Handle) -> Option<()>;
    fn check(&self) -> Result<(), &'static str>;
    /// The policy of a pool with this allocator.
    fn placement(histogram: &[(u32, u64)]) -> Placement;
}

impl RangeAllocator for RangeSpace {
    const NAME: &'static str = "range-space";
    type Handle = RangeHandle;
    fn new(capacity: u32, _: &[(u32, u64)]) -> Self {
        Self::new(capacity)
    }
    #[inline]
    fn allocate(&mut self, size: u32) -> Option<RangeHandle> {
        self.allocate(size).ok()
    }
    #[inline]
    fn free(&mut self, handle: RangeHandle) -> Option<()> {
        self.free(handle).ok()
    }
    fn check(&self) -> Result<(), &'static str> {
        self.validate()
    }
    fn placement(_: &[(u32, u64)]) -> Placement {
        Placement::Ranges
    }
}

impl RangeAllocator for BucketRing {
    const NAME: &'static str = "bucket-ring";
    type Handle = BucketHandle;
    fn new(capacity: u32, _: &[(u32, u64)]) -> Self {
        Self::new(capacity / MAX_QUADS, MAX_QUADS)
    }
    #[inline]
    fn allocate(&mut self, _: u32) -> Option<BucketHandle> {
        self.allocate(u64::MAX).ok()
    }
    #[inline]
    fn free(&mut self, handle: BucketHandle) -> Option<()> {
        self.free(handle, 0).ok()
    }
    fn check(&self) -> Result<(), &'static str> {
        self.validate()
    }
    fn placement(_: &[(u32, u64)]) -> Placement {
        Placement::Buckets { elements: MAX_QUADS }
    }
}

impl RangeAllocator for SizeClasses {
    const NAME: &'static str = "size-classes";
    type Handle = ClassHandle<u32>;
    fn new(capacity: u32, histogram: &[(u32, u64)]) -> Self {
        Self::new(capacity, histogram, &SizeClassConfig::default())
    }
    #[inline]
    fn allocate(&mut self, size: u32) -> Option<ClassHandle<u32>> {
        self.allocate(size).ok()
    }
    #[inline]
    fn free(&mut self, handle: ClassHandle<u32>) -> Option<()> {
        self.free(handle).ok()
    }
    fn check(&self) -> Result<(), &'static str> {
        self.validate()
    }
    fn placement(histogram: &[(u32, u64)]) -> Placement {
        let config = SizeClassConfig::default();
        Placement::SizeClasses { histogram: histogram.to_vec(), config }
    }
}
