use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use crate::{MeshHandle, VertexPool};

/// What lies in a stretch of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeState {
    /// Elements of this mesh.
    Live(MeshHandle),
    /// Elements that nobody draws any more and that unfinished frames may still read.
    Waiting,
    /// Nothing. What buckets leave over counts as well.
    Free,
}

/// A stretch of a buffer, for pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolRange {
    /// The buffer's number.
    pub buffer: u32,
    /// The elements.
    pub elements: Range<u32>,
    /// What lies there.
    pub state: RangeState,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Everything that lies in the buffers, by buffer and place, without holes.
    ///
    /// # Cost
    /// O(meshes · log meshes), and memory for the answer.
    pub fn places(&self) -> Vec<PoolRange> {
        let mut taken = self.taken_places();
        taken.sort_by_key(|place| (place.buffer, place.elements.start));
        let mut all = Vec::with_capacity(taken.len() * 2);
        let mut taken = taken.into_iter().peekable();
        for (number, buffer) in self.buffers.iter() {
            let buffer_number = u32::from(number);
            let free =
                |elements| PoolRange { buffer: buffer_number, elements, state: RangeState::Free };
            let mut end = 0;
            while let Some(place) = taken.next_if(|place| place.buffer == buffer_number) {
                if place.elements.start > end {
                    all.push(free(end..place.elements.start));
                }
                end = place.elements.end;
                all.push(place);
            }
            if buffer.elements > end {
                all.push(free(end..buffer.elements));
            }
        }
        all
    }

    /// Where meshes are, and what waits, in no order.
    pub(crate) fn taken_places(&self) -> Vec<PoolRange> {
        let mut taken = Vec::new();
        for (handle, mesh) in &self.meshes {
            let state = RangeState::Live(self.handle(handle));
            for (span, range, _) in self.pieces.spans(handle.index(), mesh.placed(), mesh.len()) {
                let elements = span.first..span.first + (range.end - range.start);
                taken.push(PoolRange { buffer: span.buffer.into(), elements, state });
            }
        }
        taken.extend(self.buffers.retired.iter().map(|retired| PoolRange {
            buffer: retired.span.buffer.into(),
            elements: retired.span.first..retired.span.first + retired.count,
            state: RangeState::Waiting,
        }));
        taken
    }
}
