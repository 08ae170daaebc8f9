use core::alloc::Layout;

use super::slab::{Marks, Slab};
use super::{Blocks, Link};
use crate::Region;

/// Default size of a slab. All headers map to the same cache sets, so many small slabs evict each
/// other (a pool with slabs of one page is half as fast). Only the used part of a large slab costs
/// memory, but a large slab leaves more of a region unused and is rarely empty.
pub(crate) const SLAB_BYTES: usize = 1 << 20;
/// Minimum size of a slab.
pub(crate) const MIN_SLAB_BYTES: usize = 1 << 12;
/// Minimum number of blocks of a slab. Its size is doubled until it holds them.
const MIN_BLOCKS: usize = 8;
/// Size of a cache line. A block whose size is a multiple or a divisor of it is aligned so that it
/// never crosses a line unnecessarily.
const LINE_BYTES: usize = 64;

/// Data behind the header of each slab.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Head {
    /// One bit per block.
    Marks,
    /// Space for the pool itself, which is stored in its first slab.
    Pool,
}

/// Layout of a slab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Size of the whole slab. For slabs of a source, a power of two.
    pub(super) slab_bytes: usize,
    /// Offset of the first block from the header.
    pub(super) first: usize,
    /// Number of blocks in a slab; 0 if a slab would exceed the address space.
    pub(super) block_count: usize,
    /// Size of the marks; 0 if there are none.
    pub(super) mark_bytes: usize,
    /// Address of a block's header: the block's own address AND `mask`, OR `base`.
    pub(super) mask: usize,
    pub(super) base: usize,
}

/// Returns the layout of a block that holds a value of `layout` or a link, rounded up so that
/// blocks can follow each other.
pub(crate) const fn block_layout(layout: Layout) -> Layout {
    let link = Layout::new::<Link>();
    let align = if layout.align() > link.align() { layout.align() } else { link.align() };
    let size = if layout.size() > link.size() { layout.size() } else { link.size() };
    let stride = size.next_multiple_of(align);
    // A size that does not divide a line is aligned to its largest power of two that does.
    let part = stride & stride.wrapping_neg();
    let part = if part > LINE_BYTES { LINE_BYTES } else { part };
    match Layout::from_size_align(stride, if part > align { part } else { align }) {
        Ok(block) => block,
        // The size was valid before it was rounded up to the alignment, and still is, unless the
        // layout was at the limit of all sizes.
        Err(_) => layout,
    }
}

impl Shape {
    const NONE: Self =
        Self { slab_bytes: 0, first: 0, block_count: 0, mark_bytes: 0, mask: 0, base: 0 };

    /// Creates the shape of slabs of at least `slab_bytes`, rounded up to a power of two. They are
    /// aligned to their size, so a block's address yields the address of its slab's header.
    pub(crate) const fn in_slabs(block: Layout, head: Head, slab_bytes: usize) -> Self {
        let min = if slab_bytes > MIN_SLAB_BYTES { slab_bytes } else { MIN_SLAB_BYTES };
        let mut next = min.checked_next_power_of_two();
        while let Some(bytes) = next {
            if bytes > isize::MAX as usize {
                break;
            }
            let shape = Self::at(0, block, head, bytes);
            if shape.block_count >= MIN_BLOCKS {
                return Self { mask: !(bytes - 1), ..shape };
            }
            next = bytes.checked_mul(2);
        }
        Self::NONE
    }

    /// Creates the shape of one slab that takes up a whole region.
    pub(crate) fn in_region(block: Layout, head: Head, region: &Region<'_>) -> Self {
        let start = region.start().addr().get();
        let base = start.next_multiple_of(align_of::<Slab>());
        match region.size_bytes().checked_sub(base - start) {
            Some(bytes) => Self { base, ..Self::at(base, block, head, bytes) },
            None => Self::NONE,
        }
    }

    /// Creates the shape of a slab of `bytes` at `address`. 0 means a multiple of every alignment.
    const fn at(address: usize, block: Layout, head: Head, bytes: usize) -> Self {
        let (head_bytes, mark_bytes) = match head {
            Head::Marks => (size_of::<Slab>(), Marks::size_bytes(bytes, block.size())),
            Head::Pool => (size_of::<Slab>() + size_of::<Blocks<'_>>(), 0),
        };
        let behind = address.saturating_add(head_bytes).saturating_add(mark_bytes);
        let Some(first) = behind.checked_next_multiple_of(block.align()) else {
            return Self::NONE;
        };
        let first = first - address;
        let block_count = bytes.saturating_sub(first) / block.size();
        Self { slab_bytes: bytes, first, block_count, mark_bytes, mask: 0, base: 0 }
    }

    /// Returns the mask of a block's address that yields its header. Not for a slab in a region.
    #[inline]
    pub(crate) const fn mask(&self) -> usize {
        self.mask
    }
}
