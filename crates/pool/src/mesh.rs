use alloc::vec::Vec;
use core::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering},
};

use drystone_alloc::Handle;

use crate::{buffers::Span, part_ranges::PartRanges, space::Allocation};

/// Handle of one mesh of a [`VertexPool`](crate::VertexPool). Stale after the mesh is removed, and
/// in every other pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshHandle {
    pub(crate) mesh: MeshKey,
    /// Id of the pool.
    pub(crate) pool: u32,
}

/// Handle of a mesh within its pool.
pub(crate) type MeshKey = Handle<Mesh>;

impl MeshHandle {
    /// Returns the mesh's slot in the table of per-draw data: the `first_instance` of its commands.
    /// Slots are reused after removal, so the number alone does not identify a mesh.
    #[inline]
    pub const fn slot(self) -> u32 {
        self.mesh.index()
    }
}

/// Marks the end of a chain of pieces.
pub(crate) const NONE: u32 = u32::MAX;
/// Bit of an owner: with it the owner is the number of a further piece, without it a mesh's slot.
pub(crate) const PIECE_BIT: u32 = 1 << 31;

/// Allocation of one mesh, and the ranges of its parts in it. 64 bytes with its handle.
#[derive(Debug)]
pub(crate) struct Mesh {
    allocation: Allocation,
    pub(crate) ranges: PartRanges,
    /// First of the further pieces of a split mesh.
    more: u32,
    /// Frame in which the mesh was last drawn, or inserted.
    drawn: AtomicU32,
}

const _: () = assert!(size_of::<Mesh>() == 56);

/// Location of a mesh's elements: one allocation, or a chain of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub(crate) span: Span,
    pub(crate) more: u32,
}

impl Location {
    #[inline]
    pub(crate) const fn is_split(&self) -> bool {
        self.more != NONE
    }
}

impl Mesh {
    /// Creates a mesh without elements in `frame`.
    #[inline]
    pub(crate) const fn empty(frame: u64) -> Self {
        Self {
            allocation: Allocation::empty(),
            ranges: PartRanges::EMPTY,
            more: NONE,
            drawn: AtomicU32::new(frame as u32),
        }
    }

    /// Total number of elements.
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.ranges.len()
    }

    /// Returns the first allocation; meaningless for a mesh without elements.
    #[inline]
    pub(crate) const fn span(&self) -> Span {
        Span { allocation: self.allocation, first: self.ranges.first, buffer: self.ranges.buffer }
    }

    #[inline]
    pub(crate) const fn location(&self) -> Location {
        Location { span: self.span(), more: self.more }
    }

    #[inline]
    pub(crate) const fn set_span(&mut self, span: Span) {
        self.allocation = span.allocation;
        (self.ranges.first, self.ranges.buffer) = (span.first, span.buffer);
    }

    #[inline]
    pub(crate) const fn set_location(&mut self, location: Location) {
        self.set_span(location.span);
        self.more = location.more;
    }

    #[inline]
    pub(crate) const fn is_split(&self) -> bool {
        self.more != NONE
    }

    /// Records that the mesh is drawn in `frame`.
    #[inline]
    pub(crate) fn note_drawn(&self, frame: u64) {
        self.drawn.store(frame as u32, Ordering::Relaxed);
    }

    /// Number of frames since the mesh was last drawn or inserted.
    #[inline]
    pub(crate) fn frames_since_drawn(&self, frame: u64) -> u32 {
        (frame as u32).wrapping_sub(self.drawn.load(Ordering::Relaxed))
    }
}

/// Further piece of a split mesh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) span: Span,
    /// Index of its first element in the mesh.
    pub(crate) start: u32,
    /// Next piece of the mesh; for a free piece, the next free one.
    pub(crate) next: u32,
    /// Slot of the mesh.
    pub(crate) mesh: u32,
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
    pub(crate) fn get(&self, at: u32) -> Option<&Piece> {
        self.all.get(at as usize)
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut Piece> {
        self.all.get_mut(at as usize)
    }

    /// Stores a piece; returns its number.
    pub(crate) fn insert(&mut self, piece: Piece) -> u32 {
        let at = self.first_free;
        match self.all.get_mut(at as usize) {
            Some(free) => {
                self.first_free = free.next;
                *free = piece;
                at
            }
            None => {
                self.all.push(piece);
                self.all.len() as u32 - 1
            }
        }
    }

    /// Removes a piece; returns the next one.
    pub(crate) fn remove(&mut self, at: u32) -> u32 {
        let Some(piece) = self.all.get_mut(at as usize) else { return NONE };
        let next = core::mem::replace(&mut piece.next, self.first_free);
        self.first_free = at;
        next
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
        let Some(piece) = self.pieces.get(self.more) else {
            self.owner = NONE;
            return Some((span, start..self.len, owner));
        };
        self.owner = self.more | PIECE_BIT;
        (self.span, self.start, self.more) = (piece.span, piece.start, piece.next);
        Some((span, start..piece.start, owner))
    }
}
