use core::sync::atomic::{AtomicU32, Ordering};

use drystone_alloc::Handle;

use crate::{
    allocation::{Allocation, Location, Span},
    parts::PartRanges,
};

/// Handle of one mesh of a [`VertexPool`](crate::VertexPool). Stale after the mesh is removed, and
/// in every other pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// Returns the handle as two integers, for storage in untyped data.
    #[inline]
    pub const fn to_bits(self) -> (u64, u32) {
        (self.mesh.to_bits(), self.pool)
    }

    /// Returns the handle of the integers from [`to_bits`](Self::to_bits), or `None` if no pool can
    /// have returned them. Use the handle only with the pool that returned it, and with its lists:
    /// a list has memory for all slots up to the highest that it was given.
    #[inline]
    pub const fn from_bits((mesh, pool): (u64, u32)) -> Option<Self> {
        match Handle::from_bits(mesh) {
            Some(mesh) if mesh.index() < MAX_SLOTS => Some(Self { mesh, pool }),
            _ => None,
        }
    }
}

/// Maximum number of slots of a pool, far below [`NO_OWNER`](crate::allocation::NO_OWNER).
pub(crate) const MAX_SLOTS: u32 = i32::MAX as u32;

/// Allocation of one mesh, and the ranges of its parts in it. 64 bytes with its handle.
#[derive(Debug)]
pub(crate) struct Mesh {
    allocation: Allocation,
    pub(crate) ranges: PartRanges,
    /// Chain of further pieces of a split mesh.
    more: u32,
    /// Frame in which the mesh was last drawn, or inserted.
    drawn: AtomicU32,
}

const _: () = assert!(size_of::<Mesh>() == 56);

impl Mesh {
    /// Creates a mesh without elements in `frame`.
    #[inline]
    pub(crate) const fn empty(frame: u64) -> Self {
        let Location { span, more } = Location::NONE;
        Self {
            allocation: span.allocation,
            ranges: PartRanges::EMPTY,
            more,
            drawn: AtomicU32::new(frame as u32),
        }
    }

    /// Total number of elements.
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.ranges.len()
    }

    /// Returns the location of the elements; meaningless for a mesh without elements.
    #[inline]
    pub(crate) const fn location(&self) -> Location {
        let PartRanges { first, buffer, .. } = self.ranges;
        Location { span: Span { allocation: self.allocation, first, buffer }, more: self.more }
    }

    /// Points the first piece to another allocation.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_no_pool_returns_are_no_handles() {
        let handle = MeshHandle::from_bits((7 | 3 << 32, 9)).unwrap();
        assert_eq!((handle.slot(), handle.to_bits()), (7, (7 | 3 << 32, 9)));
        for bits in [0, 7, u64::MAX, 1 << 32 | u64::from(MAX_SLOTS)] {
            assert_eq!(MeshHandle::from_bits((bits, 9)), None, "{bits:x}");
        }
    }
}
