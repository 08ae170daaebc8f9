//! Allocators of small objects for one thread, without a collection.

use std::{
    alloc::{GlobalAlloc, Layout},
    ffi::c_void,
    ptr::NonNull,
};

use drystone_memory::{Heap, Region, SlotClass, SmallObjects, SmallObjectsConfig};

/// Size of the memory of contenders with their own region.
pub(super) const MEMORY_BYTES: usize = 32 << 20;

/// Allocates small objects.
///
/// # Safety
/// - An object has the bytes and the alignment of its layout, and belongs only to its caller until
///   it is freed or the allocator is dropped.
pub(in crate::arenas) unsafe trait Objects {
    /// Allocates an object of at least one byte.
    ///
    /// # Safety
    /// - The layout has at least one byte, and an alignment of at most 8.
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>>;

    /// Frees an object. Returns `false` if the allocator does not own it.
    ///
    /// # Safety
    /// - The object is from this allocator, with that layout, and was not freed before.
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool;

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
}

/// drystone's allocator.
// SAFETY: `SmallObjects` gives these guarantees.
unsafe impl Objects for SmallObjects<'_> {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        SmallObjects::allocate(self, layout).ok()
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { SmallObjects::free(self, object, layout) }.is_ok()
    }
    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees it.
        unsafe { SmallObjects::resize(self, object, old, new) }.ok()
    }
    unsafe fn block_bytes(&self, object: NonNull<u8>, layout: Layout) -> usize {
        self.class_of(object).map_or(layout.size(), |class| class.slot_bytes)
    }
    /// Every slot has its bits, free or not.
    fn metadata_bytes(&self) -> usize {
        self.stats().region_bytes - self.stats().capacity_bytes
    }
}

/// Creates drystone's allocator with these classes, in as much memory as the others have. Objects
/// that are too large for all classes are allocated from the heap.
pub(in crate::arenas) fn drystone(classes: &[SlotClass]) -> Result<SmallObjects<'static>, String> {
    let region = Region::heap(MEMORY_BYTES).map_err(|error| error.to_string())?;
    SmallObjects::new(region, &SmallObjectsConfig { classes })
        .map(|objects| objects.with_fallback(&Heap))
        .map_err(|error| error.to_string())
}

/// An allocator for whole programs.
pub(in crate::arenas) struct InProgram<A>(pub A);

/// A global allocator that can report the size of a block.
pub(super) trait BlockBytes {
    /// # Safety
    /// - The object is live and from this allocator.
    unsafe fn block_bytes(&self, object: NonNull<u8>) -> usize;
}

// SAFETY: `GlobalAlloc` gives these guarantees.
unsafe impl<A: GlobalAlloc + BlockBytes> Objects for InProgram<A> {
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

#[cfg(all(target_os = "linux", target_env = "gnu"))]
// SAFETY: this is the C library's declaration.
unsafe extern "C" {
    fn malloc_usable_size(block: *mut c_void) -> usize;
    fn malloc_trim(pad: usize) -> std::ffi::c_int;
}

/// Makes `malloc` return unused memory to the system.
pub(super) fn trim() {
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

/// Talc in a fixed region of memory.
pub(in crate::arenas) struct Talc {
    talc: talc::base::Talc<talc::source::Manual, talc::DefaultBinning>,
    _memory: Region<'static>,
}

impl Talc {
    pub(in crate::arenas) fn new() -> Result<Self, String> {
        let memory = Region::heap(MEMORY_BYTES).map_err(|error| error.to_string())?;
        let mut talc = talc::base::Talc::new(talc::source::Manual);
        // SAFETY: this object owns the memory, and drops it after the allocator.
        unsafe { talc.claim(memory.start().as_ptr(), memory.size_bytes()) }
            .ok_or("talc rejects the memory")?;
        Ok(Self { talc, _memory: memory })
    }
}

// SAFETY: `Talc` gives these guarantees.
unsafe impl Objects for Talc {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees that the layout is not empty. There is no source of more
        // memory.
        unsafe { self.talc.try_allocate(layout) }
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { self.talc.deallocate(object.as_ptr(), layout) };
        true
    }
    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees it.
        if unsafe { self.talc.try_realloc_in_place(object.as_ptr(), old, new.size()) } {
            return Some(object);
        }
        // SAFETY: the new layout is not empty, and larger than the old one, so all bytes of the old
        // object fit.
        unsafe {
            let moved = self.talc.try_allocate(new)?;
            moved.copy_from_nonoverlapping(object, old.size());
            self.talc.deallocate(object.as_ptr(), old);
            Some(moved)
        }
    }
    /// A tag of a word after the object, in chunks of four words.
    unsafe fn block_bytes(&self, _: NonNull<u8>, layout: Layout) -> usize {
        (layout.size() + size_of::<usize>()).next_multiple_of(4 * size_of::<usize>())
    }
}

