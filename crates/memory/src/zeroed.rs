use core::alloc::Layout;
use core::ops::{Deref, DerefMut};
use core::slice;

use super::{MemorySource, Region};

/// Plain data type whose value may have all bytes zero.
///
/// # Safety
/// - All bytes zero is a valid value.
/// - The type needs no drop.
pub(super) unsafe trait Zeroable: Copy {}

// SAFETY: an integer, all of whose bit patterns are valid.
unsafe impl Zeroable for u64 {}

/// Slice in memory of a source, initially zero. Replaces `Vec` in code that implements the
/// program's allocator and therefore cannot use it.
pub(super) struct ZeroedSlice<T: Zeroable> {
    region: Option<Region<'static>>,
    len: usize,
    values: core::marker::PhantomData<T>,
}

impl<T: Zeroable> ZeroedSlice<T> {
    pub(super) const fn empty() -> Self {
        Self { region: None, len: 0, values: core::marker::PhantomData }
    }

    /// Allocates `len` zeroes. `None` if the source cannot allocate them.
    pub(super) fn new(source: &'static dyn MemorySource, len: usize) -> Option<Self> {
        let layout = Layout::array::<T>(len).ok()?;
        let region = Region::from_source(source, layout).ok()?;
        // SAFETY: the region's bytes are ours to write, and it is as large as the layout.
        unsafe { region.start().write_bytes(0, layout.size()) };
        Some(Self { region: Some(region), len, values: core::marker::PhantomData })
    }
}

impl<T: Zeroable> Deref for ZeroedSlice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let Some(region) = &self.region else { return &[] };
        // SAFETY: the region is aligned and large enough for `len` values of `T`. Its bytes were
        // zeroed, which is a valid value, and it is borrowed as long as the slice.
        unsafe { slice::from_raw_parts(region.start().cast().as_ptr(), self.len) }
    }
}

impl<T: Zeroable> DerefMut for ZeroedSlice<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let Some(region) = &self.region else { return &mut [] };
        // SAFETY: as in `deref`, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(region.start().cast().as_ptr(), self.len) }
    }
}
