use bytemuck::Pod;

use super::VertexPool;
use crate::{MAX_PARTS, MeshHandle};

/// A place that a mesh lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshRange {
    /// The buffer's number.
    pub buffer: u32,
    /// The first element there.
    pub first: u32,
    /// How many elements of each part lie there, one part after the other.
    pub part_counts: [u32; MAX_PARTS],
}

/// Where meshes lie, for those who make commands of it themselves.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Where a mesh lies: in one place, or in several, in order, where it was split. A mesh
    /// of no elements, and one that is gone, lies nowhere.
    ///
    /// That holds until the mesh is replaced or [moved](Self::moved).
    ///
    /// # Cost
    /// Some ten nanoseconds a place.
    pub fn ranges_of(&self, handle: MeshHandle) -> impl Iterator<Item = MeshRange> + '_ {
        let mesh = self.mesh(handle);
        mesh.into_iter().flat_map(|mesh| {
            let spans = self.pieces.spans(0, mesh.placed(), mesh.len());
            spans.map(|(span, held, _)| MeshRange {
                buffer: span.buffer.into(),
                first: span.first,
                part_counts: mesh.ranges.counts_within(&held),
            })
        })
    }

    /// The meshes that the last call of [`defragment`](Self::defragment) moved, in no
    /// order; one that lies in several places may be named several times, and one that was
    /// removed since is stale.
    pub fn moved(&self) -> &[MeshHandle] {
        &self.defragmenter.moved
    }

    /// How many commands draw every part of every mesh one by one: what there is to draw
    /// when nothing is masked and no neighbours are merged, and the most that there can be.
    ///
    /// # Cost
    /// O(meshes).
    pub fn command_count(&self) -> u64 {
        let pattern = self.config.pattern_elements;
        let of_place = |place: MeshRange| {
            let of_part = |count: u32| u64::from(count.div_ceil(pattern));
            place.part_counts.map(of_part).iter().sum::<u64>()
        };
        self.iter().flat_map(|(handle, _)| self.ranges_of(handle)).map(of_place).sum()
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use drystone_testing::Random;

    use super::*;
    use crate::{Access, Config, MoveBudget, NullBackend, Oversize, PartSet, part_runs::RunTable};

    type Pool = VertexPool<u32, u32>;

    /// A pool of small buffers, in which every tenth mesh or so is split, and some meshes.
    fn filled(random: &mut Random) -> (Pool, Vec<MeshHandle>) {
        let mut pool = Pool::new(Config {
            least_buffer_elements: 64,
            max_buffer_elements: 64,
            oversize: Oversize::Split,
            pattern_elements: 7,
            ..Config::default()
        })
        .unwrap();
        let meshes = (0..100).map(|_| {
            let most = if random.below(10) == 0 { 60_u32 } else { 8 };
            let counts = [0; 4].map(|_| random.below(most).saturating_sub(2));
            let elements = vec![0; counts.iter().sum::<u32>() as usize];
            pool.insert(&elements, &counts, 0, &mut NullBackend(Access::Staged)).unwrap()
        });
        let meshes = meshes.collect();
        (pool, meshes)
    }

    /// The commands of a mesh's part, made of its places alone.
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
    fn places_are_where_commands_read() {
        let (pool, meshes) = filled(&mut Random::new(1));
        let (mut max_places, mut all, mut table) = (0, 0, RunTable::new());
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
            max_places = max_places.max(pool.ranges_of(mesh).count());
        }
        assert!(max_places > 2);
        assert_eq!(pool.command_count(), all);
    }

    /// Whatever lies elsewhere after a call was moved by it.
    #[test]
    fn moved_names_what_lies_elsewhere() {
        let mut random = Random::new(2);
        let (mut pool, mut meshes) = filled(&mut random);
        meshes.retain(|&mesh| random.below(3) == 0 || pool.remove(mesh).is_err());
        let places = |pool: &Pool| {
            let of = |&mesh: &MeshHandle| pool.ranges_of(mesh).collect::<Vec<_>>();
            meshes.iter().map(of).collect::<Vec<_>>()
        };
        let mut moves = 0;
        for frame in 1..40 {
            let before = places(&pool);
            let budget = MoveBudget { bytes: 1 << 10, moves: 3 };
            let moved = pool.defragment(&budget, &mut NullBackend(Access::Staged));
            assert_eq!(pool.moved().len(), moved.moves as usize);
            for ((mesh, before), after) in meshes.iter().zip(&before).zip(&places(&pool)) {
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
