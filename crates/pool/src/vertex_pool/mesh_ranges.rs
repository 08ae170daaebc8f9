use bytemuck::Pod;

use super::VertexPool;
use crate::{MAX_PARTS, MeshHandle};

/// Range of a buffer that holds elements of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshRange {
    /// Number of the buffer.
    pub buffer: u32,
    /// First element in the buffer.
    pub first: u32,
    /// Number of elements of each part in this range. The parts are stored in sequence.
    pub part_counts: [u32; MAX_PARTS],
}

/// Allocations of meshes, for callers that build their own commands.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Iterates over the ranges of a mesh in order: one range, or several for a split mesh. A mesh
    /// without elements and a removed mesh have no range.
    ///
    /// The ranges are valid until the mesh is replaced or [moved](Self::moved).
    ///
    /// # Cost
    /// About ten nanoseconds per range.
    pub fn ranges_of(&self, handle: MeshHandle) -> impl Iterator<Item = MeshRange> + '_ {
        let mesh = self.mesh(handle);
        mesh.into_iter().flat_map(|mesh| {
            let spans = self.pieces.spans(0, mesh.location(), mesh.len());
            spans.map(|(span, held, _)| MeshRange {
                buffer: span.buffer.into(),
                first: span.first,
                part_counts: mesh.ranges.counts_within(&held),
            })
        })
    }

    /// Returns the meshes moved by the last call of [`defragment`](Self::defragment), unsorted. A
    /// split mesh can occur several times, and a mesh that was removed later is stale.
    pub fn moved(&self) -> &[MeshHandle] {
        &self.defragmenter.moved
    }

    /// Number of commands for drawing each part of each mesh separately: without masks, and without
    /// merging adjacent parts. This is the maximum number of commands for the pool.
    ///
    /// # Cost
    /// O(meshes).
    pub fn command_count(&self) -> u64 {
        let pattern = self.config.pattern_elements;
        let of_range = |range: MeshRange| {
            let of_part = |count: u32| u64::from(count.div_ceil(pattern));
            range.part_counts.map(of_part).iter().sum::<u64>()
        };
        self.iter().flat_map(|(handle, _)| self.ranges_of(handle)).map(of_range).sum()
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use drystone_testing::Random;

    use super::*;
    use crate::{Access, Config, MoveBudget, NullBackend, Oversize, PartSet, part_runs::RunTable};

    type Pool = VertexPool<u32, u32>;

    /// Creates a pool of small buffers with some meshes; about every tenth mesh is split.
    fn filled(random: &mut Random) -> (Pool, Vec<MeshHandle>) {
        let mut pool = Pool::new(Config {
            min_buffer_elements: 64,
            max_buffer_elements: 64,
            oversize: Oversize::Split,
            pattern_elements: 7,
            ..Config::default()
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
        let (mut max_ranges, mut all, mut table) = (0, 0, RunTable::new());
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
