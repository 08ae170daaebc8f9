use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use super::SmallObjects;
use crate::Error;
use crate::allocator_api::Allocated;

/// Collections get whole slots, and grow and shrink in place within the same class.
///
/// # Examples
/// ```
/// use allocator_api2::vec::Vec;
/// use drystone_memory::{Heap, Region, SmallObjects, SmallObjectsConfig};
///
/// let region = Region::heap(1 << 20)?;
/// let config = SmallObjectsConfig::default();
/// let objects = SmallObjects::new(region, &config)?.with_fallback(&Heap);
/// let mut squares = Vec::new_in(&objects);
/// squares.extend((0..10).map(|n| n * n));
/// assert_eq!(objects.stats().live_bytes, 48);
/// # Ok::<(), drystone_memory::Error>(())
/// ```
// SAFETY: a block stays in place and is exclusive until it is freed or the region ends, which
// outlives the reference; resetting requires exclusive access. All copies of a reference are the
// same allocator.
unsafe impl Allocator for &SmallObjects<'_> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Allocated {
        let class = self.class_for(layout);
        if let Some(object) = class.take() {
            return Ok(NonNull::slice_from_raw_parts(object, class.slot_bytes()));
        }
        let block = self.allocate_from_fallback(layout).map_err(alloc_error)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    #[inline]
    unsafe fn deallocate(&self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: guaranteed by the caller: the block is ours, with a layout that fits it.
        let result = unsafe { self.free(object, layout) };
        debug_assert_eq!(result, Ok(()), "{object:?} {layout:?}");
    }

    #[inline]
    unsafe fn grow(&self, object: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: the caller's promise.
        let object = unsafe { self.resize(object, old, new) }.map_err(alloc_error)?;
        let class = self.class_for(new);
        let is_in_class = class.is_live(object);
        let size_bytes = if is_in_class { class.slot_bytes() } else { new.size() };
        Ok(NonNull::slice_from_raw_parts(object, size_bytes))
    }

    #[inline]
    unsafe fn shrink(&self, object: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
        // SAFETY: the caller's promise.
        unsafe { self.grow(object, old, new) }
    }
}

fn alloc_error(_: Error) -> AllocError {
    AllocError
}
