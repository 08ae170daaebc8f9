use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use super::{FREED, TAGS, WORD_BYTES, empty_stack, poison, round_up};
use crate::Error;

/// Tag in the footer of a block that does not begin at the end of the previous one. The word in
/// front of the block then stores that end.
const PADDED: usize = 2;

/// Word in front of the first block, in place of a footer: the address of no block.
pub(super) const NO_BLOCK: *mut u8 = core::ptr::null_mut();

/// Stack of blocks that grows from low addresses to high ones.
///
/// ```text
///  start                                          next
///  [0][bbbb│f][bb│f]······[p][bbbbbbbbbbb│f]|.... free ....
///      ▲────┘  ▲──┘         │ ▲───────────┘
///                  ▲────────┘
/// ```
/// Each block is followed by its footer, one word: the address where the block begins, which is
/// also the end of the previous block. The test for the top block is therefore one comparison, and
/// the only state is the start of the free memory. The lowest bits of a footer are tags.
///
/// Invalid pointers from callers cannot damage the chain of footers: they are only compared.
pub(super) struct LowEnd {
    /// End of the last footer, or of `NO_BLOCK`.
    next: Cell<NonNull<u8>>,
    start: NonNull<u8>,
}

impl LowEnd {
    /// # Safety
    /// - `start` is a multiple of a word, and at least one word is between it and any `end` passed
    ///   to `push` and `resize`. The bytes between are one allocation, valid for reads and writes,
    ///   and nothing else uses them as long as there are blocks. Or `start` is `empty_stack()`, and
    ///   `end` one word behind that.
    pub(super) unsafe fn new(start: NonNull<u8>) -> Self {
        let first = start.cast::<*mut u8>();
        if start != empty_stack() {
            // SAFETY: there is at least a word.
            unsafe { first.write(NO_BLOCK) }
        }
        // SAFETY: it is one past a word.
        let start = unsafe { first.add(1).cast() };
        Self { next: Cell::new(start), start }
    }

    /// Allocates a block that ends, with its footer, before the address `end`. `None` if it does not
    /// fit.
    #[inline]
    pub(super) fn push(&self, layout: Layout, end: usize) -> Option<NonNull<u8>> {
        if layout.align() > WORD_BYTES {
            return self.push_aligned(layout, end);
        }
        let next = self.next.get();
        let bytes = fits(next, 0, layout, end)?;
        // SAFETY: block and footer are between `next` and `end`.
        Some(unsafe { self.set_top(next, 0, bytes) })
    }

    /// Frees the top block, and the blocks below it that were freed out of sequence.
    #[inline]
    pub(super) fn pop(&self, block: NonNull<u8>) -> Result<(), Error> {
        // SAFETY: there is always a word in front of `next`.
        let footer = unsafe { footer_before(self.next.get()).read() };
        if footer != block.as_ptr() {
            return self.pop_padded(block);
        }
        // Uses the caller's address, which is already in a register, but the provenance of `start`:
        // so the next call does not wait for the footer.
        let below = self.start.with_addr(block.addr());
        poison(below, self.next.get());
        self.next.set(below);
        // SAFETY: there is always a word in front of `next`.
        if unsafe { footer_before(below).read() }.addr() & FREED != 0 {
            self.pop_freed();
        }
        Ok(())
    }

    /// Frees all blocks from `mark` on. Nothing happens if there are none.
    pub(super) fn pop_to(&self, mark: NonNull<u8>) -> Result<(), Error> {
        if mark >= self.next.get() {
            return Ok(());
        }
        if !self.blocks().any(|block| block.below == mark) {
            return Err(Error::NotAllocated);
        }
        let below = self.start.with_addr(mark.addr());
        poison(below, self.next.get());
        self.next.set(below);
        self.pop_freed();
        Ok(())
    }

