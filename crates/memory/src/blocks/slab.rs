use core::alloc::Layout;
use core::cell::Cell;
use core::ptr;

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

/// Header of a slab. Marks or the pool itself follow directly, then blocks.
pub(crate) struct Slab {
    pub(super) next: Cell<*mut Slab>,
    /// Number of free blocks. Only valid during a search for empty slabs.
    pub(super) free_count: Cell<usize>,
    /// Address of the pool, if it is stored in its first slab.
    pub(super) pool: Cell<*mut Blocks<'static>>,
}

impl Slab {
    /// Writes a header and clears the marks.
    ///
    /// # Safety
    /// - `slab` is aligned to a header and valid for writes of header and marks.
    /// - Nothing else uses that memory.
    pub(super) unsafe fn init(slab: *mut Self, shape: &Shape) {
        let (next, pool) = (Cell::new(ptr::null_mut()), Cell::new(ptr::null_mut()));
        // SAFETY: the caller guarantees space for both.
        unsafe {
            slab.write(Self { next, free_count: Cell::new(0), pool });
            Self::clear_marks(slab, shape);
        }
    }

    /// Clears all marks.
    ///
    /// # Safety
    /// - `slab` is a slab of this shape.
    pub(super) unsafe fn clear_marks(slab: *mut Self, shape: &Shape) {
        // SAFETY: the marks are behind the header, and all bit patterns are valid marks.
        unsafe { slab.add(1).cast::<u8>().write_bytes(0, shape.mark_bytes) }
    }
}

/// One bit per block, set while the block is in use.
///
/// A shift finds the bit of a block. The distance of two blocks is at least the largest power of
/// two not above the block size, so no two blocks share a bit. For a size that is no power of two,
/// up to every second bit is unused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    shift: u32,
}

/// Word of marks.
type Word = usize;

impl Marks {
    /// Creates the marks of blocks of `block_bytes`.
    pub(crate) const fn new(block_bytes: usize) -> Self {
        Self { shift: block_bytes.ilog2() }
    }

    /// Returns the size of the marks of a slab, in bytes.
    pub(super) const fn size_bytes(slab_bytes: usize, block_bytes: usize) -> usize {
        let bits = (slab_bytes >> Self::new(block_bytes).shift) + 1;
        bits.div_ceil(Word::BITS as usize) * size_of::<Word>()
    }

    /// Returns the word that holds the mark of the block at `offset_bytes`, and the mark's bit.
    ///
    /// # Safety
    /// - `slab` is a slab with marks of this size, and longer than `offset_bytes`.
    #[inline]
    unsafe fn find(self, slab: *mut Slab, offset_bytes: usize) -> (*mut Word, Word) {
        let index = offset_bytes >> self.shift;
        let bit = 1 << (index % Word::BITS as usize);
        // SAFETY: there is a word for every offset in the slab.
        (unsafe { slab.add(1).cast::<Word>().add(index / Word::BITS as usize) }, bit)
    }

    /// Marks the block at `offset_bytes` as used.
    ///
    /// # Safety
    /// - `slab` is a slab with marks of this size, and longer than `offset_bytes`.
    #[inline]
    pub(crate) unsafe fn set(self, slab: *mut Slab, offset_bytes: usize) {
        // SAFETY: guaranteed by the caller; the words were initialized with the slab.
        unsafe {
            let (word, bit) = self.find(slab, offset_bytes);
            *word |= bit;
        }
    }

    /// Clears a mark. Returns `false` if it was not set.
    ///
    /// # Safety
    /// - `slab` is a slab with marks of this size, and longer than `offset_bytes`.
    #[inline]
    pub(crate) unsafe fn clear(self, slab: *mut Slab, offset_bytes: usize) -> bool {
        // SAFETY: guaranteed by the caller; the words were initialized with the slab.
        unsafe {
            let (word, bit) = self.find(slab, offset_bytes);
            let was_set = *word & bit != 0;
            *word &= !bit;
            was_set
        }
    }
    /// Whether the block at `offset_bytes` is marked.
    ///
    /// # Safety
    /// - `slab` is a slab with marks of this size, and longer than `offset_bytes`.
    pub(super) unsafe fn is_set(self, slab: *mut Slab, offset_bytes: usize) -> bool {
        // SAFETY: guaranteed by the caller; the words were initialized with the slab.
        unsafe {
            let (word, bit) = self.find(slab, offset_bytes);
            *word & bit != 0
        }
    }

    /// Number of marked blocks of a slab.
    ///
    /// # Safety
    /// - `slab` is a slab of this shape.
    pub(super) unsafe fn count(slab: *mut Slab, shape: &Shape) -> usize {
        let words = slab.wrapping_add(1).cast::<Word>();
        let count = shape.mark_bytes / size_of::<Word>();
        // SAFETY: this number of words is behind the header, initialized with the slab.
        (0..count).map(|i| unsafe { words.add(i).read() }.count_ones() as usize).sum()
    }
}
