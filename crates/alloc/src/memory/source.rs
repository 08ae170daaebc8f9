use core::alloc::Layout;
use core::ptr::NonNull;

/// Where an allocator asks for the memory that it then hands out in pieces.
///
/// The sources are few and large: a region at the start, a slab when a pool has run full.
/// So this is a plain object-safe trait, and its cost does not matter.
///
/// # Safety
/// - A block that `allocate` returns is valid for reads and writes of `layout.size()` bytes,
///   aligned to `layout.align()`, and nobody else's, until it is given to `free` or the
///   source ends.
/// - A source that is moved still owns the blocks at their old addresses.
pub unsafe trait MemorySource: Sync {
    /// A block of at least one byte, or `None` when there is none.
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>>;

    /// Takes a block back.
    ///
    /// # Safety
    /// - `block` came from `allocate` of this source with the same `layout`.
    /// - It was not freed before, and nothing uses it any more.
    unsafe fn free(&self, block: NonNull<u8>, layout: Layout);
}

/// The heap: the program's global allocator.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap;

// SAFETY: the global allocator's contract is this one.
#[cfg(feature = "alloc")]
unsafe impl MemorySource for Heap {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() == 0 {
            return None;
        }
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc::alloc::alloc(layout) })
    }

    unsafe fn free(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promise is what the global allocator asks for.
        unsafe { alloc::alloc::dealloc(block.as_ptr(), layout) }
    }
}

/// The system's allocator, whatever the program's global one is.
#[cfg(feature = "std")]
// SAFETY: the contract of a global allocator is this one, but for sizes of zero.
unsafe impl MemorySource for std::alloc::System {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() == 0 {
            return None;
        }
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { std::alloc::GlobalAlloc::alloc(self, layout) })
    }

    unsafe fn free(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promise is what the system's allocator asks for.
        unsafe { std::alloc::GlobalAlloc::dealloc(self, block.as_ptr(), layout) }
    }
}