    /// Frees a block, now or as soon as all blocks on top of it are freed.
    ///
    /// # Safety
    /// - It is a block of this end with this layout, and was not freed before.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) unsafe fn free(&self, block: NonNull<u8>, layout: Layout) {
        if !self.is_top(block) || self.pop(block).is_err() {
            // SAFETY: the footer is behind the block.
            unsafe {
                let footer = block.add(round_up(layout.size())).cast::<*mut u8>();
                footer.write(tagged(footer.read(), FREED));
            }
        }
    }

    /// Changes the layout of the top block and preserves its content. The block moves only if the
    /// new alignment requires it. `Ok(None)` if it does not fit before the address `end`.
    pub(super) fn resize(
        &self,
        block: NonNull<u8>,
        layout: Layout,
        end: usize,
    ) -> Result<Option<NonNull<u8>>, Error> {
        let Some(top) = self.blocks().next().filter(|top| top.start == block) else {
            return Err(self.free_error(block));
        };
        let below = top.below;
        let padding = padding(below, layout);
        let Some(bytes) = fits(below, padding, layout, end) else { return Ok(None) };
        let kept = (top.end.addr().get() - top.start.addr().get()).min(layout.size());
        // SAFETY: block and footer are between `below` and `end`. The content is moved before the
        // footer is written, which is behind it.
        unsafe {
            below.add(padding).copy_from(top.start, kept);
            Ok(Some(self.set_top(below, padding, bytes)))
        }
    }

    /// Shrinks a block that is not the top: the rest becomes a freed block.
    ///
    /// # Safety
    /// - `block` is a block of this end, not the top, with the layout `old`, and was not freed. The
    ///   new size is not larger.
    #[cfg(feature = "allocator-api2")]
    pub(super) unsafe fn shrink(&self, block: NonNull<u8>, old: Layout, size: usize) {
        let (old_bytes, size_bytes) = (round_up(old.size()), round_up(size));
        if size_bytes == old_bytes {
            return;
        }
        // SAFETY: both are in the block or behind it. There is space for a footer, because all
        // sizes are multiples of its size.
        unsafe {
            let (new_end, old_end) = (block.add(size_bytes), block.add(old_bytes));
            let footer = old_end.cast::<*mut u8>();
            new_end.cast::<*mut u8>().write(footer.read());
            footer.write(tagged(new_end.add(WORD_BYTES).as_ptr(), FREED));
        }
    }

    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) fn is_top(&self, block: NonNull<u8>) -> bool {
        // SAFETY: there is always a word in front of `next`.
        let footer = unsafe { footer_before(self.next.get()).read() };
        untagged(footer) == block.as_ptr()
    }

    /// Returns the start of the free memory.
    #[inline]
    pub(super) const fn next(&self) -> NonNull<u8> {
        self.next.get()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next.get() == self.start
    }

    /// Frees all blocks.
    pub(super) fn reset(&self) {
        poison(self.start, self.next.get());
        self.next.set(self.start);
    }

    /// Whether `block` is a block that was not freed.
    pub(super) fn contains(&self, block: NonNull<u8>) -> bool {
        self.blocks().any(|live| live.start == block && !live.is_freed)
    }

    /// Iterates over the sizes of all blocks that were not freed, in bytes, rounded up to words.
    pub(super) fn live_sizes(&self) -> impl Iterator<Item = usize> {
        let live = self.blocks().filter(|block| !block.is_freed);
        live.map(|block| block.end.addr().get() - block.start.addr().get())
    }

    /// Verifies all invariants.
    pub(super) fn validate(&self) -> Result<(), &'static str> {
        let mut lowest = self.next.get();
        for block in self.blocks() {
            let in_order = block.below <= block.start && block.start <= block.end;
            if !in_order || block.below < self.start || block.end >= lowest {
                return Err("blocks of the low end overlap");
            }
            lowest = block.below;
        }
        if lowest != self.start {
            return Err("the first block of the low end is not at the start");
        }
        match self.blocks().next().is_some_and(|top| top.is_freed) {
            true => Err("the top of the low end is a freed block"),
            false => Ok(()),
        }
    }

    /// Writes the metadata of a new top behind `below`, and returns the block.
    ///
    /// # Safety
    /// - Padding, block and footer are free memory, which begins at `below`. `bytes` is the size of
    ///   block and footer. The sizes are multiples of a word.
    #[inline]
    unsafe fn set_top(&self, below: NonNull<u8>, padding: usize, bytes: usize) -> NonNull<u8> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let block = below.add(padding);
            let mut footer = block.as_ptr();
            if padding != 0 {
                footer_before(block).write(below.as_ptr());
                footer = tagged(footer, PADDED);
            }
            let next = block.add(bytes);
            footer_before(next).write(footer);
            self.next.set(next);
            block
        }
    }

    #[inline(never)]
    fn push_aligned(&self, layout: Layout, end: usize) -> Option<NonNull<u8>> {
        let next = self.next.get();
        let padding = padding(next, layout);
        let bytes = fits(next, padding, layout, end)?;
        // SAFETY: padding, block and footer are between `next` and `end`.
        Some(unsafe { self.set_top(next, padding, bytes) })
    }

    /// Frees a block with padding in front. Returns an error for a block that is not the top.
    #[inline(never)]
    fn pop_padded(&self, block: NonNull<u8>) -> Result<(), Error> {
        match self.blocks().next() {
            Some(top) if top.start == block => {
                poison(top.below, self.next.get());
                self.next.set(top.below);
                self.pop_freed();
                Ok(())
            }
            _ => Err(self.free_error(block)),
        }
    }

    /// Removes freed blocks from the top.
    #[cold]
    fn pop_freed(&self) {
        while let Some(top) = self.blocks().next().filter(|top| top.is_freed) {
            poison(top.below, self.next.get());
            self.next.set(top.below);
        }
    }

    /// Iterates over all blocks from the top down.
    fn blocks(&self) -> impl Iterator<Item = Block> {
        let mut next = self.next.get();
        core::iter::from_fn(move || {
            // SAFETY: there is always a word in front of `next`. If it is a footer, it describes
            // the block and the word in front of it.
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
    fn free_error(&self, block: NonNull<u8>) -> Error {
        if self.contains(block) { Error::OutOfOrder } else { Error::NotAllocated }
    }
}

/// Block described by a footer.
struct Block {
    /// Start of the free memory without this block.
    below: NonNull<u8>,
    start: NonNull<u8>,
    /// Address of its footer.
    end: NonNull<u8>,
    is_freed: bool,
}

/// Returns the number of bytes between `next` and the first aligned address for this layout.
#[inline]
fn padding(next: NonNull<u8>, layout: Layout) -> usize {
    next.addr().get().wrapping_neg() & (layout.align().max(WORD_BYTES) - 1)
}

/// Returns the size of a block of this layout and its footer in bytes, whole words. `None` if they
/// do not fit between `next + padding` and `end`.
#[inline]
fn fits(next: NonNull<u8>, padding: usize, layout: Layout, end: usize) -> Option<usize> {
    // Their sum is computed before the address is known: one addition less until `next` is stored.
    let bytes = round_up(layout.size()) + WORD_BYTES;
    // No overflow: a layout with its padding exceeds isize::MAX by at most a few words.
    (padding + bytes <= end - next.addr().get()).then_some(bytes)
}

/// Returns the word in front of an address.
///
/// # Safety
/// - There is a word in front, of the same allocation.
#[inline]
const unsafe fn footer_before(next: NonNull<u8>) -> NonNull<*mut u8> {
    // SAFETY: guaranteed by the caller.
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
