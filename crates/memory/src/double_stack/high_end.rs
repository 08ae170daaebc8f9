use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use super::{FREED, TAGS, WORD_BYTES, poison, round_up};
use crate::Error;

/// Stack of blocks that grows from high addresses to low ones.
///
/// ```text
///        edge                                end
///  free  |[h│bbbbbbbbb][h│bb]······[h│bbbbbb]|
///          └─────►──────┘└─►────────┘└───►───┘
/// ```
/// A header is one word: the distance from this header up to the previous one, or to the end. The
/// header is the lowest word of its block, so this distance describes the block completely: padding
/// is above the blocks.
pub(super) struct HighEnd {
    end: NonNull<u8>,
    /// Header of the top block, or `end`.
    edge: Cell<NonNull<u8>>,
    /// Number of blocks that were freed while others were on top.
    deferred: Cell<usize>,
}

impl HighEnd {
    /// # Safety
    /// - `end` is a multiple of `WORD_BYTES`. The bytes between any `limit` passed to `push` and
    ///   `resize` and `end` are one allocation, valid for reads and writes, and nothing else uses
    ///   them as long as there are blocks.
    pub(super) const unsafe fn new(end: NonNull<u8>) -> Self {
        Self { end, edge: Cell::new(end), deferred: Cell::new(0) }
    }

    /// Allocates a block that begins, with its header, at the address `limit` or above. `None` if it
    /// does not fit.
    #[inline]
    pub(super) fn push(&self, layout: Layout, limit: usize) -> Option<NonNull<u8>> {
        let edge = self.edge.get();
        let down = header_distance(edge, layout, limit)?;
        // SAFETY: header and block are between `limit` and the edge.
        Some(unsafe { self.set_top(edge, down) })
    }

    /// Frees the top block, and the blocks below it that were freed out of sequence.
    #[inline]
    pub(super) fn pop(&self, block: NonNull<u8>) -> Result<(), Error> {
        if !self.is_top(block) {
            return Err(self.free_error(block));
        }
        // Uses the caller's address, which is already in a register, but the provenance of `end`:
        // so the next call does not wait for the header of this one.
        // SAFETY: there is a top, whose header is in front of the block.
        unsafe { self.pop_header(self.end.with_addr(block.addr()).sub(WORD_BYTES)) }
        if self.deferred.get() != 0 {
            self.pop_deferred();
        }
        Ok(())
    }

    /// Frees all blocks below `mark`. Nothing happens if there are none.
    pub(super) fn pop_to(&self, mark: NonNull<u8>) -> Result<(), Error> {
        if mark <= self.edge.get() {
            return Ok(());
        }
        // SAFETY: the iterator returns headers.
        if !self.headers().any(|(header, _)| unsafe { self.above(header) } == mark) {
            return Err(Error::NotAllocated);
        }
        let beyond = self.headers().take_while(|(header, _)| *header < mark);
        let deferred = beyond.filter(|(_, is_freed)| *is_freed).count();
        self.deferred.set(self.deferred.get() - deferred);
        poison(self.edge.get(), mark);
        self.edge.set(self.end.with_addr(mark.addr()));
        self.pop_deferred();
        Ok(())
    }

