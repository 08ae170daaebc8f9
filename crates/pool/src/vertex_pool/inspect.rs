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
            let spans = self.spans(handle, mesh);
            spans.map(move |(span, held, _)| {
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
            self.spans(handle, mesh).map(|(span, held, _)| MeshRange {
                buffer: span.buffer.into(),
                first: span.first,
                part_counts: mesh.ranges.counts_within(&held),
            })
        })
    }

    /// Iterates over the allocations of a mesh, with the mesh's elements in each and the owner.
    fn spans(
        &self,
        handle: MeshHandle,
        mesh: &Mesh,
    ) -> impl Iterator<Item = (Span, Range<u32>, u32)> {
        self.storage.pieces.spans(handle.slot(), mesh.location(), mesh.len())
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
            for (span, _, owner) in self.spans(handle, mesh) {
                let buffer =
                    self.storage.buffers.get(span.buffer).ok_or("a mesh is in no buffer")?;
                if buffer.owner(span.allocation) != owner {
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

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use drystone_testing::Random;

    use super::*;
    use crate::{
        backend::{Access, NullBackend},
        config::{Oversize, PoolConfig},
        defragmenter::MoveBudget,
        parts::{PartSet, RunTable},
    };

    type Pool = VertexPool<u32, u32>;

    /// Creates a pool of small buffers with some meshes; about every tenth mesh is split.
    fn filled(random: &mut Random) -> (Pool, Vec<MeshHandle>) {
        let mut pool = Pool::new(PoolConfig {
            min_buffer_elements: 64,
            max_buffer_elements: 64,
            oversize: Oversize::Split,
            pattern_elements: 7,
            ..PoolConfig::default()
        })
        .unwrap();
        let meshes = (0..100).map(|_| {
            let max = if random.below(10) == 0 { 60_u32 } else { 8 };
            let counts = [0; 4].map(|_| random.below(max).saturating_sub(2));
            let elements = vec![0; counts.iter().sum::<u32>() as usize];
            pool.insert(&elements, &counts, 0, &mut NullBackend(Access::Staged)).unwrap()
        });
        let meshes = meshes.collect();
        (pool, meshes)
    }

    /// Derives the commands of a mesh's part from its ranges only.
    fn commands_of(pool: &Pool, mesh: MeshHandle, part: usize) -> Vec<(u32, u32, u32)> {
        let mut commands = Vec::new();
        for MeshRange { buffer, first, part_counts } in pool.ranges_of(mesh) {
            let mut start = first + part_counts[..part].iter().sum::<u32>();
            let mut left = part_counts[part];
            while left > 0 {
                let count = left.min(pool.config().pattern_elements);
                commands.push((buffer, start, count));
                start += count;
                left -= count;
            }
        }
        commands
    }

    #[test]
    fn ranges_agree_with_emitted_commands() {
        let (pool, meshes) = filled(&mut Random::new(1));
        let (mut max_ranges, mut all, mut table) = (0, 0, RunTable::default());
        for &mesh in &meshes {
            for part in 0..4 {
                let mut emitted = Vec::new();
                pool.emit_commands(
                    mesh,
                    PartSet::EMPTY.with(part),
                    &mut table,
                    |buffer, command| {
                        emitted.push((
                            buffer,
                            command.base_vertex as u32 / 4,
                            command.index_count / 6,
                        ));
                    },
                );
                assert_eq!(commands_of(&pool, mesh, part), emitted);
                all += emitted.len() as u64;
            }
            max_ranges = max_ranges.max(pool.ranges_of(mesh).count());
        }
        assert!(max_ranges > 2);
        assert_eq!(pool.command_count(), all);
    }

    /// A mesh is listed as moved exactly if its ranges have changed.
    #[test]
    fn moved_lists_the_meshes_with_changed_ranges() {
        let mut random = Random::new(2);
        let (mut pool, mut meshes) = filled(&mut random);
        meshes.retain(|&mesh| random.below(3) == 0 || pool.remove(mesh).is_err());
        let ranges = |pool: &Pool| {
            let of = |&mesh: &MeshHandle| pool.ranges_of(mesh).collect::<Vec<_>>();
            meshes.iter().map(of).collect::<Vec<_>>()
        };
        let mut moves = 0;
        for frame in 1..40 {
            let before = ranges(&pool);
            let budget = MoveBudget { bytes: 1 << 10, moves: 3 };
            let moved = pool.defragment(&budget, &mut NullBackend(Access::Staged));
            assert_eq!(pool.moved().len(), moved.moves as usize);
            for ((mesh, before), after) in meshes.iter().zip(&before).zip(&ranges(&pool)) {
                assert_eq!(pool.moved().contains(mesh), before != after);
            }
            moves += moved.moves;
            pool.frame_submitted(frame);
            pool.frames_completed(frame, &mut NullBackend(Access::Staged));
        }
        assert!(moves > 10);
        pool.clear();
        assert!(meshes.iter().all(|&mesh| pool.ranges_of(mesh).next().is_none()));
    }
}
