use drystone_alloc::RangeHandle;

use super::{Buffer, Buffers, Space};
use crate::{
    allocation::{Allocation, NO_OWNER, Span},
    frames::Frames,
};

/// Allocation of a mesh that was freed before the mesh that replaces it is allocated and written, so
/// that both can overlap. Until the new mesh is written, it can be restored.
#[derive(Debug)]
pub(crate) struct FreedAllocation {
    span: Span,
    /// Number of elements.
    count: u32,
    /// Slot of the mesh.
    owner: u32,
    /// The range before the allocation.
    before: Option<RangeHandle>,
    /// State of the buffer that freeing changes.
    too_large: u64,
    is_packed: bool,
    is_settled: bool,
    empty_since: u64,
}

impl Buffers {
    /// Frees the allocation of a slot's mesh of `count` elements. Returns `None`, and changes nothing, if
    /// a frame may read the elements, or if the placement cannot restore an allocation.
    pub(crate) fn free_unread(
        &mut self,
        (owner, span): (u32, Span),
        count: u32,
        frames: &Frames,
    ) -> Option<FreedAllocation> {
        let buffer = self.get_mut(span.buffer).filter(|buffer| !buffer.is_read(frames))?;
        let Space::Ranges(space) = &buffer.space else { return None };
        let before = space.previous(span.allocation.range()?);
        let &mut Buffer { too_large, is_packed, is_settled, empty_since, .. } = buffer;
        buffer.set_owner(span.allocation, NO_OWNER);
        buffer.used -= count;
        buffer.empty_since = frames.current();
        buffer.free(span.allocation);
        Some(FreedAllocation {
            span,
            count,
            owner,
            before,
            too_large,
            is_packed,
            is_settled,
            empty_since,
        })
    }

    /// Allocates the elements of a mesh again where they were. Whatever was allocated since they were freed
    /// must be free again. That leaves a node for the range, and its units in the gap behind the range
    /// before, so that it cannot fail.
    pub(crate) fn restore(&mut self, freed: FreedAllocation) -> Span {
        let FreedAllocation { span, count, owner, before, .. } = freed;
        let Some(buffer) = self.get_mut(span.buffer) else { return span };
        let Space::Ranges(space) = &mut buffer.space else { return span };
        let again = space.allocate_at(before, span.first, count);
        debug_assert!(again.is_ok(), "elements that were freed last are free");
        let allocation = again.map_or(span.allocation, Allocation::of_range);
        buffer.occupy(allocation, count, owner);
        buffer.too_large = freed.too_large;
        (buffer.is_packed, buffer.is_settled) = (freed.is_packed, freed.is_settled);
        buffer.empty_since = freed.empty_since;
        Span { allocation, ..span }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{backend::NullBackend, config::PoolConfig};

    /// Whatever is allocated and freed in between, in the same buffer or in another one.
    #[test]
    fn a_restored_allocation_leaves_its_buffer_as_it_was() {
        for other_size in [5, 12, 20] {
            let config = PoolConfig { max_buffers: 2, ..PoolConfig::fixed(20, 4) };
            let mut buffers = Buffers::new(config, 8);
            let mut spans = Vec::new();
            for _ in 0..2 {
                assert_eq!(buffers.add(20, 0, &mut NullBackend::default()), Ok(true));
            }
            for owner in 0..2 {
                let span = buffers.get_mut(0).and_then(|buffer| buffer.allocate(6)).unwrap();
                buffers.get_mut(0).unwrap().occupy(span.allocation, 6, owner);
                spans.push(span);
            }
            let buffer = buffers.get_mut(0).unwrap();
            (buffer.too_large, buffer.empty_since) = (9, 77);
            (buffer.is_packed, buffer.is_settled) = (true, true);
            let state = |buffer: &Buffer| {
                let Buffer { used, too_large, empty_since, is_packed, is_settled, .. } = *buffer;
                (used, too_large, empty_since, is_packed, is_settled)
            };
            let before = state(buffer);

            let freed = buffers.free_unread((1, spans[1]), 6, &Frames::default()).unwrap();
            assert_ne!(state(buffers.get(0).unwrap()), before);
            let other = buffers.allocate_without_growing(other_size).unwrap();
            assert_eq!(other.buffer, u16::from(other_size == 20));
            buffers.free(other, 3);
            let span = buffers.restore(freed);

            let buffer = buffers.get(0).unwrap();
            assert_eq!((state(buffer), span.first), (before, spans[1].first));
            assert_eq!(buffer.owner(span.allocation), 1);
            buffer.space.validate().unwrap();
        }
    }
}
