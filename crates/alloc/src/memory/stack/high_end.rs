use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use super::{FREED, TAGS, WORD_BYTES, full, poison, round_up};
use crate::Error;

/// Blocks on top of each other from high addresses to low ones.
///
/// ```text
///        edge                                end
///  free  |[h│bbbbbbbbb][h│bb]······[h│bbbbbb]|
///          └─────►──────┘└─►────────┘└───►───┘
/// ```
/// A header is one word, and says how far above it the header of the block lies that was
/// there before, or the end. As a block's header is the lowest that it has, that is all
/// there is to know: padding lies above the blocks.
pub(in super::super) struct HighEnd {
    end: NonNull<u8>,
    /// The header of the top, or `end`.
    edge: Cell<NonNull<u8>>,
    /// Blocks that were freed while others lay on top.
    deferred: Cell<usize>,
}

impl HighEnd {
    /// # Safety
    /// - `end` is a multiple of `WORD_BYTES`; the bytes from any `limit` that `push` and
    ///   `resize` are given up to there are one allocation, valid for reads and writes, and
    ///   nobody else's as long as there are blocks.
    pub(in super::super) const unsafe fn new(end: NonNull<u8>) -> Self {
        Self { end, edge: Cell::new(end), deferred: Cell::new(0) }
    }

    /// A block that begins, with its header, at `limit` or above.
    #[inline]
    pub(in super::super) fn push(
        &self,
        layout: Layout,
        limit: NonNull<u8>,
    ) -> Result<NonNull<u8>, Error> {
        let edge = self.edge.get();
        let Some(down) = place(edge, layout, limit) else {
            return Err(full(layout.size(), limit, edge));
        };
        // SAFETY: the place lies between `limit` and the edge.
        Ok(unsafe { self.put(edge, down) })
    }

    /// Takes the block back, and those before it that were freed before their turn.
    #[inline]
    pub(in super::super) fn pop(&self, block: NonNull<u8>) -> Result<(), Error> {
        if !self.is_top(block) {
            return Err(self.why_not(block));
        }
        // SAFETY: there is a top.
        unsafe { self.pop_top() }
        if self.deferred.get() != 0 {
            self.pop_deferred();
        }
        Ok(())
    }

    /// Takes the block back, now or when those on top of it have gone.
    ///
    /// # Safety
    /// - It is a block of this end that was not freed before.
    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(in super::super) unsafe fn free(&self, block: NonNull<u8>) {
        if !self.is_top(block) || self.pop(block).is_err() {
            // SAFETY: every block has a header in front.
            unsafe {
                let header = block.cast::<usize>().sub(1);
                header.write(header.read() | FREED);
            }
            self.deferred.set(self.deferred.get() + 1);
        }
    }

    /// The top as a block of another layout, with its content, which moves.
    pub(in super::super) fn resize(
        &self,
        block: NonNull<u8>,
        layout: Layout,
        limit: NonNull<u8>,
    ) -> Result<NonNull<u8>, Error> {
        if !self.is_top(block) {
            return Err(self.why_not(block));
        }
        // SAFETY: there is a top.
        let above = unsafe { self.above(self.edge.get()) };
        let kept = (above.addr().get() - block.addr().get()).min(layout.size());
        let Some(down) = place(above, layout, limit) else {
            return Err(full(layout.size(), limit, self.edge.get()));
        };
        // SAFETY: the place lies between `limit` and `above`. The content goes there before
        // the header is written, for which there is room in front.
        unsafe {
            above.sub(down).add(WORD_BYTES).copy_from(block, kept);
            Ok(self.put(above, down))
        }
    }

    #[inline]
    pub(in super::super) fn is_top(&self, block: NonNull<u8>) -> bool {
        is_after(self.edge.get(), block) && !self.is_empty()
    }

    /// The lowest byte in use.
    #[inline]
    pub(in super::super) const fn edge(&self) -> NonNull<u8> {
        self.edge.get()
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.edge.get() == self.end
    }

