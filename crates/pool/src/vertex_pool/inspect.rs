use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use super::VertexPool;
use crate::{
    allocation::{NO_OWNER, Span},
    config::PoolConfig,
    mesh::{Mesh, MeshHandle},
    stats::{MeshRange, PoolRange, PoolStats, RangeState},
};

/// Inspection.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Returns the configuration of the pool.
    pub const fn config(&self) -> &PoolConfig {
        self.storage.config()
    }

    /// Number of meshes in the pool.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.meshes.len()
    }

    /// Returns whether the pool contains no mesh.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.meshes.len() == 0
    }

    /// Returns the per-draw data of a mesh, or `None` if the handle is stale.
    #[inline]
    pub fn data(&self, handle: MeshHandle) -> Option<&D> {
        self.meshes.get(handle)?;
        self.table.all().get(handle.slot() as usize)
    }

    /// Iterates over all meshes with their per-draw data, in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (MeshHandle, &D)> {
        let data = self.table.all();
        self.meshes.iter().filter_map(|(mesh, _)| Some((mesh, data.get(mesh.slot() as usize)?)))
    }

    /// Returns statistics of the pool.
    ///
    /// # Cost
    /// O(meshes), reading one word each, and O(buffers); with ranges, one `RangeSpace::stats` per
    /// buffer.
    pub fn stats(&self) -> PoolStats {
        let parts = self.meshes.iter().map(|(_, mesh)| u64::from(mesh.ranges.part_count()));
        PoolStats {
            meshes: self.meshes.len(),
            parts: parts.sum(),
            last_frame: self.frames.last_traffic(),
            ..self.storage.buffers.stats()
        }
    }

    /// Returns a counter that increases with every change that can invalidate built commands.
    #[inline]
    pub const fn revision(&self) -> u64 {
        self.meshes.changes.revision()
    }

    /// Returns all ranges of all buffers, sorted by buffer and offset, without holes.
    ///
    /// # Cost
    /// O(meshes · log meshes), and memory for the result.
    pub fn ranges(&self) -> Vec<PoolRange> {
        let mut taken = self.used_ranges();
        taken.sort_by_key(|range| (range.buffer, range.elements.start));
        let mut all = Vec::with_capacity(taken.len() * 2);
        let mut taken = taken.into_iter().peekable();
        for buffer in self.storage.buffers.iter() {
            let number = u32::from(buffer.number);
            let free = |elements| PoolRange { buffer: number, elements, state: RangeState::Free };
            let mut end = 0;
            while let Some(range) = taken.next_if(|range| range.buffer == number) {
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
    fn used_ranges(&self) -> Vec<PoolRange> {
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

    /// Iterates over the ranges of a mesh in order: one range, or several for a split mesh. A mesh
    /// without elements and a removed mesh have no range.
    ///
    /// The ranges are valid until the mesh is replaced or [moved](Self::moved).
    ///
    /// # Cost
    /// About ten nanoseconds per range.
    pub fn ranges_of(&self, handle: MeshHandle) -> impl Iterator<Item = MeshRange> + '_ {
        self.meshes.get(handle).into_iter().flat_map(move |mesh| {
            self.spans(mesh).map(|(span, held)| MeshRange {
                buffer: span.buffer.into(),
                first: span.first,
                part_counts: mesh.ranges.counts_within(&held),
            })
        })
    }

    /// Iterates over the allocations of a mesh, with the mesh's elements in each.
    fn spans(&self, mesh: &Mesh) -> impl Iterator<Item = (Span, Range<u32>)> {
        self.storage.pieces.spans(mesh.location(), mesh.len())
    }

    /// Returns the meshes moved by the last call of [`defragment`](Self::defragment), unsorted. A
    /// split mesh can occur several times, and a mesh that was removed later is stale.
    pub fn moved(&self) -> &[MeshHandle] {
        self.defragmenter.moved()
    }

    /// Number of commands for drawing each part of each mesh separately: without masks, and without
    /// merging adjacent parts. This is the maximum number of commands for the pool.
    ///
    /// # Cost
    /// O(meshes).
    pub fn command_count(&self) -> u64 {
        let pattern = self.config().pattern_elements;
        let of_range = |range: MeshRange| {
            let of_part = |count: u32| u64::from(count.div_ceil(pattern));
            range.part_counts.map(of_part).iter().sum::<u64>()
        };
        self.iter().flat_map(|(handle, _)| self.ranges_of(handle)).map(of_range).sum()
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
}
