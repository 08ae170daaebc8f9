//! Allocators of small objects as one thread sees them, without a collection around them.

use std::{
    alloc::{GlobalAlloc, Layout},
    ffi::c_void,
    ptr::NonNull,
};

use drystone_alloc::memory::{Heap, Region, SlotClass, SmallObjects, SmallObjectsConfig};

/// Memory of every contender that works in memory of its own.
pub(super) const MEMORY_BYTES: usize = 32 << 20;

/// Hands out small objects.
///
/// # Safety
/// - An object has the bytes and the alignment of its layout, and is nobody else's until it
///   is freed or the allocator ends.
pub(in crate::arenas) unsafe trait Objects {
    /// An object of at least one byte.
    ///
    /// # Safety
    /// - The layout has at least one byte, and is aligned to 8 at most.
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>>;

    /// Takes an object back; `false` if it was not one.
    ///
    /// # Safety
    /// - The object is of this allocator, of that layout, and was not freed before.
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool;

    /// Makes an object larger or smaller, with its bytes as far as both sizes go.
    ///
    /// # Safety
    /// - As for [`free`](Self::free), with `old` for the layout.
    /// - `new` is as for [`allocate`](Self::allocate), with the alignment of `old`.
    #[cfg_attr(not(feature = "peers"), allow(dead_code))]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>>;

    /// Bytes that a live object keeps from others: itself, its padding and its header.
    ///
    /// # Safety
    /// - As for [`free`](Self::free).
    unsafe fn block_bytes(&self, object: NonNull<u8>, layout: Layout) -> usize;

    /// Bytes of books that belong to no object.
    fn book_bytes(&self) -> usize {
        0
    }
}

/// Ours.
// SAFETY: what `SmallObjects` promises.
unsafe impl Objects for SmallObjects<'_> {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        SmallObjects::allocate(self, layout).ok()
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller's promise.
        unsafe { SmallObjects::free(self, object, layout) }.is_ok()
    }
    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the caller's promise.
        unsafe { SmallObjects::resize(self, object, old, new) }.ok()
    }
    unsafe fn block_bytes(&self, object: NonNull<u8>, layout: Layout) -> usize {
        self.class_of(object).map_or(layout.size(), |class| class.slot_bytes)
    }
    /// Every slot has its bits, free or not.
    fn book_bytes(&self) -> usize {
        self.stats().region_bytes - self.stats().capacity_bytes
    }
}

/// Ours, with these classes in as much memory as the others have; what is too large for all
/// of them goes to the heap.
pub(in crate::arenas) fn drystone(classes: &[SlotClass]) -> Result<SmallObjects<'static>, String> {
    let region = Region::heap(MEMORY_BYTES).map_err(|error| error.to_string())?;
    SmallObjects::new(region, &SmallObjectsConfig { classes })
        .map(|objects| objects.with_fallback(&Heap))
        .map_err(|error| error.to_string())
}

/// One of whole programs.
pub(in crate::arenas) struct InProgram<A>(pub A);

/// How an allocator tells the size of a block.
pub(super) trait BlockBytes {
    /// # Safety
    /// - The object is live and of this allocator.
    unsafe fn block_bytes(&self, object: NonNull<u8>) -> usize;
}

