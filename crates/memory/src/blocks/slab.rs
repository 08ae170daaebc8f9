use core::cell::Cell;
use core::ptr;

use super::Blocks;
use super::shape::Shape;

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
