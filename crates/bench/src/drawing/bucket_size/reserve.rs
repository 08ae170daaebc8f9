//! Memory that a changing scene needs, and how it is used.

use std::collections::HashMap;

use drystone::scene::mesh_chunk;
use drystone_mesh::Face;
use drystone_pool::{
    Access, MeshHandle, MoveBudget, NullBackend, Oversize, Placement, PoolConfig, PoolError,
    PoolStats, VertexPool,
};
use drystone_render::capacity_for;
use drystone_voxel::ChunkPos;

use crate::{
    Failure,
    drawing::{
        changing::{Changes, RandomChanges},
        scene::RandomScene,
    },
};

/// Number of frames during which the scene changes.
const FRAMES: usize = 40;

/// Budget of defragmentation per frame, as in the renderer.
const MOVES: MoveBudget = MoveBudget::DEFAULT.with_bytes(256 << 10).with_moves(64);

/// Frames by which the GPU is behind.
const FRAMES_IN_FLIGHT: u64 = 2;

/// Precision of the search for the smallest capacity: one part in this many.
const PRECISION: u32 = 1_000;

/// Quads of each face direction.
type Counts = [u32; Face::COUNT];

/// Shares of the memory that a pool reserves, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shares {
    /// Unused share of the allocated memory.
    pub(super) waste: f64,
    /// Free share of all memory outside the largest gap of each buffer: small gaps, or buckets.
    pub(super) gaps: f64,
    /// Share of all memory in old allocations that frames in flight may still read.
    pub(super) waiting: f64,
    /// Share of all memory in the largest gap of each buffer, which is for later meshes.
    pub(super) spare: f64,
}

/// Sizes of a scene's meshes, and their changes frame by frame.
pub(super) struct Replay {
    first: Vec<Counts>,
    frames: Vec<Vec<(usize, Counts)>>,
}

impl Replay {
    pub(super) fn of(scene: &RandomScene) -> Result<Self, Failure> {
        let mut world = scene.world.clone();
        let numbers: HashMap<ChunkPos, usize> =
            world.positions().enumerate().map(|(number, position)| (position, number)).collect();
        let mut first = vec![Counts::default(); numbers.len()];
        for chunk in &scene.quads {
            first[numbers[&chunk.position]] = chunk.mesh.opaque.counts();
        }
        let mut changes = RandomChanges::of(scene);
        let mut frames = Vec::new();
        for _ in 0..FRAMES {
            let mut positions = Vec::new();
            for (position, chunk) in changes.next_frame() {
                world.insert(position, chunk)?;
                positions.push(position);
            }
            let meshed = positions.into_iter().map(|position| {
                (numbers[&position], mesh_chunk(&world, position).mesh.opaque.counts())
            });
            frames.push(meshed.collect());
        }
        Ok(Self { first, frames })
    }

    /// Creates a scene that does not change.
    pub(super) fn still(&self) -> Self {
        Self { first: self.first.clone(), frames: Vec::new() }
    }

    /// Returns the unused share of the reserved memory, 0 to 1, in the frame with the largest
    /// meshes. The reserved memory is the smallest with which all frames succeed.
    pub(super) fn waste(&self, placement: &Placement) -> Result<f64, Failure> {
        let peak = self.peak();
        let step = match placement {
            Placement::Buckets { elements } => *elements,
            _ => (peak / PRECISION).max(1),
        };
        // Binary search: `low` steps are too few, `high` steps are sufficient.
        let (mut low, mut high) = (peak.saturating_sub(1) / step, None);
        for doubling in 1..=6 {
            let steps = ((peak / step).max(1) << doubling).max(self.first.len() as u32 * doubling);
            if self.fits(placement, steps.saturating_mul(step))? {
                high = Some(steps);
                break;
            }
        }
        let mut high = high.ok_or("the meshes do not fit into a multiple of their size")?;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.fits(placement, middle * step)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(1.0 - f64::from(peak) / f64::from(high * step))
    }

    /// Returns the shares for a pool that grows when necessary, with frames in flight and direct
    /// writes. They are the means over the second half of the frames, before each draw, when most
    /// memory waits.
    pub(super) fn shares(&self, placement: &Placement) -> Result<Shares, Failure> {
        let first: u64 = self.first.iter().flatten().map(|&count| u64::from(count)).sum();
        let config = PoolConfig::default().with_placement(placement.clone());
        let capacity = capacity_for(first);
        let (mut sum, mut count) = (Shares::default(), 0);
        self.run(config, (capacity, Access::Direct), |number, stats| {
            if number * 2 > self.frames.len() {
                let of = |elements: u64| elements as f64 / stats.capacity.max(1) as f64;
                sum.waste += stats.internal_fragmentation();
                sum.gaps += of(stats.free - stats.largest_free_sum.min(stats.free));
                sum.waiting += of(stats.waiting);
                sum.spare += of(stats.largest_free_sum);
                count += 1;
            }
        })?;
        let mean = |sum: f64| sum / f64::from(count.max(1));
        Ok(Shares {
            waste: mean(sum.waste),
            gaps: mean(sum.gaps),
            waiting: mean(sum.waiting),
            spare: mean(sum.spare),
        })
    }

