use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};

use crate::debug_aids::{Leak, fill_freed, fill_new, report_leak};
use crate::{Error, MemorySource, Region};

mod free_list;
mod in_place;
mod slab;

pub(super) use self::in_place::InPlaceBlocks;
pub(super) use self::slab::{Head, Marks, SLAB_BYTES, Shape, Slab, block_layout};

/// Memory use of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Number of blocks in use.
    pub used_count: usize,
    /// Number of blocks, in use and free.
    pub capacity: usize,
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Number of slabs.
    pub slab_count: usize,
    /// Size of all slabs, including headers and unused ends, in bytes.
    pub reserved_bytes: usize,
}

/// Blocks of equal size and the list of free ones, which is stored in the free blocks: the common
/// part of the pools. It has no types, does not check frees and keeps no counters: cache misses
/// dominate the cost, and one counter adds a tenth to it.
///
/// ```text
///  free ──────────────────┐                       ┌── fresh: never used from here on
///  slab [ header | marks │[·] [x] [x] [·] [x] [x] [ ] [ ] [ ] ]
///                           └──────────┘ next
/// ```
pub(super) struct Blocks<'m> {
    /// Free block to use next, which begins with the address of the following one.
    free: Cell<*mut Link>,
    /// First of `fresh_count` blocks of one slab that were never allocated.
    fresh: Cell<*mut u8>,
    fresh_count: Cell<usize>,
    /// List of slabs: first the opened ones, then the slabs without any allocated block, which
    /// begin at `unopened`.
    slabs: Cell<*mut Slab>,
    unopened: Cell<*mut Slab>,
    slab_count: Cell<usize>,
    /// Address of this struct if it is stored in its first slab, else null.
    own_address: Cell<*mut Blocks<'static>>,
    block: Layout,
    shape: Shape,
    memory: Memory<'m>,
}

/// Start of a free block: the next free block.
type Link = *mut u8;

