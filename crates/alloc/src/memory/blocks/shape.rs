use core::alloc::Layout;

use super::slab::{Marks, Slab};
use super::{Blocks, Link};
use crate::memory::Region;

/// Bytes of a slab unless the caller says otherwise. All headers lie at the same place of a
/// cache, so that many small slabs get in each other's way (with pages as slabs a pool is
/// half as fast). Of a large slab only what is used costs memory; but it leaves more of a
/// region unused, and is seldom empty.
pub(in crate::memory) const SLAB_BYTES: usize = 1 << 20;
/// The smallest slab.
pub(in crate::memory) const LEAST_SLAB_BYTES: usize = 1 << 12;
/// A slab is made larger until it has room for as many blocks.
const LEAST_BLOCKS: usize = 8;
/// Bytes of a cache line. Blocks that are a multiple or an even part of a line begin where
/// they straddle none.
const LINE_BYTES: usize = 64;

/// What lies behind the header of each slab.
#[derive(Clone, Copy, Debug)]
pub(in crate::memory) enum Head {
    /// One bit a block.
    Marks,
    /// Room for the pool itself, which lives in its first slab.
    Home,
}

/// How a slab is divided.
#[derive(Clone, Copy, Debug)]
pub(in crate::memory) struct Shape {
    /// All of a slab; of a source's, a power of two.
    pub(super) slab_bytes: usize,
    /// From the header to the first block.
    pub(super) first: usize,
    /// Blocks in a slab; 0 where one would have to be larger than any memory.
    pub(super) block_count: usize,
    /// Bytes of the marks; 0 where there are none.
    pub(super) mark_bytes: usize,
    /// A block's header lies at its own address, with the bits of `mask`, and of `base`.
    pub(super) mask: usize,
    pub(super) base: usize,
}

/// A block that can hold what `layout` says, or a link, one behind the other.
pub(in crate::memory) const fn block_layout(layout: Layout) -> Layout {
    let link = Layout::new::<Link>();
    let align = if layout.align() > link.align() { layout.align() } else { link.align() };
    let size = if layout.size() > link.size() { layout.size() } else { link.size() };
    let stride = size.next_multiple_of(align);
    // What does not divide a line keeps to the part of one that it divides.
    let part = stride & stride.wrapping_neg();
    let part = if part > LINE_BYTES { LINE_BYTES } else { part };
    match Layout::from_size_align(stride, if part > align { part } else { align }) {
        Ok(block) => block,
        // The size was one before it was made a multiple of the alignment, and is one still
        // unless the layout was at the very end of all sizes.
        Err(_) => layout,
    }
}

impl Shape {
    const NONE: Self =
        Self { slab_bytes: 0, first: 0, block_count: 0, mark_bytes: 0, mask: 0, base: 0 };

    /// Slabs of at least `slab_bytes`, a power of two, which lie at multiples of their
    /// size: so a block's address tells where its slab's header is.
    pub(in crate::memory) const fn in_slabs(block: Layout, head: Head, slab_bytes: usize) -> Self {
        let wish = if slab_bytes > LEAST_SLAB_BYTES { slab_bytes } else { LEAST_SLAB_BYTES };
        let mut next = wish.checked_next_power_of_two();
        while let Some(bytes) = next {
            if bytes > isize::MAX as usize {
                break;
            }
            let shape = Self::at(0, block, head, bytes);
            if shape.block_count >= LEAST_BLOCKS {
                return Self { mask: !(bytes - 1), ..shape };
            }
            next = bytes.checked_mul(2);
        }
        Self::NONE
    }

    /// One slab that takes up all of a region.
    pub(in crate::memory) fn in_region(block: Layout, head: Head, region: &Region<'_>) -> Self {
        let start = region.start().addr().get();
        let base = start.next_multiple_of(align_of::<Slab>());
        match region.size_bytes().checked_sub(base - start) {
            Some(bytes) => Self { base, ..Self::at(base, block, head, bytes) },
            None => Self::NONE,
        }
    }

    /// A slab of `bytes` at `address`, or at a multiple of every alignment where that is 0.
    const fn at(address: usize, block: Layout, head: Head, bytes: usize) -> Self {
        let (head_bytes, mark_bytes) = match head {
            Head::Marks => (size_of::<Slab>(), Marks::size_bytes(bytes, block.size())),
            Head::Home => (size_of::<Slab>() + size_of::<Blocks<'_>>(), 0),
        };
        let behind = address.saturating_add(head_bytes).saturating_add(mark_bytes);
        let Some(first) = behind.checked_next_multiple_of(block.align()) else {
            return Self::NONE;
        };
        let first = first - address;
        let block_count = bytes.saturating_sub(first) / block.size();
        Self { slab_bytes: bytes, first, block_count, mark_bytes, mask: 0, base: 0 }
    }

    /// The bits of a block's address that are its header's. Not for a slab in a region.
    #[inline]
    pub(in crate::memory) const fn mask(&self) -> usize {
        self.mask
    }
}
