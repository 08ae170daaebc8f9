use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};

use super::{MemorySource, Region};
use crate::Error;

mod check;
mod home;
mod shape;
mod shrink;
mod slab;

pub(super) use self::home::Home;
pub(super) use self::shape::{Head, SLAB_BYTES, Shape, block_layout};
pub(super) use self::slab::{Marks, Slab};

/// What freed memory is filled with in debug builds.
const POISON: u8 = 0xDD;

/// Equal blocks and the list of free ones, which lies in the free blocks themselves: what
/// the pools are made of. It knows no types, checks no frees and counts nothing: where most
/// of the cost is a cache that misses, one number that is kept up is a tenth more.
///
/// ```text
///  free ──────────────────┐                       ┌── fresh: from here on never used
///  slab [ header | marks │[·] [x] [x] [·] [x] [x] [ ] [ ] [ ] ]
///                           └──────────┘ next
/// ```
pub(super) struct Blocks<'m> {
    /// The free block to go next, which begins with the address of the one after it.
    free: Cell<*mut Link>,
    /// The first of `fresh_count` blocks of one slab that were never handed out.
    fresh: Cell<*mut u8>,
    fresh_count: Cell<usize>,
    /// Slabs in a list: first those that were opened, then those none of whose blocks was
    /// handed out, which begin at `unopened`.
    slabs: Cell<*mut Slab>,
    unopened: Cell<*mut Slab>,
    slab_count: Cell<usize>,
    /// Where the pool lives, if that is in its first slab, else null.
    home: Cell<*mut Blocks<'static>>,
    block: Layout,
    shape: Shape,
    memory: Memory<'m>,
}

/// What a free block begins with.
type Link = *mut u8;

