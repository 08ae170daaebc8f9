use core::cell::Cell;
use core::ptr;

use super::Blocks;
use super::shape::Shape;

/// The header of a slab. Right behind it lie marks, or the pool itself, then blocks.
pub(in crate::memory) struct Slab {
    pub(super) next: Cell<*mut Slab>,
    /// How many of the blocks are free: only counted while looking for empty slabs.
    pub(super) free_count: Cell<usize>,
    /// Where the pool lives, if it lives in its first slab.
    pub(super) home: Cell<*mut Blocks<'static>>,
}

impl Slab {
    /// Makes a header and no marks.
    ///
    /// # Safety
    /// - `slab` is aligned to a header and valid for writes of header and marks.
    /// - Nothing else uses that memory.
    pub(super) unsafe fn init(slab: *mut Self, shape: &Shape) {
        let (next, home) = (Cell::new(ptr::null_mut()), Cell::new(ptr::null_mut()));
        // SAFETY: the caller gives room for both.
        unsafe {
            slab.write(Self { next, free_count: Cell::new(0), home });
            Self::clear_marks(slab, shape);
        }
    }

    /// Takes every mark away.
    ///
    /// # Safety
    /// - `slab` is a slab of that shape.
    pub(super) unsafe fn clear_marks(slab: *mut Self, shape: &Shape) {
        // SAFETY: the marks lie behind the header, and any bytes are marks.
        unsafe { slab.add(1).cast::<u8>().write_bytes(0, shape.mark_bytes) }
    }
}

/// One bit a block: whether it is in use.
///
/// A block's bit is found by a shift: blocks lie further apart than the largest power of
/// two in their size, so that no two have the same number of such powers before them. For
/// sizes that are no power of two, up to every second bit serves no block.
#[derive(Clone, Copy, Debug)]
pub(in crate::memory) struct Marks {
    shift: u32,
}

/// One word of marks.
type Word = usize;

impl Marks {
    /// The marks of blocks of `block_bytes`.
    pub(in crate::memory) const fn new(block_bytes: usize) -> Self {
        Self { shift: block_bytes.ilog2() }
    }

    /// Bytes of the marks of a slab.
    pub(super) const fn size_bytes(slab_bytes: usize, block_bytes: usize) -> usize {
        let bits = (slab_bytes >> Self::new(block_bytes).shift) + 1;
        bits.div_ceil(Word::BITS as usize) * size_of::<Word>()
    }

    /// The word that holds the mark of the block at `offset_bytes`, and the mark's bit.
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
    pub(in crate::memory) unsafe fn set(self, slab: *mut Slab, offset_bytes: usize) {
        // SAFETY: the caller's promise; the words were made with the slab.
        unsafe {
            let (word, bit) = self.find(slab, offset_bytes);
            *word |= bit;
        }
    }

    /// Takes the mark away; `false` if there was none.
    ///
    /// # Safety
    /// - `slab` is a slab with marks of this size, and longer than `offset_bytes`.
    #[inline]
    pub(in crate::memory) unsafe fn clear(self, slab: *mut Slab, offset_bytes: usize) -> bool {
        // SAFETY: the caller's promise; the words were made with the slab.
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
        // SAFETY: the caller's promise; the words were made with the slab.
        unsafe {
            let (word, bit) = self.find(slab, offset_bytes);
            *word & bit != 0
        }
    }

    /// How many blocks of a slab are marked.
    ///
    /// # Safety
    /// - `slab` is a slab of that shape.
    pub(super) unsafe fn count(slab: *mut Slab, shape: &Shape) -> usize {
        let words = slab.wrapping_add(1).cast::<Word>();
        let count = shape.mark_bytes / size_of::<Word>();
        // SAFETY: that many words lie behind the header, made with the slab.
        (0..count).map(|i| unsafe { words.add(i).read() }.count_ones() as usize).sum()
    }
}
