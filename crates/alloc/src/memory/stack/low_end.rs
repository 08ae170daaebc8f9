use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use super::{FREED, TAGS, WORD_BYTES, full, nowhere, poison, round_up};
use crate::Error;

/// In the footer of a block that does not begin where the block before it ends. The word in
/// front of the block then says where that is.
const PADDED: usize = 2;

/// What stands in front of the first block, as if it were a footer: the address of none.
pub(super) const NO_BLOCK: *mut u8 = core::ptr::null_mut();

/// Blocks on top of each other from low addresses to high ones.
///
/// ```text
///  start                                          next
///  [0][bbbb│f][bb│f]······[p][bbbbbbbbbbb│f]|.... free ....
///      ▲────┘  ▲──┘         │ ▲───────────┘
///                  ▲────────┘
/// ```
/// Behind every block stands its footer, one word: where the block begins, which is also
/// where the one before it ends. So whether a block is the top is one comparison, and where
/// the free memory begins is all there is to keep. The lowest bits of a footer are tags.
///
/// The chain of footers is safe from callers who free what is not theirs: what they pass is
/// only compared.
pub(in super::super) struct LowEnd {
    /// Behind the last footer, or behind `NO_BLOCK`.
    next: Cell<NonNull<u8>>,
    start: NonNull<u8>,
}

impl LowEnd {
    /// # Safety
    /// - `start` is a multiple of a word, and a word or more lies between it and any `end`
    ///   that `push` and `resize` are given. The bytes between are one allocation, valid for
    ///   reads and writes, and nobody else's as long as there are blocks. Or `start` is
    ///   `nowhere()`, and `end` a word behind that.
    pub(in super::super) unsafe fn new(start: NonNull<u8>) -> Self {
        let first = start.cast::<*mut u8>();
        if start != nowhere() {
            // SAFETY: there is at least a word.
            unsafe { first.write(NO_BLOCK) }
        }
        // SAFETY: it is one past a word.
        let start = unsafe { first.add(1).cast() };
        Self { next: Cell::new(start), start }
    }

    /// A block that ends before `end`.
    #[inline]
    pub(in super::super) fn push(
        &self,
        layout: Layout,
        end: NonNull<u8>,
    ) -> Result<NonNull<u8>, Error> {
        if layout.align() > WORD_BYTES {
            return self.push_aligned(layout, end);
        }
        let next = self.next.get();
        let Some(size_bytes) = fits(next, 0, layout, end) else {
            return Err(full(layout.size(), next, end));
        };
        // SAFETY: block and footer lie between `next` and `end`.
        Ok(unsafe { self.put(next, 0, size_bytes) })
    }

    /// Takes the top back, and those below it that were freed before their turn.
    #[inline]
    pub(in super::super) fn pop(&self, block: NonNull<u8>) -> Result<(), Error> {
        // SAFETY: there is always a word in front of `next`.
        let footer = unsafe { footer_before(self.next.get()).read() };
        if footer != block.as_ptr() {
            return self.pop_padded(block);
        }
        // The caller's address, which is known by now, but not its right to use it: so the
        // next call does not wait for the footer.
        let below = self.start.with_addr(block.addr());
        poison(below, self.next.get());
        self.next.set(below);
        // SAFETY: as above.
        if unsafe { footer_before(below).read() }.addr() & FREED != 0 {
            self.pop_freed();
        }
        Ok(())
    }