/// Whose memory the slabs are.
enum Memory<'m> {
    /// The slabs of a region, made at the start.
    #[allow(dead_code, reason = "the slabs lie in it")]
    Region(Region<'m>),
    /// As many slabs as the source gives.
    Source(&'m dyn MemorySource),
}

impl<'m> Blocks<'m> {
    /// As many blocks as one slab in `region` has room for, with a mark each.
    pub(super) fn in_region(layout: Layout, region: Region<'m>) -> Self {
        let block = block_layout(layout);
        let shape = Shape::in_region(block, Head::Marks, &region);
        let start = region.start().as_ptr();
        let this = Self::new(block, shape, Memory::Region(region));
        if shape.block_count > 0 {
            let slab = start.with_addr(shape.base).cast();
            // SAFETY: the shape was made for this region, which is ours alone: it has room
            // for header, marks and blocks from `base` on.
            unsafe { this.add_slab(slab) }
            this.unopened.set(slab);
        }
        this
    }

    /// Blocks in slabs of about `slab_bytes`, asked of `source` one by one.
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
            home: Cell::new(ptr::null_mut()),
            block,
            shape,
            memory,
        }
    }

    /// A block of unknown content.
    #[inline]
    pub(super) fn allocate(&self) -> Result<NonNull<u8>, Error> {
        let Some(free) = NonNull::new(self.free.get()) else { return self.allocate_fresh() };
        // SAFETY: what is listed is a free block of ours, which begins with a link.
        self.free.set(unsafe { free.read() }.cast());
        Ok(free.cast())
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// - `block` came from `allocate`, is a copy of what that returned, and was not freed
    ///   since.
    /// - Nothing uses it any more.
    #[inline]
    pub(super) unsafe fn free(&self, block: NonNull<u8>) {
        let link = block.cast::<Link>();
        // SAFETY: the block is free now, which makes it ours, and large enough for a link.
        unsafe {
            if cfg!(debug_assertions) {
                block.write_bytes(POISON, self.block.size());
            }
            link.write(self.free.get().cast());
        }
        self.free.set(link.as_ptr());
    }

    /// The slab of a block, and how far behind the slab's header the block begins.
    #[inline]
    pub(super) fn slab_of(&self, block: NonNull<u8>) -> (*mut Slab, usize) {
        let slab = block.as_ptr().map_addr(|address| address & self.shape.mask | self.shape.base);
        (slab.cast(), block.as_ptr().addr().wrapping_sub(slab.addr()))
    }

    /// Whether a block of this pool begins at `block`, in use or not.
    pub(super) fn is_block(&self, block: NonNull<u8>) -> bool {
        let (slab, offset) = self.slab_of(block);
        let Some(behind) = offset.checked_sub(self.shape.first) else { return false };
        behind.is_multiple_of(self.block.size())
            && behind / self.block.size() < self.shape.block_count
            && self.slabs().any(|own| own.as_ptr() == slab)
    }

    /// Size and alignment of a block.
    pub(super) const fn block(&self) -> Layout {
        self.block
    }

    /// Takes every block back at once and keeps the memory.
    pub(super) fn reset(&mut self) {
        for slab in self.slabs() {
            // SAFETY: it is one of our slabs, all of which have this shape.
            unsafe { Slab::clear_marks(slab.as_ptr(), &self.shape) }
        }
        self.free.set(ptr::null_mut());
        self.fresh_count.set(0);
        self.unopened.set(self.slabs.get());
    }

    /// A block that was never handed out.
    #[inline(never)]
    fn allocate_fresh(&self) -> Result<NonNull<u8>, Error> {
        if self.fresh_count.get() == 0 && !self.open_slab() {
            return Err(self.full());
        }
        let Some(block) = NonNull::new(self.fresh.get()) else { return Err(self.full()) };
        // SAFETY: behind the block lies another or the end of its slab.
        self.fresh.set(unsafe { block.add(self.block.size()) }.as_ptr());
        self.fresh_count.set(self.fresh_count.get() - 1);
        Ok(block)
    }

    #[cold]
    fn full(&self) -> Error {
        Error::Full { requested: self.block.size() as u64, largest_free: 0, total_free: 0 }
    }

    /// Makes all blocks of one more slab fresh; `false` when there is none.
    #[cold]
    fn open_slab(&self) -> bool {
        let mut slab = self.unopened.get();
        if slab.is_null() {
            slab = self.ask_for_slab();
        } else {
            // SAFETY: it is one of our slabs.
            self.unopened.set(unsafe { (*slab).next.get() });
        }
        if slab.is_null() {
            return false;
        }
        // SAFETY: the first block lies in the slab.
        self.fresh.set(unsafe { slab.cast::<u8>().add(self.shape.first) });
        self.fresh_count.set(self.shape.block_count);
        true
    }

    /// One more slab from the source, or null.
    fn ask_for_slab(&self) -> *mut Slab {
        let Memory::Source(source) = self.memory else { return ptr::null_mut() };
        let Some(layout) = self.slab_layout() else { return ptr::null_mut() };
        let Some(memory) = source.allocate(layout) else { return ptr::null_mut() };
        let slab = memory.as_ptr().cast();
        // SAFETY: the source gave memory of this layout, which is a slab's.
        unsafe { self.add_slab(slab) }
        slab
    }

    /// How slabs are asked of a source; `None` when no memory has room for one.
    fn slab_layout(&self) -> Option<Layout> {
        let bytes = self.shape.slab_bytes;
        Layout::from_size_align(bytes, bytes).ok().filter(|_| self.shape.block_count > 0)
    }

    /// Puts a new slab at the front of the list.
    ///
    /// # Safety
    /// - At `slab` there is room for a slab of our shape, which is nobody else's.
    unsafe fn add_slab(&self, slab: *mut Slab) {
        // SAFETY: the caller's promise; the header is made before it is used.
        unsafe {
            Slab::init(slab, &self.shape);
            (*slab).next.set(self.slabs.get());
            (*slab).home.set(self.home.get());
        }
        self.slabs.set(slab);
        self.slab_count.set(self.slab_count.get() + 1);
    }

    /// Every slab.
    fn slabs(&self) -> impl Iterator<Item = NonNull<Slab>> {
        let mut next = self.slabs.get();
        core::iter::from_fn(move || {
            let slab = NonNull::new(next)?;
            // SAFETY: slabs are linked from `slabs` on until null. Who frees one does so
            // after this, and takes it off the list.
            next = unsafe { slab.as_ref() }.next.get();
            Some(slab)
        })
    }
}

impl Drop for Blocks<'_> {
    fn drop(&mut self) {
        let Memory::Source(source) = self.memory else { return };
        let Some(layout) = self.slab_layout() else { return };
        for slab in self.slabs() {
            // SAFETY: it came from this source with this layout; the blocks in it end with
            // the pool. The iterator is one slab ahead.
            unsafe { source.free(slab.cast(), layout) }
        }
    }
}

// SAFETY: blocks are memory that is owned, or borrowed exclusively, and hold no thread's
// state; sources are `Sync`.
unsafe impl Send for Blocks<'_> {}
