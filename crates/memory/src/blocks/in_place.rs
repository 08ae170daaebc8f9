use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use super::{Blocks, Head, Memory, Shape, Slab, block_layout};
use crate::Error;
use crate::{MemorySource, Region};

/// Blocks whose own struct is stored in their first slab. It does not move, so the address of a
/// block is sufficient to free the block.
///
/// ```text
///  slab [ header | Blocks | [·] [x] [x] … ]     slab [ header |        | [x] [x] [·] … ]
///             └─────►▲                                    │
///                    └────────────── pool ────────────────┘
/// ```
pub(crate) struct InPlaceBlocks<'m> {
    /// Valid for `'m`. The type says `'static`, because a `Cell` would make `'m` invariant.
    blocks: Cell<Option<NonNull<Blocks<'static>>>>,
    /// Source of the first slab.
    source: Option<&'m dyn MemorySource>,
}

impl<'m> InPlaceBlocks<'m> {
    /// Creates the slabs that fit into `region` at multiples of their size.
    pub(crate) fn in_region(layout: Layout, slab_bytes: usize, region: Region<'m>) -> Self {
        let block = block_layout(layout);
        let shape = Shape::in_slabs(block, Head::Pool, slab_bytes);
        let (start, size) = (region.start().as_ptr(), region.size_bytes());
        let blocks = Blocks::new(block, shape, Memory::Region(region));
        if shape.block_count > 0 {
            let bytes = shape.slab_bytes;
            let end = start.addr().saturating_add(size);
            let mut next = start.addr().checked_next_multiple_of(bytes);
            while let Some(at) = next
                && at.checked_add(bytes).is_some_and(|slab_end| slab_end <= end)
            {
                // SAFETY: this range is in the region, which is exclusively ours.
                unsafe { blocks.add_slab(start.with_addr(at).cast()) }
                next = at.checked_add(bytes);
            }
            blocks.unopened.set(blocks.slabs.get());
        }
        Self { blocks: Cell::new(move_into_first_slab(blocks)), source: None }
    }

    /// Uses slabs that are allocated one by one from `source`.
    pub(crate) const fn in_slabs(source: &'m dyn MemorySource) -> Self {
        Self { blocks: Cell::new(None), source: Some(source) }
    }

    /// Returns the blocks, or `None` if there is no slab yet.
    #[inline]
    pub(crate) fn get(&self) -> Option<&Blocks<'m>> {
        // SAFETY: they exist there until `self` is dropped. Only `reset` accesses them exclusively,
        // and it borrows `self` mutably.
        self.blocks.get().map(|blocks| unsafe { blocks.as_ref() })
    }

    /// Allocates the first slab and creates the blocks in it.
    #[cold]
    #[inline(never)]
    pub(crate) fn create(&self, layout: Layout, slab_bytes: usize) -> Result<&Blocks<'m>, Error> {
        if let Some(source) = self.source {
            let blocks = Blocks::in_slabs(layout, Head::Pool, slab_bytes, source);
            blocks.unopened.set(blocks.allocate_slab());
            self.blocks.set(move_into_first_slab(blocks));
        }
        self.get().ok_or(Error::full(block_layout(layout).size()))
    }

    /// Frees all blocks at once and keeps the memory.
    pub(crate) fn reset(&mut self) {
        if let Some(mut blocks) = self.blocks.get() {
            // SAFETY: `self` is borrowed exclusively, and nothing else refers to its blocks.
            unsafe { blocks.as_mut() }.reset();
        }
    }
}

/// Moves the struct into its first slab, if it has one.
fn move_into_first_slab(blocks: Blocks<'_>) -> Option<NonNull<Blocks<'static>>> {
    let first = NonNull::new(blocks.slabs.get())?;
    // SAFETY: the shape reserves space for the pool behind each header.
    let pool = unsafe { first.add(1) }.cast::<Blocks<'_>>();
    for slab in blocks.slabs() {
        // SAFETY: it is one of the slabs.
        unsafe { slab.as_ref() }.pool.set(pool.as_ptr().cast());
    }
    blocks.own_address.set(pool.as_ptr().cast());
    // SAFETY: nothing else uses that space, and it is aligned like the header.
    unsafe { pool.write(blocks) }
    Some(pool.cast())
}

impl Drop for InPlaceBlocks<'_> {
    fn drop(&mut self) {
        if let Some(blocks) = self.blocks.get() {
            // SAFETY: they are moved out once, before their slab is freed with them.
            drop::<Blocks<'_>>(unsafe { blocks.read() });
        }
    }
}

impl Blocks<'_> {
    /// Returns the pool that a block belongs to.
    ///
    /// # Safety
    /// - `block` is a block of a pool that is stored in its first slab, and `mask` is that of the
    ///   pool's shape.
    /// - The pool lives for `'p`.
    #[inline]
    pub(crate) unsafe fn of<'p>(block: NonNull<u8>, mask: usize) -> &'p Blocks<'p> {
        let slab: *mut Slab = block.as_ptr().map_addr(|address| address & mask).cast();
        // SAFETY: the block's header is there, and it points to the pool, guaranteed by the caller.
        unsafe { &*(*slab).pool.get() }
    }

    /// Whether the pool itself is stored in a slab.
    pub(super) fn is_stored_in(&self, slab: *mut Slab) -> bool {
        let pool = self.own_address.get();
        !pool.is_null() && slab.wrapping_add(1).addr() == pool.addr()
    }
}

// SAFETY: moving the value to another thread moves its blocks too: they are memory that it owns,
// and boxes that still exist prevent the move.
unsafe impl Send for InPlaceBlocks<'_> {}
