//! How much memory a scene that changes needs at least.

use std::collections::HashMap;

use drystone::scene::mesh_chunk;
use drystone_mesh::Face;
use drystone_pool::{
    Access, Config, MeshHandle, MoveBudget, Nowhere, Oversize, Placement, PoolError, VertexPool,
};
use drystone_voxel::ChunkPos;

use crate::drawing::{changing::Changes, scene::RandomScene};

/// Frames that the scene changes for.
const FRAMES: usize = 40;

/// What is moved before a frame, at most, to keep meshes together: as in the renderer.
const MOVES: MoveBudget = MoveBudget { bytes: 256 << 10, moves: 64 };

/// The least room is found to one part in so many.
const PRECISION: u32 = 1_000;

/// Quads of each facing.
type Counts = [u32; Face::COUNT];

/// The sizes of a scene's meshes, and what becomes of them frame by frame.
pub(super) struct Replay {
    first: Vec<Counts>,
    frames: Vec<Vec<(usize, Counts)>>,
}

impl Replay {
    pub(super) fn of(scene: &RandomScene) -> Result<Self, String> {
        let mut world = scene.world.clone();
        let numbers: HashMap<ChunkPos, usize> =
            world.positions().enumerate().map(|(number, position)| (position, number)).collect();
        let mut first = vec![Counts::default(); numbers.len()];
        for chunk in &scene.quads {
            first[numbers[&chunk.position]] = chunk.mesh.opaque.counts();
        }
        let mut changes = Changes::of(scene);
        let mut frames = Vec::new();
        for _ in 0..FRAMES {
            let mut positions = Vec::new();
            for (position, chunk) in changes.next_frame() {
                world.insert(position, chunk).map_err(|error| error.to_string())?;
                positions.push(position);
            }
            let meshed = positions.into_iter().map(|position| {
                (numbers[&position], mesh_chunk(&world, position).mesh.opaque.counts())
            });
            frames.push(meshed.collect());
        }
        Ok(Self { first, frames })
    }

    /// The scene as it is at first, which stays.
    pub(super) fn still(&self) -> Self {
        Self { first: self.first.clone(), frames: Vec::new() }
    }

    /// The part of what is reserved that no mesh has when they have most, 0 to 1, where as
    /// little is reserved as the scene needs to get through all of its frames.
    pub(super) fn waste(&self, placement: &Placement) -> Result<f64, String> {
        let peak = self.peak();
        let step = match placement {
            Placement::Buckets { elements } => *elements,
            _ => (peak / PRECISION).max(1),
        };
        // In steps: so many are too few, so many are enough.
        let (mut low, mut high) = (peak.saturating_sub(1) / step, None);
        for doubling in 1..=6 {
            let steps = ((peak / step).max(1) << doubling).max(self.first.len() as u32 * doubling);
            if self.fits(placement, steps.saturating_mul(step))? {
                high = Some(steps);
                break;
            }
        }
        let mut high = high.ok_or("it does not fit into a multiple of what it has")?;
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

    /// Quads in meshes, when there are most.
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

    /// Whether one buffer of so many quads is enough.
    fn fits(&self, placement: &Placement, capacity: u32) -> Result<bool, String> {
        match self.run(placement, capacity) {
            Ok(()) => Ok(true),
            Err(PoolError::Full { .. } | PoolError::MeshTooLarge { .. }) => Ok(false),
            Err(error) => Err(error.to_string()),
        }
    }

    fn run(&self, placement: &Placement, capacity: u32) -> Result<(), PoolError> {
        let config = Config {
            placement: placement.clone(),
            oversize: Oversize::Split,
            ..Config::fixed(capacity, self.first.len() as u32)
        };
        let mut pool = VertexPool::<u64, u32>::new(config)?;
        let quads = vec![0_u64; self.largest()];
        let of = |counts: &Counts| &quads[..counts.iter().sum::<u32>() as usize];
        let meshes: Result<Vec<MeshHandle>, _> = self
            .first
            .iter()
            .map(|counts| pool.insert(of(counts), counts, 0, &mut Nowhere(Access::Staged)))
            .collect();
        let meshes = meshes?;
        for (number, frame) in (1..).zip(&self.frames) {
            for (mesh, counts) in frame {
                pool.replace(meshes[*mesh], of(counts), counts, 0, &mut Nowhere(Access::Staged))?;
            }
            pool.frame_submitted(number);
            pool.frames_completed(number, &mut Nowhere(Access::Staged));
            pool.defragment(&MOVES, &mut Nowhere(Access::Staged));
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

    /// Ten meshes of 60 quads, of which one grows to 66.
    fn growing() -> Replay {
        Replay { first: vec![[10; 6]; 10], frames: vec![vec![(0, [11; 6])]] }
    }

    #[test]
    fn waste_is_what_buckets_leave() {
        let waste = |placement| growing().still().waste(&placement).unwrap();
        assert_eq!(waste(buckets(60)), 0.0);
        assert!((waste(buckets(80)) - 0.25).abs() < 1e-9);
        assert_eq!(waste(Placement::Ranges), 0.0);
        // Split in two: 35 and 25.
        assert!((waste(buckets(35)) - (1.0 - 600.0 / 700.0)).abs() < 1e-9);
    }

    #[test]
    fn a_mesh_is_replaced_before_it_is_given_up() {
        let waste = |placement| growing().waste(&placement).unwrap();
        // Eleven buckets for ten meshes.
        assert!((waste(buckets(66)) - (1.0 - 606.0 / 726.0)).abs() < 1e-9);
        assert!((waste(Placement::Ranges) - (1.0 - 606.0 / 666.0)).abs() < 1e-9);
    }
}
