//! Allocations of meshes: one for each, or a chain of them.

use alloc::vec::Vec;
use core::ops::Range;

use drystone_alloc::RangeHandle;

/// Marks a location in one piece.
const NONE: u32 = u32::MAX;
/// Owner of an allocation that is free or retired; others are slots of meshes.
pub(crate) const NO_OWNER: u32 = u32::MAX;

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

/// Location of a mesh's elements: its first allocation, and the number of the chain of further
/// pieces.
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

/// Further pieces of all split meshes. Each piece but the last of a mesh has the same length.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// Elements of a piece.
    len: u32,
    /// Allocations after the first, by the number in the mesh's location.
    chains: Vec<Vec<Span>>,
    /// Numbers of unused chains, which keep their memory.
    free: Vec<u32>,
}

impl Pieces {
    /// Creates no chain yet; a piece has `len` elements.
    pub(crate) const fn new(len: u32) -> Self {
        Self { len, chains: Vec::new(), free: Vec::new() }
    }

    /// Appends a piece to a mesh.
    pub(crate) fn append(&mut self, location: &mut Location, span: Span) {
        if !location.is_split() {
            location.more = self.free.pop().unwrap_or_else(|| {
                self.chains.push(Vec::new());
                self.chains.len() as u32 - 1
            });
        }
        self.chains[location.more as usize].push(span);
    }

    /// Cuts a mesh to `len` elements, at least one, and passes the removed pieces to `free`.
    /// Returns the last remaining allocation and the number of elements in it.
    pub(crate) fn cut(
        &mut self,
        location: &mut Location,
        len: u32,
        free: impl FnMut(Span),
    ) -> (Span, u32) {
        let Some(chain) = self.chains.get_mut(location.more as usize) else {
            return (location.span, len);
        };
        let further = (len - 1) / self.len;
        chain.drain(further as usize..).for_each(free);
        let last = chain.last().copied();
        if last.is_none() {
            self.remove(core::mem::replace(&mut location.more, NONE), |_| {});
        }
        (last.unwrap_or(location.span), len - further * self.len)
    }

    /// Removes a chain, and passes each allocation to `free`.
    pub(crate) fn remove(&mut self, number: u32, free: impl FnMut(Span)) {
        if let Some(chain) = self.chains.get_mut(number as usize) {
            chain.drain(..).for_each(free);
            self.free.push(number);
        }
    }

    /// Points the piece at `from` to `to`.
    pub(crate) fn set_span(&mut self, location: Location, from: Span, to: Span) {
        let chain = self.chains.get_mut(location.more as usize).into_iter().flatten();
        chain.filter(|span| **span == from).for_each(|span| *span = to);
    }

    /// Iterates over the allocations of a mesh of `len` elements in order, with the range of the
    /// mesh's elements in each.
    pub(crate) fn spans(
        &self,
        location: Location,
        len: u32,
    ) -> impl Iterator<Item = (Span, Range<u32>)> {
        let chain = self.chains.get(location.more as usize).into_iter().flatten();
        let spans = (len > 0).then_some(location.span).into_iter().chain(chain.copied());
        let last_start = if location.is_split() { (len - 1) / self.len * self.len } else { 0 };
        spans.zip((0..).step_by(self.len.max(1) as usize)).map(move |(span, start)| {
            (span, start..if start < last_start { start + self.len } else { len })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(first: u32) -> Span {
        Span { allocation: Allocation(first.into()), first, buffer: 0 }
    }

    #[test]
    fn chains_cover_their_mesh_and_are_cut_and_used_again() {
        let mut pieces = Pieces::new(10);
        let mut location = Location::of_span(span(0));
        (1..4).for_each(|n| pieces.append(&mut location, span(n * 10)));
        let covered = pieces.spans(location, 35).map(|(span, held)| (span.first, held));
        assert!(covered.eq([(0, 0..10), (10, 10..20), (20, 20..30), (30, 30..35)]));

        let mut freed = Vec::new();
        let last = pieces.cut(&mut location, 20, |span| freed.push(span.first));
        assert_eq!((last, freed), ((span(10), 10), [20, 30].into()));
        pieces.set_span(location, span(10), span(70));
        assert_eq!(pieces.spans(location, 17).last(), Some((span(70), 10..17)));
        assert_eq!(pieces.cut(&mut location, 10, |_| {}), (span(0), 10));
        assert!(!location.is_split());

        let mut other = Location::of_span(span(50));
        pieces.append(&mut other, span(60));
        assert_eq!(pieces.chains.len(), 1);
        pieces.remove(other.more, |freed| assert_eq!(freed, span(60)));
        assert_eq!(pieces.spans(location, 0).next(), None);
    }
}