    /// Takes all blocks back.
    pub(in super::super) fn reset(&mut self) {
        poison(self.edge.get(), self.end);
        self.edge.set(self.end);
        self.deferred.set(0);
    }

    /// Whether it is a block that was not freed.
    pub(in super::super) fn contains(&self, block: NonNull<u8>) -> bool {
        self.headers().any(|(header, is_freed)| is_after(header, block) && !is_freed)
    }

    /// Walks all blocks and says what is wrong with them.
    pub(in super::super) fn check(&self) -> Result<(), &'static str> {
        for (header, _) in self.headers() {
            // SAFETY: the iterator gives headers.
            let above = unsafe { self.above(header) };
            if above <= header || above > self.end {
                return Err("blocks of the high end lie across each other");
            }
        }
        if self.headers().next().is_some_and(|(_, is_freed)| is_freed) {
            return Err("the top of the high end was freed and is still there");
        }
        match self.headers().filter(|(_, is_freed)| *is_freed).count() == self.deferred.get() {
            true => Ok(()),
            false => Err("the number of blocks freed out of order is wrong"),
        }
    }

    /// Writes the header of a new top, and returns the block.
    ///
    /// # Safety
    /// - The `down` bytes below `above` are free, and `above` is the edge without the top.
    #[inline]
    unsafe fn put(&self, above: NonNull<u8>, down: usize) -> NonNull<u8> {
        // SAFETY: the place begins with the header.
        unsafe {
            let edge = above.sub(down);
            edge.cast::<usize>().write(down);
            self.edge.set(edge);
            edge.add(WORD_BYTES)
        }
    }

    /// The header before this one.
    ///
    /// # Safety
    /// - `header` is that of a block of this end.
    #[inline]
    unsafe fn above(&self, header: NonNull<u8>) -> NonNull<u8> {
        // SAFETY: the header says how far it is.
        unsafe { header.add(header.cast::<usize>().read() & !TAGS) }
    }

    /// # Safety
    /// - There is a top.
    #[inline]
    unsafe fn pop_top(&self) {
        // SAFETY: as the caller says.
        let above = unsafe { self.above(self.edge.get()) };
        poison(self.edge.get(), above);
        self.edge.set(above);
    }

    #[cold]
    fn pop_deferred(&self) {
        while let Some((_, true)) = self.headers().next() {
            // SAFETY: there is one.
            unsafe { self.pop_top() }
            self.deferred.set(self.deferred.get() - 1);
        }
    }

    /// All headers from the top on, and whether their blocks were freed.
    fn headers(&self) -> impl Iterator<Item = (NonNull<u8>, bool)> {
        let mut at = self.edge.get();
        core::iter::from_fn(move || {
            if at == self.end {
                return None;
            }
            let header = at;
            // SAFETY: one is that of the top, every other one that before a header.
            unsafe {
                at = self.above(header);
                Some((header, header.cast::<usize>().read() & FREED != 0))
            }
        })
    }

    #[cold]
    #[inline(never)]
    fn why_not(&self, block: NonNull<u8>) -> Error {
        if self.contains(block) { Error::OutOfOrder } else { Error::NotAllocated }
    }
}

/// How far below `edge` the header of a block of this layout lies; `None` if that is below
/// `limit`.
#[inline]
fn place(edge: NonNull<u8>, layout: Layout, limit: NonNull<u8>) -> Option<usize> {
    let (edge, limit) = (edge.addr().get(), limit.addr().get());
    let size_bytes = round_up(layout.size());
    if size_bytes > edge - limit {
        return None;
    }
    let mask = layout.align().max(WORD_BYTES) - 1;
    let block = (edge - size_bytes) & !mask;
    let has_room = block >= limit && block - limit >= WORD_BYTES;
    has_room.then(|| edge - block + WORD_BYTES)
}

/// Whether the block lies right after the header.
#[inline]
fn is_after(header: NonNull<u8>, block: NonNull<u8>) -> bool {
    block.addr().get().wrapping_sub(WORD_BYTES) == header.addr().get()
}
