use core::alloc::Layout;
use core::ptr::{self, NonNull};

use super::SLAB_BYTES;
use crate::Error;
use crate::debug_aids::{Leak, report_leak};
use crate::{MemorySource, Region};

/// Start of a free array: the address of the next one, aligned only like the values.
pub(super) type Link = *mut u8;

/// Memory of the lists: slabs, which are divided into arrays, and longer arrays with a piece of
/// memory each.
pub(super) struct Chain<'m> {
    /// Free rest of the current slab.
    fresh: *mut u8,
    fresh_bytes: usize,
    /// All slabs, newest first. The slabs from `unopened` on, at the end, were not opened since the
    /// last reset.
    slabs: *mut Piece,
    unopened: *mut Piece,
    /// All longer arrays.
    longer: *mut Piece,
    reserved_bytes: usize,
    /// Live arrays: their number and their size in bytes. Counted only for reports of leaks.
    live: (usize, usize),
    memory: Memory<'m>,
}

enum Memory<'m> {
    Region(Region<'m>),
    Source(&'m dyn MemorySource),
}

/// Header of a piece of memory from the source.
struct Piece {
    layout: Layout,
    next: *mut Piece,
    /// Only used for longer arrays, which are freed in any order.
    previous: *mut Piece,
}

impl Piece {
    /// Returns the layout of a piece, and the offset of the values behind its header.
    fn layout<T>(len: usize) -> Result<(Layout, usize), Error> {
        let values = Layout::array::<T>(len).map_err(|_| Error::InvalidSize)?;
        Layout::new::<Self>().extend(values).map_err(|_| Error::InvalidSize)
    }
}

impl<'m> Chain<'m> {
    pub(super) const fn in_slabs(source: &'m dyn MemorySource) -> Self {
        Self::new(Memory::Source(source), ptr::null_mut(), 0)
    }

    pub(super) const fn in_region(region: Region<'m>) -> Self {
        let (start, size_bytes) = (region.start().as_ptr(), region.size_bytes());
        Self::new(Memory::Region(region), start, size_bytes)
    }

    const fn new(memory: Memory<'m>, fresh: *mut u8, fresh_bytes: usize) -> Self {
        let none = ptr::null_mut();
        let reserved_bytes = fresh_bytes;
        let (slabs, unopened, longer) = (none, none, none);
        let live = (0, 0);
        Self { fresh, fresh_bytes, slabs, unopened, longer, reserved_bytes, live, memory }
    }

    /// Records that an array was allocated, in builds with debug assertions.
    #[inline(always)]
    pub(super) const fn count_allocation(&mut self, size_bytes: usize) {
        if cfg!(debug_assertions) {
            self.live = (self.live.0 + 1, self.live.1 + size_bytes);
        }
    }

    /// Records that an array was freed, in builds with debug assertions.
    #[inline(always)]
    pub(super) const fn count_free(&mut self, size_bytes: usize) {
        if cfg!(debug_assertions) {
            self.live = (self.live.0 - 1, self.live.1 - size_bytes);
        }
    }

    fn report_leaks(&mut self) {
        let (count, size_bytes) = core::mem::take(&mut self.live);
        report_leak(|| Leak::new("SizeLists", count, size_bytes));
    }

    pub(super) const fn reserved_bytes(&self) -> usize {
        self.reserved_bytes
    }

    /// Takes an array from the rest of the current slab, if it fits.
    #[inline]
    pub(super) fn cut(&mut self, bytes: usize, align: usize) -> Option<NonNull<u8>> {
        let padding = self.fresh.addr().wrapping_neg() & (align - 1);
        let rest = self.fresh_bytes.checked_sub(padding)?.checked_sub(bytes)?;
        // SAFETY: padding and array are in the rest of the slab.
        let start = unsafe { self.fresh.add(padding) };
        // SAFETY: padding and array are in the rest of the slab.
        self.fresh = unsafe { start.add(bytes) };
        self.fresh_bytes = rest;
        NonNull::new(start)
    }

    /// Makes a slab current that has space for an array.
    #[cold]
    pub(super) fn open_slab(&mut self, bytes: usize, align: usize) -> Result<(), Error> {
        while let Some(slab) = NonNull::new(self.unopened) {
            // SAFETY: it is one of our slabs.
            self.unopened = unsafe { slab.as_ref() }.next;
            self.start_slab(slab);
            if self.fresh_bytes >= bytes + align {
                return Ok(());
            }
        }
        let (min, _) = Piece::layout::<u8>(bytes.saturating_add(align))?;
        let slab = self.allocate_piece(min.size().max(SLAB_BYTES), min.align(), bytes)?;
        // SAFETY: the piece is ours, and has its header.
        unsafe { (*slab.as_ptr()).next = self.slabs }
        self.slabs = slab.as_ptr();
        self.start_slab(slab);
        Ok(())
    }

    /// Allocates an array with a piece of memory of its own.
    pub(super) fn allocate_long<T>(&mut self, len: usize) -> Result<NonNull<T>, Error> {
        let (layout, offset) = Piece::layout::<T>(len)?;
        let piece = self.allocate_piece(layout.size(), layout.align(), layout.size())?;
        // SAFETY: headers of our pieces.
        unsafe {
            (*piece.as_ptr()).next = self.longer;
            if let Some(mut first) = NonNull::new(self.longer) {
                first.as_mut().previous = piece.as_ptr();
            }
        }
        self.longer = piece.as_ptr();
        // SAFETY: the values are in the piece.
        Ok(unsafe { piece.cast::<u8>().add(offset) }.cast())
    }

    /// Frees a longer array.
    ///
    /// # Safety
    /// - `start` came from `allocate_long` of this chain with the same type and `len`.
    /// - It was not freed before, and nothing uses it any more.
    pub(super) unsafe fn free_long<T>(&mut self, start: NonNull<T>, len: usize) {
        let Ok((_, offset)) = Piece::layout::<T>(len) else { return };
        // SAFETY: the header is at this distance before the values, because the layout is the same,
        // and its neighbours in the list are headers too.
        unsafe {
            let piece = start.cast::<u8>().sub(offset).cast::<Piece>();
            let Piece { next, previous, .. } = *piece.as_ptr();
            match NonNull::new(previous) {
                Some(mut previous) => previous.as_mut().next = next,
                None => self.longer = next,
            }
            if let Some(mut next) = NonNull::new(next) {
                next.as_mut().previous = previous;
            }
            self.free_piece(piece);
        }
    }

    /// Marks all slabs as unopened, and frees the longer arrays.
    pub(super) fn reset(&mut self) {
        self.report_leaks();
        // SAFETY: nothing can use them any more.
        unsafe { self.free_pieces(self.longer) }
        self.longer = ptr::null_mut();
        self.unopened = self.slabs;
        (self.fresh, self.fresh_bytes) = match &self.memory {
            Memory::Region(region) => (region.start().as_ptr(), region.size_bytes()),
            Memory::Source(_) => (ptr::null_mut(), 0),
        };
    }

    fn start_slab(&mut self, slab: NonNull<Piece>) {
        // SAFETY: a slab has its header and at least the bytes behind it.
        unsafe {
            self.fresh = slab.add(1).cast().as_ptr();
            self.fresh_bytes = slab.as_ref().layout.size() - size_of::<Piece>();
        }
    }

    /// Allocates a piece of memory and writes its header.
    fn allocate_piece(
        &mut self,
        size_bytes: usize,
        align: usize,
        requested: usize,
    ) -> Result<NonNull<Piece>, Error> {
        let layout = Layout::from_size_align(size_bytes, align).map_err(|_| Error::InvalidSize)?;
        let memory = match self.memory {
            Memory::Source(source) => source.allocate(layout),
            Memory::Region(_) => None,
        };
        let (requested, total_free) = (requested as u64, self.fresh_bytes as u64);
        let full = Error::Full { requested, largest_free: total_free, total_free };
        let piece = memory.ok_or(full)?.cast::<Piece>();
        // SAFETY: it is large enough for a header, and aligned for one.
        unsafe { piece.write(Piece { layout, next: ptr::null_mut(), previous: ptr::null_mut() }) }
        self.reserved_bytes += layout.size();
        Ok(piece)
    }

    /// # Safety
    /// - `piece` is one of our pieces, in no list, and nothing uses it any more.
    unsafe fn free_piece(&mut self, piece: NonNull<Piece>) {
        // SAFETY: it still has its header.
        let layout = unsafe { piece.as_ref() }.layout;
        self.reserved_bytes -= layout.size();
        if let Memory::Source(source) = self.memory {
            // SAFETY: it came from this source with this layout.
            unsafe { source.free(piece.cast(), layout) }
        }
    }

    /// # Safety
    /// - `first` is the start of a list of our pieces, or null, and nothing uses them any more.
    unsafe fn free_pieces(&mut self, first: *mut Piece) {
        let mut next = first;
        while let Some(piece) = NonNull::new(next) {
            // SAFETY: a piece of the list, freed once.
            unsafe {
                next = piece.as_ref().next;
                self.free_piece(piece);
            }
        }
    }
}

impl Drop for Chain<'_> {
    fn drop(&mut self) {
        self.report_leaks();
        // SAFETY: nothing in the pieces is used after this.
        unsafe {
            self.free_pieces(self.longer);
            self.free_pieces(self.slabs);
        }
    }
}