/// Rlsf in a fixed region of memory: blocks of up to 32 MB, with 32 steps per power of two.
pub(in crate::arenas) struct Rlsf {
    tlsf: rlsf::Tlsf<'static, u32, u32, 20, 32>,
    _memory: Region<'static>,
}

impl Rlsf {
    pub(in crate::arenas) fn new() -> Result<Self, String> {
        let memory = Region::heap(MEMORY_BYTES).map_err(|error| error.to_string())?;
        let mut tlsf = rlsf::Tlsf::new();
        let block = NonNull::slice_from_raw_parts(memory.start(), memory.size_bytes());
        // SAFETY: this object owns the memory, and drops it after the allocator.
        unsafe { tlsf.insert_free_block_ptr(block) }.ok_or("rlsf rejects the memory")?;
        Ok(Self { tlsf, _memory: memory })
    }
}

// SAFETY: `Tlsf` gives these guarantees.
unsafe impl Objects for Rlsf {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        self.tlsf.allocate(layout)
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { self.tlsf.deallocate(object, layout.align()) };
        true
    }
    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        _: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees it. Both layouts have the same alignment.
        unsafe { self.tlsf.reallocate(object, new) }
    }
    /// A header of two words, in blocks of four.
    unsafe fn block_bytes(&self, _: NonNull<u8>, layout: Layout) -> usize {
        (layout.size() + 2 * size_of::<usize>()).next_multiple_of(rlsf::GRANULARITY)
    }
}

/// Dlmalloc in a fixed region of memory.
pub(in crate::arenas) struct Dlmalloc(dlmalloc::Dlmalloc<OneBlock>);

impl Dlmalloc {
    pub(in crate::arenas) fn new() -> Result<Self, String> {
        let memory = Region::heap(MEMORY_BYTES).map_err(|error| error.to_string())?;
        let block = OneBlock { memory, is_given: false.into() };
        Ok(Self(dlmalloc::Dlmalloc::new_with_allocator(block)))
    }
}

/// A system with one block of memory, which is never returned.
struct OneBlock {
    memory: Region<'static>,
    is_given: std::cell::Cell<bool>,
}

// SAFETY: the block is handed out once, and lives as long as this object.
unsafe impl dlmalloc::Allocator for OneBlock {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let size_bytes = self.memory.size_bytes();
        if self.is_given.replace(true) || size > size_bytes {
            return (std::ptr::null_mut(), 0, 0);
        }
        (self.memory.start().as_ptr(), size_bytes, 0)
    }
    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        std::ptr::null_mut()
    }
    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }
    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }
    fn can_release_part(&self, _: u32) -> bool {
        false
    }
    fn allocates_zeros(&self) -> bool {
        false
    }
    fn page_size(&self) -> usize {
        4096
    }
}

// SAFETY: `Dlmalloc` gives these guarantees.
unsafe impl Objects for Dlmalloc {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: it accepts any size, and aligns to two words.
        NonNull::new(unsafe { self.0.c_malloc(layout.size()) })
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, _: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.c_free(object.as_ptr()) };
        true
    }
    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        _: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the caller guarantees it.
        NonNull::new(unsafe { self.0.c_realloc(object.as_ptr(), new.size()) })
    }
    /// A header of one word, in chunks of two-word units, at least four words.
    unsafe fn block_bytes(&self, _: NonNull<u8>, layout: Layout) -> usize {
        let word = size_of::<usize>();
        (layout.size() + word).next_multiple_of(2 * word).max(4 * word)
    }
}
