//! Memory of an address space from an allocator of the caller.

use std::{alloc::Layout, cell::Cell, ptr::NonNull};

use allocator_api2::alloc::{AllocError, Allocator, Global};
use drystone_alloc::{AddressSpace, Error, IndexPolicy};

/// The heap, with a limit and a counter of the bytes in use.
#[derive(Default)]
struct Limited {
    used_bytes: Cell<usize>,
    limit_bytes: Cell<usize>,
}

// SAFETY: all blocks are those of the heap. References to it are the same allocator.
unsafe impl Allocator for &Limited {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let used_bytes = self.used_bytes.get() + layout.size();
        if used_bytes > self.limit_bytes.get() {
            return Err(AllocError);
        }
        self.used_bytes.set(used_bytes);
        Global.allocate(layout)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        self.used_bytes.set(self.used_bytes.get() - layout.size());
        // SAFETY: guaranteed by the caller.
        unsafe { Global.deallocate(block, layout) }
    }
}

#[test]
fn all_memory_of_a_space_is_that_of_its_allocator() {
    let memory = Limited { limit_bytes: Cell::new(usize::MAX), ..Limited::default() };
    let mut space = AddressSpace::bounded_in(IndexPolicy::Lowest, u32::MAX, &memory);
    // Enough for two levels above the regions.
    space.allocate_at((1 << 24) + 5).unwrap();
    assert_eq!(memory.used_bytes.get(), space.size_bytes());
    let copy = space.clone();
    assert_eq!(memory.used_bytes.get(), space.size_bytes() + copy.size_bytes());
    drop(space);
    assert!(copy.contains((1 << 24) + 5) && copy.validate().is_ok());
    drop(copy);
    assert_eq!(memory.used_bytes.get(), 0);
}

#[test]
fn exhausted_memory_is_an_error_and_indices_stay_valid() {
    let memory = Limited { limit_bytes: Cell::new(2000), ..Limited::default() };
    let mut space = AddressSpace::bounded_in(IndexPolicy::Lowest, 1_000_000, &memory);
    space.reserve(5000).unwrap();
    let requested = 500_000;
    let total_free = 1_000_000;
    let full = Error::Full { requested, largest_free: total_free, total_free };
    assert_eq!(space.reserve(requested as u32), Err(full));
    let mut runs = vec![];
    assert!(space.allocate_many(requested as u32, &mut runs).is_err());
    assert_eq!((runs, space.len()), (vec![], 0));
    let count = (0..).take_while(|_| space.allocate().is_ok()).count() as u32;
    assert!((5000..20_000).contains(&count));
    assert_eq!((space.len(), space.high_water(), space.validate()), (count, count, Ok(())));
    space.free_many(&[7..8, 9..count - 1]).unwrap();
    assert_eq!((space.allocate(), space.validate()), (Ok(7), Ok(())));
}
