use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use crate::{MeshHandle, VertexPool};

/// State of a range of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeState {
    /// Elements of this mesh.
    Live(MeshHandle),
    /// Freed elements that frames in flight may still read.
    Waiting,
    /// Free, including the unused rest of a bucket.
    Free,
}

/// Range of a buffer and its state, for inspection and maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolRange {
    /// Number of the buffer.
    pub buffer: u32,
    /// Range of elements in the buffer.
    pub elements: Range<u32>,
    /// State of the range.
    pub state: RangeState,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Returns all ranges of all buffers, sorted by buffer and offset, without holes.
    ///
    /// # Cost
    /// O(meshes · log meshes), and memory for the result.
    pub fn ranges(&self) -> Vec<PoolRange> {
        let mut taken = self.used_ranges();
        taken.sort_by_key(|range| (range.buffer, range.elements.start));
        let mut all = Vec::with_capacity(taken.len() * 2);
        let mut taken = taken.into_iter().peekable();
        for (number, buffer) in self.buffers.iter() {
            let buffer_number = u32::from(number);
            let free =
                |elements| PoolRange { buffer: buffer_number, elements, state: RangeState::Free };
            let mut end = 0;
            while let Some(range) = taken.next_if(|range| range.buffer == buffer_number) {
                if range.elements.start > end {
                    all.push(free(end..range.elements.start));
                }
                end = range.elements.end;
                all.push(range);
            }
            if buffer.elements > end {
                all.push(free(end..buffer.elements));
            }
        }
        all
    }

    /// Returns the live and waiting ranges, unsorted.
    pub(crate) fn used_ranges(&self) -> Vec<PoolRange> {
        let mut taken = Vec::new();
        for (handle, mesh) in &self.meshes {
            let state = RangeState::Live(self.handle(handle));
            for (span, range, _) in self.pieces.spans(handle.index(), mesh.location(), mesh.len()) {
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