/// Owner of the memory of the slabs.
enum Memory<'m> {
    /// Slabs of a region, created at the start.
    #[allow(dead_code, reason = "owns the memory of the slabs")]
    Region(Region<'m>),
    /// Slabs that are allocated from a source when needed.
    Source(&'m dyn MemorySource),
}

impl<'m> Blocks<'m> {
    /// Creates the blocks of one slab that fits into `region`, with a mark each.
    pub(super) fn in_region(layout: Layout, region: Region<'m>) -> Self {
        let block = block_layout(layout);
        let shape = Shape::in_region(block, Head::Marks, &region);
        let start = region.start().as_ptr();
        let this = Self::new(block, shape, Memory::Region(region));
        if shape.block_count > 0 {
            let slab = start.with_addr(shape.base).cast();
            // SAFETY: the shape was made for this region, which is exclusively ours: it has space
            // for header, marks and blocks from `base` on.
            unsafe { this.add_slab(slab) }
            this.unopened.set(slab);
        }
        this
    }

    /// Creates blocks in slabs of about `slab_bytes`, which are allocated one by one from `source`.
    pub(super) const fn in_slabs(
        layout: Layout,
        head: Head,
        slab_bytes: usize,
        source: &'m dyn MemorySource,
    ) -> Self {
        let block = block_layout(layout);
        Self::new(block, Shape::in_slabs(block, head, slab_bytes), Memory::Source(source))
    }

    const fn new(block: Layout, shape: Shape, memory: Memory<'m>) -> Self {
        Self {
            free: Cell::new(ptr::null_mut()),
            fresh: Cell::new(ptr::null_mut()),
            fresh_count: Cell::new(0),
            slabs: Cell::new(ptr::null_mut()),
            unopened: Cell::new(ptr::null_mut()),
            slab_count: Cell::new(0),
            own_address: Cell::new(ptr::null_mut()),
            block,
            shape,
            memory,
        }
    }

    /// Allocates a block with uninitialized content.
    #[inline]
    pub(super) fn allocate(&self) -> Result<NonNull<u8>, Error> {
        let Some(free) = NonNull::new(self.free.get()) else { return self.allocate_fresh() };
        // SAFETY: the list contains free blocks of ours, which begin with a link.
        self.free.set(unsafe { free.read() }.cast());
        // SAFETY: the block was free.
        unsafe { fill_new(free.cast(), self.block.size()) };
        Ok(free.cast())
    }

    /// Frees a block.
    ///
    /// # Safety
    /// - `block` is a pointer that `allocate` returned, or a copy of it, and was not freed since.
    /// - Nothing uses it any more.
    #[inline]
    pub(super) unsafe fn free(&self, block: NonNull<u8>) {
        let link = block.cast::<Link>();
        // SAFETY: the block is free now, which makes it ours, and large enough for a link.
        unsafe {
            fill_freed(block, self.block.size());
            link.write(self.free.get().cast());
        }
        self.free.set(link.as_ptr());
    }

    /// Returns the slab of a block and the offset of the block from the slab's header, in bytes.
    #[inline]
    pub(super) fn slab_of(&self, block: NonNull<u8>) -> (*mut Slab, usize) {
        let slab = block.as_ptr().map_addr(|address| address & self.shape.mask | self.shape.base);
        (slab.cast(), block.as_ptr().addr().wrapping_sub(slab.addr()))
    }

    /// Whether a block of this pool, used or free, begins at `block`.
    pub(super) fn is_block(&self, block: NonNull<u8>) -> bool {
        let (slab, offset) = self.slab_of(block);
        let Some(behind) = offset.checked_sub(self.shape.first) else { return false };
        behind.is_multiple_of(self.block.size())
            && behind / self.block.size() < self.shape.block_count
            && self.slabs().any(|own| own.as_ptr() == slab)
    }

    /// Returns the size and alignment of a block.
    pub(super) const fn block(&self) -> Layout {
        self.block
    }

    /// Frees all blocks at once and keeps the memory.
    pub(super) fn reset(&mut self) {
        self.report_leaks();
        for slab in self.slabs() {
            // SAFETY: it is one of our slabs, and all slabs have this shape.
            unsafe { Slab::clear_marks(slab.as_ptr(), &self.shape) }
        }
        self.free.set(ptr::null_mut());
        self.fresh_count.set(0);
        self.unopened.set(self.slabs.get());
    }

    fn report_leaks(&self) {
        let sizes = || core::iter::repeat_n(self.block.size(), self.stats().used_count);
        report_leak(|| Leak::of("pool", sizes()));
    }

    /// Allocates a block that was never allocated before.
    #[inline(never)]
    fn allocate_fresh(&self) -> Result<NonNull<u8>, Error> {
        let full = || Error::full(self.block.size());
        if self.fresh_count.get() == 0 && !self.open_slab() {
            return Err(full());
        }
        let block = NonNull::new(self.fresh.get()).ok_or_else(full)?;
        // SAFETY: behind the block is another one or the end of its slab.
        self.fresh.set(unsafe { block.add(self.block.size()) }.as_ptr());
        self.fresh_count.set(self.fresh_count.get() - 1);
        // SAFETY: the block was never allocated.
        unsafe { fill_new(block, self.block.size()) };
        Ok(block)
    }

    /// Opens the next unopened slab, or a new one, for [`allocate_fresh`](Self::allocate_fresh).
    /// Returns `false` if no slab can be allocated.
    #[cold]
    fn open_slab(&self) -> bool {
        let mut slab = self.unopened.get();
        if slab.is_null() {
            slab = self.allocate_slab();
        } else {
            // SAFETY: it is one of our slabs.
            self.unopened.set(unsafe { (*slab).next.get() });
        }
        if slab.is_null() {
            return false;
        }
        // SAFETY: the first block is in the slab.
        self.fresh.set(unsafe { slab.cast::<u8>().add(self.shape.first) });
        self.fresh_count.set(self.shape.block_count);
        true
    }

    /// Allocates a slab from the source. Returns null on failure.
    fn allocate_slab(&self) -> *mut Slab {
        let Memory::Source(source) = self.memory else { return ptr::null_mut() };
        let Some(layout) = self.slab_layout() else { return ptr::null_mut() };
        let Some(memory) = source.allocate(layout) else { return ptr::null_mut() };
        let slab = memory.as_ptr().cast();
        // SAFETY: the source returned memory of this layout, which is a slab's.
        unsafe { self.add_slab(slab) }
        slab
    }

    /// Returns the layout of a slab. `None` if no memory could hold one.
    fn slab_layout(&self) -> Option<Layout> {
        let bytes = self.shape.slab_bytes;
        Layout::from_size_align(bytes, bytes).ok().filter(|_| self.shape.block_count > 0)
    }

    /// Adds a new slab at the front of the list.
    ///
    /// # Safety
    /// - The memory at `slab` has space for a slab of our shape, and nothing else uses it.
    unsafe fn add_slab(&self, slab: *mut Slab) {
        // SAFETY: guaranteed by the caller; the header is written before it is used.
        unsafe {
            Slab::init(slab, &self.shape);
            (*slab).next.set(self.slabs.get());
            (*slab).pool.set(self.own_address.get());
        }
        self.slabs.set(slab);
        self.slab_count.set(self.slab_count.get() + 1);
    }

    /// Iterates over all slabs.
    fn slabs(&self) -> impl Iterator<Item = NonNull<Slab>> {
        let mut next = self.slabs.get();
        core::iter::from_fn(move || {
            let slab = NonNull::new(next)?;
            // SAFETY: slabs are linked from `slabs` on until null. A caller that frees a slab does
            // so after this line, and removes it from the list.
            next = unsafe { slab.as_ref() }.next.get();
            Some(slab)
        })
    }
}

impl Drop for Blocks<'_> {
    fn drop(&mut self) {
        self.report_leaks();
        let Memory::Source(source) = self.memory else { return };
        let Some(layout) = self.slab_layout() else { return };
        for slab in self.slabs() {
            // SAFETY: it came from this source with this layout; the blocks in it end with the
            // pool. The iterator is one slab ahead.
            unsafe { source.free(slab.cast(), layout) }
        }
    }
}

// SAFETY: blocks are memory that is owned, or borrowed exclusively, without thread-specific state;
// sources are `Sync`.
unsafe impl Send for Blocks<'_> {}
