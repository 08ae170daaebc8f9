//! Table `noise`: chunks of coherent noise that travel along X. All of them are meshed again before
//! every frame.

use std::rc::Rc;

use drystone_voxel::{Chunk, ChunkPos, LocalPos, VoxelPos};

use super::{
    changing::{Changes, run_case},
    scene::{NOISE_COLOR, RandomScene},
    still::cases,
};
use crate::{Error, Failure, Run, noise_field::NoiseField};

/// Distance between two positions of the travel, in voxels.
const STEP: i32 = 1;
/// Number of positions. The travel goes back and forth, so that no contender has to sample noise.
const POSITIONS: i32 = 2;

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for (case, side, chunks_per_side) in cases(run.options) {
        let prepared = run.prepare(case, || {
            let travel = Travel::new(side, chunks_per_side);
            Ok((travel.scene(side, chunks_per_side)?, travel))
        })?;
        let Some((scene, travel)) = prepared else { continue };
        eprintln!("{case}: {}", ChunkQuads::of(&scene));
        run_case(run, case, scene, &|| Box::new(travel.clone()))?;
    }
    Ok(())
}

/// The scene at each position of its travel.
#[derive(Clone)]
struct Travel {
    positions: Rc<[Vec<(ChunkPos, Chunk)>]>,
    at: usize,
}

impl Travel {
    fn new(side: u32, chunks_per_side: u32) -> Self {
        let field = NoiseField::new(side * chunks_per_side);
        let n = chunks_per_side as i32;
        let chunks = |shift: i32| {
            let positions = (0..n.pow(3)).map(|i| ChunkPos::new(i % n, i / n % n, i / n / n));
            let chunk = |position: ChunkPos| {
                let origin = position.origin(side);
                Chunk::from_fn(side, |LocalPos { x, y, z }| {
                    let [x, y, z] = [x, y, z].map(i32::from);
                    let x = origin.x + x + shift * STEP;
                    field.material(VoxelPos::new(x, origin.y + y, origin.z + z))
                })
            };
            positions.map(|position| (position, chunk(position))).collect()
        };
        Self { positions: (0..POSITIONS).map(chunks).collect(), at: 0 }
    }

    /// Returns the scene at the first position.
    fn scene(&self, side: u32, chunks_per_side: u32) -> Result<RandomScene, Failure> {
        let chunks = self.positions[0].iter().cloned();
        RandomScene::of_chunks(side, [chunks_per_side; 3], &[NOISE_COLOR], chunks)
    }
}

impl Changes for Travel {
    fn per_frame(&self) -> u32 {
        self.positions[0].len() as u32
    }

    fn next_frame(&mut self) -> Vec<(ChunkPos, Chunk)> {
        self.at = (self.at + 1) % self.positions.len();
        self.positions[self.at].clone()
    }
}

/// Distribution of the number of quads of chunks that have any, which varies widely.
struct ChunkQuads {
    mean: f64,
    median: usize,
    percentile_95: usize,
}

impl ChunkQuads {
    fn of(scene: &RandomScene) -> Self {
        let mut counts: Vec<usize> = scene.quads.iter().map(|chunk| chunk.mesh.len()).collect();
        counts.sort_unstable();
        let at = |percent: usize| counts.get(counts.len() * percent / 100).copied().unwrap_or(0);
        Self { mean: scene.mean_quads(), median: at(50), percentile_95: at(95) }
    }
}

impl std::fmt::Display for ChunkQuads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { mean, median, percentile_95 } = self;
        write!(f, "{mean:.0} quads per chunk, median {median}, 95th percentile {percentile_95}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions are one step apart, and repeat.
    #[test]
    fn a_travel_moves_the_scene_by_its_step() {
        let mut travel = Travel::new(16, 2);
        let first = travel.positions[0].clone();
        let second = travel.next_frame();
        assert_eq!(second.len(), 8);
        for ((position, chunk), (at, moved)) in first.iter().zip(&second) {
            assert_eq!(position, at);
            for (y, z) in [(0, 0), (3, 9), (15, 15)] {
                for x in 1..16 {
                    let [here, before] = [x, x - 1].map(|x| LocalPos::new(x, y, z));
                    assert_eq!(chunk.get(here), moved.get(before));
                }
            }
        }
        assert!(first != second && travel.next_frame() == first);
    }

    #[test]
    fn noise_is_neither_full_nor_empty() {
        let scene = Travel::new(16, 3).scene(16, 3).unwrap();
        let solid = scene.world.solid_count() as f64 / f64::from(48_u32.pow(3));
        assert!(solid > 0.2 && solid < 0.8, "{solid}");
        let quads = ChunkQuads::of(&scene);
        assert!(quads.median > 0 && quads.percentile_95 > quads.median);
    }
}
