//! Allocators of small objects for one thread, without a collection.

use std::{alloc::Layout, ptr::NonNull};

use drystone_memory::{Heap, Region, SlotClass, SmallObjects, SmallObjectsConfig};

use super::{
    allocator::{Allocator, InProgram},
    article::Article,
    statistics::Classes,
    tree::Objects,
    work::Work,
};
use crate::Failure;

/// Names of the contenders.
pub(super) const NAMES: &[&str] = &[
    "drystone",
    "drystone-default",
    "article",
    "malloc",
    #[cfg(feature = "peers")]
    "mimalloc",
    #[cfg(feature = "peers")]
    "snmalloc-rs",
    "talc",
    "rlsf",
    "dlmalloc",
];

/// `drystone` without a record of the objects in its fallback.
pub(super) const UNRECORDED: &str = "drystone-unrecorded";

/// Creates the contender of that name. drystone's allocators have a region of `region_bytes`.
pub(super) fn open(
    name: &str,
    classes: &Classes,
    region_bytes: usize,
) -> Result<Box<dyn Work>, Failure> {
    let default = SmallObjectsConfig::default().classes;
    Ok(match name {
        "drystone" => Box::new(drystone(&classes.proposed, region_bytes)?.with_fallback(&Heap)),
        "drystone-default" => Box::new(drystone(default, region_bytes)?.with_fallback(&Heap)),
        // SAFETY: as for every contender, only live objects are freed, with their layouts.
        UNRECORDED => Box::new(unsafe {
            drystone(&classes.proposed, region_bytes)?.with_unrecorded_fallback(&Heap)
        }),
        "article" => Box::new(Article::new(&classes.article)?),
        "malloc" => Box::new(InProgram(std::alloc::System)),
        #[cfg(feature = "peers")]
        "mimalloc" => Box::new(InProgram(mimalloc::MiMalloc)),
        #[cfg(feature = "peers")]
        "snmalloc-rs" => Box::new(InProgram(snmalloc_rs::SnMalloc)),
        "talc" => Box::new(Talc::new()?),
        "rlsf" => Box::new(Rlsf::new()?),
        "dlmalloc" => Box::new(Dlmalloc::new()?),
        _ => return Err("unknown contender".into()),
    })
}

/// Size of the memory of contenders with their own region, unless a case has another.
pub(super) const MEMORY_BYTES: usize = 32 << 20;

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
}

// SAFETY: a resized object is one of the same allocator.
unsafe impl Allocator for SmallObjects<'_> {
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
    fn overflows(&self) -> Option<u64> {
        let stats = self.stats();
        Some(stats.fallbacks + stats.too_large)
    }
}

/// Creates drystone's allocator with these classes. Objects without a slot are from the heap.
fn drystone(classes: &[SlotClass], region_bytes: usize) -> Result<SmallObjects<'static>, Failure> {
    Ok(SmallObjects::new(Region::heap(region_bytes)?, &SmallObjectsConfig { classes })?)
}

/// The allocator Talc, in a fixed region of memory.
struct Talc {
    talc: talc::base::Talc<talc::source::Manual, talc::DefaultBinning>,
    _memory: Region<'static>,
}

impl Talc {
    fn new() -> Result<Self, Failure> {
        let memory = Region::heap(MEMORY_BYTES)?;
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
}

// SAFETY: a resized object is one of the same allocator.
unsafe impl Allocator for Talc {
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
struct Rlsf {
    tlsf: rlsf::Tlsf<'static, u32, u32, 20, 32>,
    _memory: Region<'static>,
}

impl Rlsf {
    fn new() -> Result<Self, Failure> {
        let memory = Region::heap(MEMORY_BYTES)?;
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
}

// SAFETY: a resized object is one of the same allocator.
unsafe impl Allocator for Rlsf {
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
struct Dlmalloc(dlmalloc::Dlmalloc<OneBlock>);

impl Dlmalloc {
    fn new() -> Result<Self, Failure> {
        let memory = Region::heap(MEMORY_BYTES)?;
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
}

// SAFETY: a resized object is one of the same allocator.
unsafe impl Allocator for Dlmalloc {
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