    /// Takes the block back, now or when those on top of it have gone.
    ///
    /// # Safety
    /// - It is a block of this end with this layout, and was not freed before.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(in super::super) unsafe fn free(&self, block: NonNull<u8>, layout: Layout) {
        if !self.is_top(block) || self.pop(block).is_err() {
            // SAFETY: the footer stands behind the block.
            unsafe {
                let footer = block.add(round_up(layout.size())).cast::<*mut u8>();
                footer.write(tagged(footer.read(), FREED));
            }
        }
    }

    /// The top as a block of another layout, with its content: in place unless it has to be
    /// aligned anew.
    pub(in super::super) fn resize(
        &self,
        block: NonNull<u8>,
        layout: Layout,
        end: NonNull<u8>,
    ) -> Result<NonNull<u8>, Error> {
        let Some(top) = self.blocks().next().filter(|top| top.start == block) else {
            return Err(self.why_not(block));
        };
        let below = top.below;
        let padding = padding(below, layout);
        let Some(size_bytes) = fits(below, padding, layout, end) else {
            return Err(full(layout.size(), self.next.get(), end));
        };
        let kept = (top.end.addr().get() - top.start.addr().get()).min(layout.size());
        // SAFETY: block and footer lie between `below` and `end`. The content goes there
        // before the footer is written, which stands behind it.
        unsafe {
            below.add(padding).copy_from(top.start, kept);
            Ok(self.put(below, padding, size_bytes))
        }
    }

    /// Makes a block smaller that is not the top: the rest becomes a block that was freed.
    ///
    /// # Safety
    /// - `block` is one of this end, not the top, with the layout `old`, and was not freed.
    ///   The new size is not larger.
    #[cfg(feature = "allocator-api2")]
    pub(in super::super) unsafe fn shrink(&self, block: NonNull<u8>, old: Layout, size: usize) {
        let (old_bytes, size_bytes) = (round_up(old.size()), round_up(size));
        if size_bytes == old_bytes {
            return;
        }
        // SAFETY: both lie in the block or behind it. There is room for a footer, because
        // all sizes are multiples of one.
        unsafe {
            let (new_end, old_end) = (block.add(size_bytes), block.add(old_bytes));
            let footer = old_end.cast::<*mut u8>();
            new_end.cast::<*mut u8>().write(footer.read());
            footer.write(tagged(new_end.add(WORD_BYTES).as_ptr(), FREED));
        }
    }

    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(in super::super) fn is_top(&self, block: NonNull<u8>) -> bool {
        // SAFETY: there is always a word in front of `next`.
        let footer = unsafe { footer_before(self.next.get()).read() };
        untagged(footer) == block.as_ptr()
    }

    /// Where the free memory begins.
    #[inline]
    pub(in super::super) const fn next(&self) -> NonNull<u8> {
        self.next.get()
    }

    /// Bytes of blocks, footers and padding.
    pub(in super::super) fn used(&self) -> usize {
        self.next.get().addr().get() - self.start.addr().get()
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.next.get() == self.start
    }

    /// Takes all blocks back.
    pub(in super::super) fn reset(&mut self) {
        poison(self.start, self.next.get());
        self.next.set(self.start);
    }

    /// Whether it is a block that was not freed.
    pub(in super::super) fn contains(&self, block: NonNull<u8>) -> bool {
        self.blocks().any(|live| live.start == block && !live.is_freed)
    }

    /// Walks all blocks and says what is wrong with them.
    pub(in super::super) fn check(&self) -> Result<(), &'static str> {
        let mut lowest = self.next.get();
        for block in self.blocks() {
            let in_order = block.below <= block.start && block.start <= block.end;
            if !in_order || block.below < self.start || block.end >= lowest {
                return Err("blocks of the low end lie across each other");
            }
            lowest = block.below;
        }
        if lowest != self.start {
            return Err("the first block of the low end is not at the start");
        }
        match self.blocks().next().is_some_and(|top| top.is_freed) {
            true => Err("the top of the low end was freed and is still there"),
            false => Ok(()),
        }
    }

    /// Writes what belongs to a new top behind `below`, and returns the block.
    ///
    /// # Safety
    /// - Padding, block and footer are free memory, which begins at `below`; the sizes are
    ///   multiples of a word.
    #[inline]
    unsafe fn put(&self, below: NonNull<u8>, padding: usize, size_bytes: usize) -> NonNull<u8> {
        // SAFETY: as the caller says.
        unsafe {
            let block = below.add(padding);
            let mut footer = block.as_ptr();
            if padding != 0 {
                footer_before(block).write(below.as_ptr());
                footer = tagged(footer, PADDED);
            }
            let end = block.add(size_bytes);
            end.cast::<*mut u8>().write(footer);
            self.next.set(end.add(WORD_BYTES));
            block
        }
    }

    #[inline(never)]
    fn push_aligned(&self, layout: Layout, end: NonNull<u8>) -> Result<NonNull<u8>, Error> {
        let next = self.next.get();
        let padding = padding(next, layout);
        let Some(size_bytes) = fits(next, padding, layout, end) else {
            return Err(full(layout.size(), next, end));
        };
        // SAFETY: padding, block and footer lie between `next` and `end`.
        Ok(unsafe { self.put(next, padding, size_bytes) })
    }

    /// The block is not the top, or has padding in front.
    #[inline(never)]
    fn pop_padded(&self, block: NonNull<u8>) -> Result<(), Error> {
        match self.blocks().next() {
            Some(top) if top.start == block => {
                poison(top.below, self.next.get());
                self.next.set(top.below);
                self.pop_freed();
                Ok(())
            }
            _ => Err(self.why_not(block)),
        }
    }

    /// Takes the top off as long as it was freed.
    #[cold]
    fn pop_freed(&self) {
        while let Some(top) = self.blocks().next().filter(|top| top.is_freed) {
            poison(top.below, self.next.get());
            self.next.set(top.below);
        }
    }

    /// All blocks from the top down.
    fn blocks(&self) -> impl Iterator<Item = Block> {
        let mut next = self.next.get();
        core::iter::from_fn(move || {
            // SAFETY: there is always a word in front of `next`; and if it is a footer, the
            // block and what is in front of it are as it says.
            unsafe {
                let footer = footer_before(next).read();
                let start = NonNull::new(untagged(footer))?;
                let end = next.sub(WORD_BYTES);
                next = match footer.addr() & PADDED {
                    0 => start,
                    _ => NonNull::new(footer_before(start).read())?,
                };
                Some(Block { below: next, start, end, is_freed: footer.addr() & FREED != 0 })
            }
        })
    }

    #[cold]
    #[inline(never)]
    fn why_not(&self, block: NonNull<u8>) -> Error {
        if self.contains(block) { Error::OutOfOrder } else { Error::NotAllocated }
    }
}

