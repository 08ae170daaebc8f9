use alloc::vec::Vec;
use core::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering},
};

use drystone_alloc::Handle;

use crate::{buffers::Span, part_ranges::PartRanges, space::Place};

/// Names one mesh of a [`VertexPool`](crate::VertexPool); stale once it is removed, and in
/// every other pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshHandle {
    pub(crate) mesh: MeshKey,
    /// The pool's number.
    pub(crate) pool: u32,
}

/// A mesh's handle where its pool is known.
pub(crate) type MeshKey = Handle<Mesh>;

impl MeshHandle {
    /// The mesh's slot in the table of per-draw data, the `first_instance` of its
    /// commands. Slots are reused: the number alone names whatever lives there now.
    #[inline]
    pub const fn slot(self) -> u32 {
        self.mesh.index()
    }
}

/// No further piece.
pub(crate) const NONE: u32 = u32::MAX;
/// An owner with this bit is a further piece, by its number; without it a mesh's slot.
pub(crate) const PIECE_BIT: u32 = 1 << 31;

/// One mesh: its place, and where its parts lie in it. With its handle 64 bytes.
#[derive(Debug)]
pub(crate) struct Mesh {
    place: Place,
    pub(crate) ranges: PartRanges,
    /// The first of the pieces that follow, when the mesh was split.
    more: u32,
    /// The frame it was last drawn in, or inserted.
    drawn: AtomicU32,
}

const _: () = assert!(size_of::<Mesh>() == 56);

/// Where a mesh's elements lie: one place, or a chain of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) span: Span,
    pub(crate) more: u32,
}

impl Placed {
    #[inline]
    pub(crate) const fn is_split(&self) -> bool {
        self.more != NONE
    }
}

impl Mesh {
    /// A mesh of no elements, made in `frame`.
    #[inline]
    pub(crate) const fn of_nothing(frame: u64) -> Self {
        Self {
            place: Place::of_nothing(),
            ranges: PartRanges::EMPTY,
            more: NONE,
            drawn: AtomicU32::new(frame as u32),
        }
    }

    /// Elements in all.
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.ranges.len()
    }

    /// The first place; means nothing for a mesh of no elements.
    #[inline]
    pub(crate) const fn span(&self) -> Span {
        Span { place: self.place, first: self.ranges.first, buffer: self.ranges.buffer }
    }

    #[inline]
    pub(crate) const fn placed(&self) -> Placed {
        Placed { span: self.span(), more: self.more }
    }

    #[inline]
    pub(crate) const fn set_span(&mut self, span: Span) {
        self.place = span.place;
        (self.ranges.first, self.ranges.buffer) = (span.first, span.buffer);
    }

    #[inline]
    pub(crate) const fn set_placed(&mut self, placed: Placed) {
        self.set_span(placed.span);
        self.more = placed.more;
    }

    #[inline]
    pub(crate) const fn is_split(&self) -> bool {
        self.more != NONE
    }

    /// Notes that it is drawn in `frame`.
    #[inline]
    pub(crate) fn note_drawn(&self, frame: u64) {
        self.drawn.store(frame as u32, Ordering::Relaxed);
    }

    /// Frames since it was last drawn, or inserted.
    #[inline]
    pub(crate) fn frames_unseen(&self, frame: u64) -> u32 {
        (frame as u32).wrapping_sub(self.drawn.load(Ordering::Relaxed))
    }
}

/// A piece of a mesh that was split, other than its first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) span: Span,
    /// The mesh's element that it starts with.
    pub(crate) start: u32,
    /// The piece that follows, or of a free piece the next free one.
    pub(crate) next: u32,
    /// The slot of its mesh.
    pub(crate) mesh: u32,
}

/// All pieces but the first of all meshes that were split, in chains.
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

    /// Keeps a piece; returns its number.
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

    /// Forgets a piece; returns the one that followed.
    pub(crate) fn remove(&mut self, at: u32) -> u32 {
        let Some(piece) = self.all.get_mut(at as usize) else { return NONE };
        let next = core::mem::replace(&mut piece.next, self.first_free);
        self.first_free = at;
        next
    }

    /// The places of a mesh of `len` elements in order, each with its owner and which of
    /// the mesh's elements it holds.
    pub(crate) fn spans(&self, slot: u32, placed: Placed, len: u32) -> Spans<'_> {
        let owner = if len > 0 { slot } else { NONE };
        Spans { pieces: self, span: placed.span, start: 0, more: placed.more, owner, len }
    }
}

/// Walks along a mesh's places.
pub(crate) struct Spans<'a> {
    pieces: &'a Pieces,
    span: Span,
    start: u32,
    more: u32,
    /// The owner of the next place; [`NONE`] at the end.
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