// SAFETY: what `GlobalAlloc` promises.
unsafe impl<A: GlobalAlloc + BlockBytes> Objects for InProgram<A> {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the caller promises that the layout has bytes.
        NonNull::new(unsafe { self.0.alloc(layout) })
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise; the new size is that of a layout.
        NonNull::new(unsafe { self.0.realloc(object.as_ptr(), old, new.size()) })
    }
    unsafe fn block_bytes(&self, object: NonNull<u8>, _: Layout) -> usize {
        // SAFETY: the caller's promise.
        unsafe { self.0.block_bytes(object) }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
// SAFETY: the C library's own declaration.
unsafe extern "C" {
    fn malloc_usable_size(block: *mut c_void) -> usize;
    fn malloc_trim(pad: usize) -> std::ffi::c_int;
}

/// Gives what `malloc` does not need back to the system.
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
        // SAFETY: the caller promises a live block of `malloc`. The size of a chunk stands
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
        // SAFETY: the caller's promise. Blocks have no header.
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

/// Talc in memory that it was given.
pub(in crate::arenas) struct Talc {
    talc: talc::base::Talc<talc::source::Manual, talc::DefaultBinning>,
    _memory: Region<'static>,
}

impl Talc {
    pub(in crate::arenas) fn new() -> Result<Self, String> {
        let memory = Region::heap(MEMORY_BYTES).map_err(|error| error.to_string())?;
        let mut talc = talc::base::Talc::new(talc::source::Manual);
        // SAFETY: the memory is ours, and goes after the allocator.
        unsafe { talc.claim(memory.start().as_ptr(), memory.size_bytes()) }
            .ok_or("talc does not take the memory")?;
        Ok(Self { talc, _memory: memory })
    }
}

// SAFETY: what `Talc` promises.
unsafe impl Objects for Talc {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the caller promises that the layout has bytes. There is no source to ask.
        unsafe { self.talc.try_allocate(layout) }
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise.
        if unsafe { self.talc.try_realloc_in_place(object.as_ptr(), old, new.size()) } {
            return Some(object);
        }
        // SAFETY: the new layout has bytes; only one that is larger comes here, so that all
        // bytes of the old object fit.
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

/// Rlsf in memory that it was given: blocks of up to 32 MB, each doubling in 32 steps.
pub(in crate::arenas) struct Rlsf {
    tlsf: rlsf::Tlsf<'static, u32, u32, 20, 32>,
    _memory: Region<'static>,
}

impl Rlsf {
    pub(in crate::arenas) fn new() -> Result<Self, String> {
        let memory = Region::heap(MEMORY_BYTES).map_err(|error| error.to_string())?;
        let mut tlsf = rlsf::Tlsf::new();
        let block = NonNull::slice_from_raw_parts(memory.start(), memory.size_bytes());
        // SAFETY: the memory is ours, and goes after the allocator.
        unsafe { tlsf.insert_free_block_ptr(block) }.ok_or("rlsf does not take the memory")?;
        Ok(Self { tlsf, _memory: memory })
    }
}

// SAFETY: what `Tlsf` promises.
unsafe impl Objects for Rlsf {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        self.tlsf.allocate(layout)
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise; both layouts are aligned alike.
        unsafe { self.tlsf.reallocate(object, new) }
    }
    /// A header of two words, in blocks of four.
    unsafe fn block_bytes(&self, _: NonNull<u8>, layout: Layout) -> usize {
        (layout.size() + 2 * size_of::<usize>()).next_multiple_of(rlsf::GRANULARITY)
    }
}

/// Dlmalloc in memory that it was given.
pub(in crate::arenas) struct Dlmalloc(dlmalloc::Dlmalloc<OneBlock>);

impl Dlmalloc {
    pub(in crate::arenas) fn new() -> Result<Self, String> {
        let memory = Region::heap(MEMORY_BYTES).map_err(|error| error.to_string())?;
        let block = OneBlock { memory, is_given: false.into() };
        Ok(Self(dlmalloc::Dlmalloc::new_with_allocator(block)))
    }
}

/// A system with one block of memory to give, which it does not want back.
struct OneBlock {
    memory: Region<'static>,
    is_given: std::cell::Cell<bool>,
}

// SAFETY: the block is given once, and lives as long as this.
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

// SAFETY: what `Dlmalloc` promises.
unsafe impl Objects for Dlmalloc {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: it takes any size, and aligns to two words.
        NonNull::new(unsafe { self.0.c_malloc(layout.size()) })
    }
    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, _: Layout) -> bool {
        // SAFETY: the caller's promise.
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
        // SAFETY: the caller's promise.
        NonNull::new(unsafe { self.0.c_realloc(object.as_ptr(), new.size()) })
    }
    /// A header of a word, in chunks of two words, of four at least.
    unsafe fn block_bytes(&self, _: NonNull<u8>, layout: Layout) -> usize {
        let word = size_of::<usize>();
        (layout.size() + word).next_multiple_of(2 * word).max(4 * word)
    }
}
