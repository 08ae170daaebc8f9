//! Where the elements of a mesh are: one allocation, or a chain of them.

use alloc::vec::Vec;
use core::ops::Range;

use drystone_alloc::RangeHandle;

/// Marks the end of a chain of pieces.
const NONE: u32 = u32::MAX;
/// Owner of an allocation that is free or retired.
pub(crate) const NO_OWNER: u32 = u32::MAX;
/// Bit of an owner: with it the owner is the number of a further piece, without it a mesh's slot.
pub(crate) const PIECE_BIT: u32 = 1 << 31;

/// Allocation in one buffer: the bits of its allocator's handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocation(pub(crate) u64);

impl Allocation {
    #[inline]
    pub(crate) const fn of_range(range: RangeHandle) -> Self {
        Self(range.to_bits())
    }

    /// Returns an index of at most the maximum number of simultaneous allocations.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline]
    pub(crate) const fn range(self) -> Option<RangeHandle> {
        RangeHandle::from_bits(self.0)
    }
}

/// Allocation with its buffer and its first element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) allocation: Allocation,
    pub(crate) first: u32,
    pub(crate) buffer: u16,
}

/// Location of a mesh's elements. `more` is the number of the first further piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub(crate) span: Span,
    pub(crate) more: u32,
}

impl Location {
    /// Location of a mesh without elements.
    pub(crate) const NONE: Self =
        Self::of_span(Span { allocation: Allocation(0), first: 0, buffer: 0 });

    /// Location in one piece.
    #[inline]
    pub(crate) const fn of_span(span: Span) -> Self {
        Self { span, more: NONE }
    }

    /// Returns whether there are further pieces.
    #[inline]
    pub(crate) const fn is_split(&self) -> bool {
        self.more != NONE
    }
}

/// Further piece of a split mesh.
#[derive(Clone, Copy, Debug)]
struct Piece {
    span: Span,
    /// Index of its first element in the mesh.
    start: u32,
    /// Next piece of the mesh; for a free piece, the next free one.
    next: u32,
    /// Slot of the mesh.
    mesh: u32,
}

/// Further pieces of all split meshes, as linked lists.
#[derive(Debug)]
pub(crate) struct Pieces {
    all: Vec<Piece>,
    first_free: u32,
}

impl Default for Pieces {
    fn default() -> Self {
        Self { all: Vec::new(), first_free: NONE }
    }
}

impl Pieces {
    /// Appends a piece that starts at element `start` of the mesh to the chain of `location`,
    /// whose last piece is `last`. Returns the number of the piece.
    pub(crate) fn append(
        &mut self,
        location: &mut Location,
        last: Option<u32>,
        span: Span,
        start: u32,
    ) -> u32 {
        let piece = Piece { span, start, next: NONE, mesh: NONE };
        let at = match self.all.get_mut(self.first_free as usize) {
            Some(free) => {
                let at = core::mem::replace(&mut self.first_free, free.next);
                *free = piece;
                at
            }
            None => {
                self.all.push(piece);
                self.all.len() as u32 - 1
            }
        };
        match last.and_then(|last| self.all.get_mut(last as usize)) {
            Some(last) => last.next = at,
            None => location.more = at,
        }
        at
    }

    /// Removes the chain of pieces from number `first` on, and passes each allocation to `free`.
    pub(crate) fn remove(&mut self, first: u32, mut free: impl FnMut(Span)) {
        let mut at = first;
        while let Some(piece) = self.all.get_mut(at as usize) {
            free(piece.span);
            let next = core::mem::replace(&mut piece.next, self.first_free);
            self.first_free = at;
            at = next;
        }
    }

    /// Cuts a chain before the first piece that starts at or after element `len` of the mesh.
    /// Returns the last remaining allocation, its first element in the mesh, and the number of the
    /// first removed piece. The caller removes the rest of the chain.
    pub(crate) fn cut(&mut self, location: &mut Location, len: u32) -> (Span, u32, u32) {
        let (mut span, mut start, mut next, mut last) =
            (location.span, 0, location.more, None::<u32>);
        while let Some(piece) = self.all.get(next as usize).filter(|piece| piece.start < len) {
            (last, span, start, next) = (Some(next), piece.span, piece.start, piece.next);
        }
        match last.and_then(|last| self.all.get_mut(last as usize)) {
            Some(last) => last.next = NONE,
            None => location.more = NONE,
        }
        (span, start, next)
    }

    /// Records the mesh's slot in all pieces of its chain.
    pub(crate) fn set_mesh(&mut self, location: Location, slot: u32) {
        let mut more = location.more;
        while let Some(piece) = self.all.get_mut(more as usize) {
            (piece.mesh, more) = (slot, piece.next);
        }
    }

    /// Slot of the mesh that an allocation's owner belongs to.
    pub(crate) fn slot_of(&self, owner: u32) -> Option<u32> {
        match owner & PIECE_BIT {
            0 => Some(owner),
            _ => Some(self.all.get((owner & !PIECE_BIT) as usize)?.mesh),
        }
    }

    /// Points the piece of an owner to another allocation. Does nothing if it is no piece.
    pub(crate) fn set_span(&mut self, owner: u32, span: Span) {
        if owner & PIECE_BIT != 0
            && let Some(piece) = self.all.get_mut((owner & !PIECE_BIT) as usize)
        {
            piece.span = span;
        }
    }

    /// Iterates over the allocations of a mesh of `len` elements in order. Each item has the span,
    /// the range of the mesh's elements in it, and the owner.
    pub(crate) fn spans(&self, slot: u32, location: Location, len: u32) -> Spans<'_> {
        let owner = if len > 0 { slot } else { NONE };
        Spans { pieces: self, span: location.span, start: 0, more: location.more, owner, len }
    }
}

/// Iterator over the allocations of a mesh.
pub(crate) struct Spans<'a> {
    pieces: &'a Pieces,
    span: Span,
    start: u32,
    more: u32,
    /// Owner of the next allocation; [`NONE`] at the end.
    owner: u32,
    len: u32,
}

impl Iterator for Spans<'_> {
    type Item = (Span, Range<u32>, u32);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.owner == NONE {
            return None;
        }
        let (span, start, owner) = (self.span, self.start, self.owner);
        let Some(piece) = self.pieces.all.get(self.more as usize) else {
            self.owner = NONE;
            return Some((span, start..self.len, owner));
        };
        self.owner = self.more | PIECE_BIT;
        (self.span, self.start, self.more) = (piece.span, piece.start, piece.next);
        Some((span, start..piece.start, owner))
    }
}
