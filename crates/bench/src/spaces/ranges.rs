//! Contenders that allocate ranges of any size.

use std::ops::Range;

use drystone_alloc::{RangeHandle, RangeSpace};

/// An allocator of ranges in a space of fixed capacity.
pub(super) trait Ranges: Sized {
    const NAME: &'static str;
    /// Factor by which a round has fewer operations, for slow contenders.
    const FEWER: usize = 1;
    type Handle: Copy;
    fn with_capacity(capacity: u32, max_ranges: u32) -> Self;
    /// Reserves memory for the metadata of this many live ranges, if creation has not. Returns whether
    /// there was enough.
    fn reserve(&mut self, _ranges: u32) -> bool {
        true
    }
    fn allocate(&mut self, size: u32) -> Option<Self::Handle>;
    fn free(&mut self, handle: Self::Handle);
    /// Returns the position of a range of this size.
    fn range(&self, handle: Self::Handle, size: u32) -> Range<u32>;
    /// Returns the size of its metadata in bytes, if it can.
    fn size_bytes(&self) -> Option<usize> {
        None
    }
}

impl Ranges for RangeSpace {
    const NAME: &'static str = "drystone";
    type Handle = RangeHandle;
    fn with_capacity(capacity: u32, _max_ranges: u32) -> Self {
        Self::new(capacity)
    }
    fn reserve(&mut self, ranges: u32) -> bool {
        self.reserve(ranges).is_ok()
    }
    #[inline]
    fn allocate(&mut self, size: u32) -> Option<RangeHandle> {
        self.allocate(size).ok()
    }
    #[inline]
    fn free(&mut self, handle: RangeHandle) {
        let freed = self.free(handle);
        debug_assert!(freed.is_ok());
    }
    fn range(&self, handle: RangeHandle, _size: u32) -> Range<u32> {
        self.range(handle).unwrap_or_default()
    }
    fn size_bytes(&self) -> Option<usize> {
        Some(self.size_bytes())
    }
}

/// `drystone` with 64-bit offsets.
pub(super) struct Wide(RangeSpace<u64>);

impl Ranges for Wide {
    const NAME: &'static str = "drystone-u64";
    type Handle = RangeHandle;
    fn with_capacity(capacity: u32, _max_ranges: u32) -> Self {
        Self(RangeSpace::with_size(capacity.into()))
    }
    fn reserve(&mut self, ranges: u32) -> bool {
        self.0.reserve(ranges).is_ok()
    }
    #[inline]
    fn allocate(&mut self, size: u32) -> Option<RangeHandle> {
        self.0.allocate(size.into()).ok()
    }
    #[inline]
    fn free(&mut self, handle: RangeHandle) {
        let freed = self.0.free(handle);
        debug_assert!(freed.is_ok());
    }
    fn range(&self, handle: RangeHandle, _size: u32) -> Range<u32> {
        self.0.range(handle).map_or(0..0, |range| range.start as u32..range.end as u32)
    }
    fn size_bytes(&self) -> Option<usize> {
        Some(self.0.size_bytes())
    }
}

type OffsetAllocator = offset_allocator::Allocator<u32>;

impl Ranges for OffsetAllocator {
    const NAME: &'static str = "offset-allocator";
    type Handle = offset_allocator::Allocation<u32>;
    fn with_capacity(capacity: u32, max_ranges: u32) -> Self {
        // Its table has a fixed size, and contains the gaps too.
        Self::with_max_allocs(capacity, max_ranges * 2)
    }
    #[inline]
    fn allocate(&mut self, size: u32) -> Option<Self::Handle> {
        self.allocate(size)
    }
    #[inline]
    fn free(&mut self, handle: Self::Handle) {
        self.free(handle);
    }
    fn range(&self, handle: Self::Handle, size: u32) -> Range<u32> {
        handle.offset..handle.offset + size
    }
}

/// An exact best fit that searches all gaps.
pub(super) struct RangeAlloc(range_alloc::RangeAllocator<u32>);

impl Ranges for RangeAlloc {
    const NAME: &'static str = "range-alloc";
    const FEWER: usize = 100;
    type Handle = (u32, u32);
    fn with_capacity(capacity: u32, _max_ranges: u32) -> Self {
        Self(range_alloc::RangeAllocator::new(0..capacity))
    }
    fn allocate(&mut self, size: u32) -> Option<(u32, u32)> {
        self.0.allocate_range(size).ok().map(|range| (range.start, range.end))
    }
    fn free(&mut self, (start, end): (u32, u32)) {
        self.0.free_range(start..end);
    }
    fn range(&self, (start, end): (u32, u32), _size: u32) -> Range<u32> {
        start..end
    }
}
