use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use super::SmallObjects;
use crate::Error;

/// Collections that live in the area: they get whole slots, and grow and shrink in place as
/// long as the slot's class stays the same.
///
/// # Examples
/// ```
/// use allocator_api2::vec::Vec;
/// use drystone_alloc::memory::{Heap, Region, SmallObjects, SmallObjectsConfig};
///
/// let region = Region::heap(1 << 20)?;
/// let config = SmallObjectsConfig::default();
/// let objects = SmallObjects::new(region, &config)?.with_fallback(&Heap);
/// let mut squares = Vec::new_in(&objects);
/// squares.extend((0..10).map(|n| n * n));
/// assert_eq!(objects.stats().live_bytes, 48);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
// SAFETY: a block stays where it is and is nobody else's until it is freed or the region
// ends, which outlives the reference; resetting needs the only reference there is. All copies
// of a reference are the same allocator.
unsafe impl Allocator for &SmallObjects<'_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let class = self.class_for(layout);
        if let Some(object) = class.take() {
            return Ok(NonNull::slice_from_raw_parts(object, class.slot_bytes()));
        }
        let block = self.allocate_elsewhere(layout).map_err(no_room)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    #[inline]
    unsafe fn deallocate(&self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promise: the block is ours, with a layout that fits it.
        let result = unsafe { self.free(object, layout) };
        debug_assert_eq!(result, Ok(()), "{object:?} {layout:?}");
    }

    #[inline]
    unsafe fn grow(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise.
        let object = unsafe { self.resize(object, old, new) }.map_err(no_room)?;
        let class = self.class_for(new);
        let is_in_class = class.is_live(object);
        let size_bytes = if is_in_class { class.slot_bytes() } else { new.size() };
        Ok(NonNull::slice_from_raw_parts(object, size_bytes))
    }

    #[inline]
    unsafe fn shrink(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { self.grow(object, old, new) }
    }
}

fn no_room(_: Error) -> AllocError {
    AllocError
}
