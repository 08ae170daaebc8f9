use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use super::VertexPool;
use crate::{
    allocation::{NO_OWNER, Span},
    mesh::Mesh,
    stats::{PoolRange, RangeState},
};

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Returns the live and waiting ranges, unsorted.
    pub(super) fn used_ranges(&self) -> Vec<PoolRange> {
        let range = |span: Span, count: u32, state| PoolRange {
            buffer: span.buffer.into(),
            elements: span.first..span.first + count,
            state,
        };
        let live = self.meshes.iter().flat_map(|(handle, mesh)| {
            let spans = self.spans(mesh);
            spans.map(move |(span, held)| {
                range(span, held.end - held.start, RangeState::Live(handle))
            })
        });
        let retired = self.storage.buffers.retired().iter();
        live.chain(retired.map(|it| range(it.span, it.count, RangeState::Waiting))).collect()
    }

    /// Iterates over the allocations of a mesh, with the mesh's elements in each.
    pub(super) fn spans(&self, mesh: &Mesh) -> impl Iterator<Item = (Span, Range<u32>)> {
        self.storage.pieces.spans(mesh.location(), mesh.len())
    }

    /// Checks that each allocation has its owner, and that there are no other owners.
    fn validate_owners(&self) -> Result<(), &'static str> {
        let mut owned = 0;
        for (handle, mesh) in self.meshes.iter() {
            for (span, _) in self.spans(mesh) {
                let buffer =
                    self.storage.buffers.get(span.buffer).ok_or("a mesh is in no buffer")?;
                if buffer.owner(span.allocation) != handle.slot() {
                    return Err("an allocation has another owner than its mesh");
                }
                owned += 1;
            }
        }
        let owners = self.storage.buffers.iter().flat_map(|buffer| &buffer.owners);
        match owners.filter(|&&owner| owner != NO_OWNER).count() == owned {
            true => Ok(()),
            false => Err("the owner of an allocation is not one of its meshes"),
        }
    }

    /// Checks all invariants of the structure, for tests.
    ///
    /// # Errors
    /// Description of the first violated invariant.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.meshes.validate()?;
        let mut end = (0, 0);
        for range in self.ranges() {
            if range.buffer != end.0 {
                end = (range.buffer, 0);
            }
            if range.elements.start != end.1 {
                return Err("two ranges overlap");
            }
            end.1 = range.elements.end;
            let buffer = self.storage.buffers.get(range.buffer as u16);
            if range.elements.end > buffer.ok_or("a range is in no buffer")?.elements {
                return Err("a range exceeds its buffer");
            }
        }
        self.storage.validate(&self.used_ranges())?;
        self.validate_owners()
    }
}
