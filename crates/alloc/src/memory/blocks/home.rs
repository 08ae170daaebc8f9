use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use super::{Blocks, Head, Memory, Shape, Slab, block_layout};
use crate::Error;
use crate::memory::{MemorySource, Region};

/// Blocks that live in their own first slab, where they do not move, so that the address
/// of a block is enough to give it back.
///
/// ```text
///  slab [ header | Blocks | [·] [x] [x] … ]     slab [ header |        | [x] [x] [·] … ]
///             └─────►▲                                    │
///                    └────────────── home ────────────────┘
/// ```
pub(in crate::memory) struct Home<'m> {
    /// For `'m`, which a cell must not say, for it could not be shortened then.
    blocks: Cell<Option<NonNull<Blocks<'static>>>>,
    /// Whom to ask for the first slab.
    source: Option<&'m dyn MemorySource>,
}

impl<'m> Home<'m> {
    /// The slabs that lie in `region` at multiples of their size.
    pub(in crate::memory) fn in_region(
        layout: Layout,
        slab_bytes: usize,
        region: Region<'m>,
    ) -> Self {
        let block = block_layout(layout);
        let shape = Shape::in_slabs(block, Head::Home, slab_bytes);
        let (start, size) = (region.start().as_ptr(), region.size_bytes());
        let blocks = Blocks::new(block, shape, Memory::Region(region));
        if shape.block_count > 0 {
            let bytes = shape.slab_bytes;
            let end = start.addr().saturating_add(size);
            let mut next = start.addr().checked_next_multiple_of(bytes);
            while let Some(at) = next
                && at.checked_add(bytes).is_some_and(|slab_end| slab_end <= end)
            {
                // SAFETY: that much of the region, which is ours alone, lies there.
                unsafe { blocks.add_slab(start.with_addr(at).cast()) }
                next = at.checked_add(bytes);
            }
            blocks.unopened.set(blocks.slabs.get());
        }
        Self { blocks: Cell::new(settle(blocks)), source: None }
    }

    /// Slabs that are asked of `source` one by one.
    pub(in crate::memory) const fn in_slabs(source: &'m dyn MemorySource) -> Self {
        Self { blocks: Cell::new(None), source: Some(source) }
    }

    /// The blocks, if they have found a home.
    #[inline]
    pub(in crate::memory) fn blocks(&self) -> Option<&Blocks<'m>> {
        // SAFETY: they live there until the home is dropped. Only `reset` has them for
        // itself, and it borrows the home for that.
        self.blocks.get().map(|blocks| unsafe { blocks.as_ref() })
    }

    /// Asks for the first slab.
    #[cold]
    #[inline(never)]
    pub(in crate::memory) fn found(
        &self,
        layout: Layout,
        slab_bytes: usize,
    ) -> Result<&Blocks<'m>, Error> {
        if let Some(source) = self.source {
            let blocks = Blocks::in_slabs(layout, Head::Home, slab_bytes, source);
            blocks.unopened.set(blocks.ask_for_slab());
            self.blocks.set(settle(blocks));
        }
        let requested = block_layout(layout).size() as u64;
        self.blocks().ok_or(Error::Full { requested, largest_free: 0, total_free: 0 })
    }

    /// Takes every block back at once and keeps the memory.
    pub(in crate::memory) fn reset(&mut self) {
        if let Some(mut blocks) = self.blocks.get() {
            // SAFETY: the home is borrowed for us alone, and nobody else holds its blocks.
            unsafe { blocks.as_mut() }.reset();
        }
    }
}

/// Moves blocks into their first slab, if they have one.
fn settle(blocks: Blocks<'_>) -> Option<NonNull<Blocks<'static>>> {
    let first = NonNull::new(blocks.slabs.get())?;
    // SAFETY: the shape leaves room for the pool behind each header.
    let home = unsafe { first.add(1) }.cast::<Blocks<'_>>();
    for slab in blocks.slabs() {
        // SAFETY: it is one of the slabs.
        unsafe { slab.as_ref() }.home.set(home.as_ptr().cast());
    }
    blocks.home.set(home.as_ptr().cast());
    // SAFETY: that room is used by nothing else, and aligned as the header is.
    unsafe { home.write(blocks) }
    Some(home.cast())
}

impl Drop for Home<'_> {
    fn drop(&mut self) {
        if let Some(blocks) = self.blocks.get() {
            // SAFETY: they are moved out once, before their slab goes with them.
            drop::<Blocks<'_>>(unsafe { blocks.read() });
        }
    }
}

impl Blocks<'_> {
    /// The pool that a block belongs to.
    ///
    /// # Safety
    /// - `block` is a block of a pool that lives in its first slab, and `mask` that of the
    ///   pool's shape.
    /// - The pool lives for `'p`.
    #[inline]
    pub(in crate::memory) unsafe fn of<'p>(block: NonNull<u8>, mask: usize) -> &'p Blocks<'p> {
        let slab: *mut Slab = block.as_ptr().map_addr(|address| address & mask).cast();
        // SAFETY: there lies the block's header, and there the pool, as the caller says.
        unsafe { &*(*slab).home.get() }
    }

    /// Whether the pool itself lives in a slab.
    pub(super) fn lives_in(&self, slab: *mut Slab) -> bool {
        let home = self.home.get();
        !home.is_null() && slab.wrapping_add(1).addr() == home.addr()
    }
}

// SAFETY: who moves a home to another thread takes the blocks along: they are memory that
// is owned, and boxes that are still alive keep it from being moved.
unsafe impl Send for Home<'_> {}