    /// Returns the largest number of quads in meshes.
    fn peak(&self) -> u32 {
        let mut sizes: Vec<u32> = self.first.iter().map(|counts| counts.iter().sum()).collect();
        let mut peak = sizes.iter().sum();
        for frame in &self.frames {
            for &(mesh, counts) in frame {
                sizes[mesh] = counts.iter().sum();
            }
            peak = sizes.iter().sum::<u32>().max(peak);
        }
        peak
    }

    /// Whether one buffer of this capacity in quads is sufficient.
    fn fits(&self, placement: &Placement, capacity: u32) -> Result<bool, Failure> {
        let config =
            PoolConfig::fixed(capacity, self.first.len() as u32).with_placement(placement.clone());
        match self.run(config, (0, Access::Staged), |_, _| {}) {
            Ok(()) => Ok(true),
            Err(PoolError::Full { .. } | PoolError::MeshTooLarge { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs all frames with a pool of an initial capacity. Calls the closure after the changes of
    /// each frame, with the frame number and the pool.
    fn run(
        &self,
        config: PoolConfig,
        (capacity, access): (u64, Access),
        mut on_frame: impl FnMut(usize, PoolStats),
    ) -> Result<(), PoolError> {
        let mut pool = VertexPool::<u64, u32>::new(config.with_oversize(Oversize::Split))?;
        let backend = &mut NullBackend(access);
        pool.reserve(capacity, backend)?;
        let quads = vec![0_u64; self.largest()];
        let of = |counts: &Counts| &quads[..counts.iter().sum::<u32>() as usize];
        let meshes: Result<Vec<MeshHandle>, _> =
            self.first.iter().map(|counts| pool.insert(of(counts), counts, 0, backend)).collect();
        let meshes = meshes?;
        for (number, frame) in (1..).zip(&self.frames) {
            for (mesh, counts) in frame {
                pool.replace(meshes[*mesh], of(counts), counts, 0, backend)?;
            }
            on_frame(number as usize, pool.stats());
            pool.frame_submitted(number);
            let in_flight = if access == Access::Direct { FRAMES_IN_FLIGHT } else { 0 };
            pool.frames_completed(number.saturating_sub(in_flight), backend);
            pool.defragment(&MOVES, backend);
        }
        Ok(())
    }

    fn largest(&self) -> usize {
        let changed = self.frames.iter().flatten().map(|(_, counts)| counts);
        let sizes = self.first.iter().chain(changed).map(|counts| counts.iter().sum::<u32>());
        sizes.max().unwrap_or(0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(elements: u32) -> Placement {
        Placement::Buckets { elements }
    }

    /// Ten meshes of 60 quads. One of them grows to 66.
    fn growing() -> Replay {
        Replay { first: vec![[10; 6]; 10], frames: vec![vec![(0, [11; 6])]] }
    }

    #[test]
    fn waste_is_the_unused_capacity_of_buckets() {
        let waste = |placement| growing().still().waste(&placement).unwrap();
        assert_eq!(waste(buckets(60)), 0.0);
        assert!((waste(buckets(80)) - 0.25).abs() < 1e-9);
        assert_eq!(waste(Placement::Ranges), 0.0);
        // Split in two: 35 and 25.
        assert!((waste(buckets(35)) - (1.0 - 600.0 / 700.0)).abs() < 1e-9);
    }

    #[test]
    fn a_new_mesh_needs_space_beside_the_old_one_or_around_it() {
        let waste = |placement| growing().waste(&placement).unwrap();
        // Eleven buckets for ten meshes.
        assert!((waste(buckets(66)) - (1.0 - 606.0 / 726.0)).abs() < 1e-9);
        // The first mesh cannot grow where it is, the last one can.
        assert!((waste(Placement::Ranges) - (1.0 - 606.0 / 666.0)).abs() < 1e-9);
        let last = Replay { frames: vec![vec![(9, [11; 6])]], ..growing() };
        assert_eq!(last.waste(&Placement::Ranges).unwrap(), 0.0);
        assert!(last.waste(&buckets(66)).unwrap() > 0.1);
    }

    #[test]
    fn shares_are_of_the_allocated_and_of_all_memory() {
        // A frame is in flight when the mesh grows.
        let Replay { first, frames } = growing();
        let replay = Replay { first, frames: [vec![Vec::new()], frames].concat() };
        let shares = |placement| replay.shares(&placement).unwrap();
        let all = f64::from(PoolConfig::default().min_buffer_elements);
        let ranges = shares(Placement::Ranges);
        // The old mesh waits in its range; the remaining memory is one range.
        let spare = 1.0 - 666.0 / all;
        assert_eq!(ranges, Shares { waste: 0.0, gaps: 0.0, waiting: 60.0 / all, spare });
        // Eleven buckets, in which 606 quads and the 60 that wait are in use.
        let waste = shares(buckets(80)).waste;
        assert!((waste - (1.0 - 666.0 / 880.0)).abs() < 1e-9, "{waste}");
    }
}
