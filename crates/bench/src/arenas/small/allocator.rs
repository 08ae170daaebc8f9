//! Trait of the contenders, and the adapter of allocators for whole programs.

use std::{
    alloc::{GlobalAlloc, Layout},
    ffi::c_void,
    ptr::NonNull,
};

#[cfg(feature = "peers")]
use allocator_api2::alloc;

use super::tree::Objects;

/// Operations of an allocator of small objects beyond those of a tree.
///
/// # Safety
/// - A resized object has the bytes and the alignment of its new layout.
pub(in crate::arenas) unsafe trait Allocator: Objects {
    /// Resizes an object, and keeps its bytes up to the smaller size.
    ///
    /// # Safety
    /// - The object is from this allocator, with the layout `old`, and was not freed before.
    /// - `new` has at least one byte, and the alignment of `old`.
    #[cfg_attr(not(feature = "peers"), allow(dead_code))]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>>;

    /// Returns the bytes that a live object occupies: itself, its padding and its header.
    ///
    /// # Safety
    /// - The object is live, from this allocator, with that layout.
    unsafe fn block_bytes(&self, object: NonNull<u8>, layout: Layout) -> usize;

    /// Returns the size of metadata that belongs to no single object, in bytes.
    fn metadata_bytes(&self) -> usize {
        0
    }

    /// Returns the number of words of bits that all allocations so far have searched, if it counts
    /// them.
    fn searched_words(&self) -> Option<u64> {
        None
    }

    /// Returns the number of objects so far that did not fit into its fixed memory and are from the
    /// system, if it has such memory.
    fn overflows(&self) -> Option<u64> {
        None
    }
}

/// An allocator for whole programs.
pub(in crate::arenas) struct InProgram<A>(pub A);

/// A global allocator that can report the size of a block.
pub(in crate::arenas) trait BlockBytes {
    /// # Safety
    /// - The object is live and from this allocator.
    unsafe fn block_bytes(&self, object: NonNull<u8>) -> usize;
}

// SAFETY: `GlobalAlloc` gives these guarantees.
unsafe impl<A: GlobalAlloc> Objects for InProgram<A> {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees that the layout is not empty.
        NonNull::new(unsafe { self.0.alloc(layout) })
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.dealloc(object.as_ptr(), layout) };
        true
    }
}

// SAFETY: a resized object is one of the same allocator.
unsafe impl<A: GlobalAlloc + BlockBytes> Allocator for InProgram<A> {
    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees it. The new size is that of a layout.
        NonNull::new(unsafe { self.0.realloc(object.as_ptr(), old, new.size()) })
    }
    unsafe fn block_bytes(&self, object: NonNull<u8>, _: Layout) -> usize {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.block_bytes(object) }
    }
}

#[cfg(feature = "peers")]
// SAFETY: `A` gives the guarantees that this trait requires. Layouts of zero bytes, which `A` does
// not accept, never reach it.
unsafe impl<A: GlobalAlloc> alloc::Allocator for InProgram<A> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, alloc::AllocError> {
        if layout.size() == 0 {
            return Err(alloc::AllocError);
        }
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { self.0.alloc(layout) }).ok_or(alloc::AllocError)?;
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    #[inline]
    unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller guarantees that the block is from this allocator, with this layout,
        // which is not empty.
        unsafe { self.0.dealloc(memory.as_ptr(), layout) }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
// SAFETY: this is the C library's declaration.
unsafe extern "C" {
    fn malloc_usable_size(block: *mut c_void) -> usize;
    fn malloc_trim(keep_bytes: usize) -> std::ffi::c_int;
}

/// Makes the C library return unused memory to the system. Otherwise one contender would have cold
/// memory, and the next one memory that another contender has touched.
pub(in crate::arenas) fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time.
    unsafe {
        malloc_trim(0);
    }
}

impl BlockBytes for std::alloc::System {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe fn block_bytes(&self, object: NonNull<u8>) -> usize {
        // SAFETY: the caller guarantees a live block of `malloc`. The size of a chunk is stored
        // before its block.
        unsafe { malloc_usable_size(object.as_ptr().cast()) + size_of::<usize>() }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    unsafe fn block_bytes(&self, _: NonNull<u8>) -> usize {
        0
    }
}

#[cfg(feature = "peers")]
impl BlockBytes for mimalloc::MiMalloc {
    unsafe fn block_bytes(&self, object: NonNull<u8>) -> usize {
        // SAFETY: the caller guarantees it. Blocks have no header.
        unsafe { self.usable_size(object.as_ptr()) }
    }
}

#[cfg(feature = "peers")]
impl BlockBytes for snmalloc_rs::SnMalloc {
    unsafe fn block_bytes(&self, object: NonNull<u8>) -> usize {
        // Blocks have no header.
        self.usable_size(object.as_ptr()).unwrap_or(0)
    }
}