    /// Frees a block, now or as soon as all blocks on top of it are freed.
    ///
    /// # Safety
    /// - It is a block of this end that was not freed before.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) unsafe fn free(&self, block: NonNull<u8>) {
        if !self.is_top(block) || self.pop(block).is_err() {
            // SAFETY: every block has a header in front.
            unsafe {
                let header = block.cast::<usize>().sub(1);
                header.write(header.read() | FREED);
            }
            self.deferred.set(self.deferred.get() + 1);
        }
    }

    /// Changes the layout of the top block. The block moves together with its content. `Ok(None)` if
    /// it does not fit above the address `limit`.
    pub(super) fn resize(
        &self,
        block: NonNull<u8>,
        layout: Layout,
        limit: usize,
    ) -> Result<Option<NonNull<u8>>, Error> {
        if !self.is_top(block) {
            return Err(self.free_error(block));
        }
        // SAFETY: there is a top.
        let above = unsafe { self.above(self.edge.get()) };
        let kept = (above.addr().get() - block.addr().get()).min(layout.size());
        let Some(down) = header_distance(above, layout, limit) else { return Ok(None) };
        // SAFETY: header and block are between `limit` and `above`. The content is moved before the
        // header is written, for which there is space in front.
        unsafe {
            above.sub(down).add(WORD_BYTES).copy_from(block, kept);
            Ok(Some(self.set_top(above, down)))
        }
    }

    #[inline]
    pub(super) fn is_top(&self, block: NonNull<u8>) -> bool {
        is_after(self.edge.get(), block) && !self.is_empty()
    }

    /// Returns the lowest byte in use.
    #[inline]
    pub(super) const fn edge(&self) -> NonNull<u8> {
        self.edge.get()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.edge.get() == self.end
    }

    /// Frees all blocks.
    pub(super) fn reset(&self) {
        poison(self.edge.get(), self.end);
        self.edge.set(self.end);
        self.deferred.set(0);
    }

    /// Whether `block` is a block that was not freed.
    pub(super) fn contains(&self, block: NonNull<u8>) -> bool {
        self.headers().any(|(header, is_freed)| is_after(header, block) && !is_freed)
    }

    /// Iterates over the sizes of all blocks that were not freed, in bytes, rounded up to words and
    /// with the padding above them.
    pub(super) fn live_sizes(&self) -> impl Iterator<Item = usize> {
        let live = self.headers().filter(|(_, is_freed)| !is_freed);
        // SAFETY: the iterator returns headers.
        let above = |header| unsafe { self.above(header) };
        live.map(move |(header, _)| above(header).addr().get() - header.addr().get() - WORD_BYTES)
    }

    /// Verifies all invariants.
    pub(super) fn validate(&self) -> Result<(), &'static str> {
        for (header, _) in self.headers() {
            // SAFETY: the iterator returns headers.
            let above = unsafe { self.above(header) };
            if above <= header || above > self.end {
                return Err("blocks of the high end overlap");
            }
        }
        if self.headers().next().is_some_and(|(_, is_freed)| is_freed) {
            return Err("the top of the high end is a freed block");
        }
        match self.headers().filter(|(_, is_freed)| *is_freed).count() == self.deferred.get() {
            true => Ok(()),
            false => Err("the number of blocks freed out of sequence is wrong"),
        }
    }

    /// Writes the header of a new top, and returns the block.
    ///
    /// # Safety
    /// - The `down` bytes below `above` are free, and `above` is the edge without the top.
    #[inline]
    unsafe fn set_top(&self, above: NonNull<u8>, down: usize) -> NonNull<u8> {
        // SAFETY: the header is at the start of these bytes.
        unsafe {
            let edge = above.sub(down);
            edge.cast::<usize>().write(down);
            self.edge.set(edge);
            edge.add(WORD_BYTES)
        }
    }

    /// Returns the header above `header`, which is that of the previous block.
    ///
    /// # Safety
    /// - `header` belongs to a block of this end.
    #[inline]
    unsafe fn above(&self, header: NonNull<u8>) -> NonNull<u8> {
        // SAFETY: the header stores the distance.
        unsafe { header.add(header.cast::<usize>().read() & !TAGS) }
    }

    /// Removes the top.
    ///
    /// # Safety
    /// - `header` is that of the top.
    #[inline]
    unsafe fn pop_header(&self, header: NonNull<u8>) {
        // SAFETY: guaranteed by the caller.
        let above = unsafe { self.above(header) };
        poison(header, above);
        self.edge.set(above);
    }

    #[cold]
    fn pop_deferred(&self) {
        while let Some((header, true)) = self.headers().next() {
            // SAFETY: the iterator begins with the top.
            unsafe { self.pop_header(header) }
            self.deferred.set(self.deferred.get() - 1);
        }
    }

    /// Iterates over all headers from the top on, and whether their blocks were freed.
    fn headers(&self) -> impl Iterator<Item = (NonNull<u8>, bool)> {
        let mut at = self.edge.get();
        core::iter::from_fn(move || {
            if at == self.end {
                return None;
            }
            let header = at;
            // SAFETY: `header` belongs to the top, or was reached from another header.
            unsafe {
                at = self.above(header);
                Some((header, header.cast::<usize>().read() & FREED != 0))
            }
        })
    }

    #[cold]
    #[inline(never)]
    fn free_error(&self, block: NonNull<u8>) -> Error {
        if self.contains(block) { Error::OutOfOrder } else { Error::NotAllocated }
    }
}

/// Returns the distance below `edge` of the header of a block of this layout. `None` if it would be
/// below `limit`.
#[inline]
fn header_distance(edge: NonNull<u8>, layout: Layout, limit: usize) -> Option<usize> {
    let edge = edge.addr().get();
    let mut down = round_up(layout.size()) + WORD_BYTES;
    if layout.align() > WORD_BYTES {
        let block = edge.wrapping_sub(down).wrapping_add(WORD_BYTES);
        down += block % layout.align();
    }
    (down <= edge - limit).then_some(down)
}

/// Whether the block is directly behind the header.
#[inline]
fn is_after(header: NonNull<u8>, block: NonNull<u8>) -> bool {
    block.addr().get().wrapping_sub(WORD_BYTES) == header.addr().get()
}
