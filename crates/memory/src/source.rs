use core::alloc::Layout;
use core::ptr::NonNull;

/// Source of large blocks, which an allocator then divides into smaller ones.
///
/// Requests are few and large: a region at the start, a slab when a pool is full. Therefore this is
/// an object-safe trait, and its cost is negligible.
///
/// # Safety
/// - A block that `allocate` returns is valid for reads and writes of `layout.size()` bytes and
///   aligned to `layout.align()`. Nothing else uses it until it is passed to `free` or the source
///   is dropped.
/// - A moved source still owns the blocks at their old addresses.
pub unsafe trait MemorySource: Sync {
    /// Allocates a block of at least one byte. Returns `None` on failure.
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>>;

    /// Frees a block.
    ///
    /// # Safety
    /// - `block` came from `allocate` of this source with the same `layout`.
    /// - It was not freed before, and nothing uses it any more.
    unsafe fn free(&self, block: NonNull<u8>, layout: Layout);
}

/// Source that uses the program's global allocator.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap;

// SAFETY: the contract of the global allocator is the same.
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
        // SAFETY: the caller's guarantee is what the global allocator requires.
        unsafe { alloc::alloc::dealloc(block.as_ptr(), layout) }
    }
}

/// Source that uses the system's allocator, even if the program has another global allocator.
#[cfg(feature = "std")]
// SAFETY: the contract of a global allocator is the same, except for sizes of zero.
unsafe impl MemorySource for std::alloc::System {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() == 0 {
            return None;
        }
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { std::alloc::GlobalAlloc::alloc(self, layout) })
    }

    unsafe fn free(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's guarantee is what the system's allocator requires.
        unsafe { std::alloc::GlobalAlloc::dealloc(self, block.as_ptr(), layout) }
    }
}