/// A block as its footer describes it.
struct Block {
    /// Where the free memory begins without it.
    below: NonNull<u8>,
    start: NonNull<u8>,
    /// Where its footer stands.
    end: NonNull<u8>,
    is_freed: bool,
}

/// Bytes between `next` and where a block of this layout may begin.
#[inline]
fn padding(next: NonNull<u8>, layout: Layout) -> usize {
    next.addr().get().wrapping_neg() & (layout.align().max(WORD_BYTES) - 1)
}

/// The size of a block of this layout, in whole words, if it begins `padding` bytes behind
/// `next` and has room there for itself and a footer.
#[inline]
fn fits(next: NonNull<u8>, padding: usize, layout: Layout, end: NonNull<u8>) -> Option<usize> {
    let size_bytes = round_up(layout.size());
    let behind = next.addr().get().wrapping_add(padding).wrapping_add(size_bytes);
    // Negative where the block goes past the end; a layout, with padding for its alignment,
    // fits into isize.
    let room = end.addr().get().wrapping_sub(behind) as isize;
    (room >= WORD_BYTES as isize).then_some(size_bytes)
}

/// The word in front of an address.
///
/// # Safety
/// - There is a word in front, of the same allocation.
#[inline]
const unsafe fn footer_before(next: NonNull<u8>) -> NonNull<*mut u8> {
    // SAFETY: as the caller says.
    unsafe { next.cast::<*mut u8>().sub(1) }
}

#[inline]
fn tagged(footer: *mut u8, tag: usize) -> *mut u8 {
    footer.map_addr(|address| address | tag)
}

#[inline]
fn untagged(footer: *mut u8) -> *mut u8 {
    footer.map_addr(|address| address & !TAGS)
}
