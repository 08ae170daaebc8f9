//! Table `noise`: chunks in a field of coherent noise, through which they travel along X. All of them
//! are meshed again before every frame.

use std::{cell::RefCell, rc::Rc};

use drystone_voxel::{Chunk, ChunkPos, Material, VoxelPos};

use super::{
    changing::{Changes, run_case},
    contenders::Kind,
    scene::{NOISE_COLOR, RandomScene, chunk_positions},
    still::cases,
};
use crate::{Error, Failure, Run, noise_field::NoiseField};

/// Travel per frame, in voxels.
const STEP_VOXELS: usize = 1;

/// Case with the article's number of quads per chunk: name, voxels per side of a chunk, chunks per
/// side, and threshold of the noise. Most of its chunks are empty.
const SPARSE: (&str, u32, u32, f32) = ("16x10-sparse", 16, 10, 0.47);

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let article = cases(run.options).map(|(case, side, chunks)| (case, side, chunks, 0.0));
    for (case, side, chunks_per_side, threshold) in article.chain([SPARSE]) {
        let prepared = run.prepare(case, || {
            let travel = Travel::new(threshold, side, chunks_per_side);
            Ok((travel.scene()?, travel))
        })?;
        let Some((scene, travel)) = prepared else { continue };
        eprintln!("{case}: {}", ChunkQuads::of(&scene));
        run_case(run, case, scene, &Kind::ALL, &|| Box::new(travel.clone()))?;
    }
    Ok(())
}

/// Chunks on their way through a field.
#[derive(Clone)]
struct Travel {
    field: Rc<RefCell<Field>>,
    /// Voxels per side of a chunk.
    side: u32,
    chunks_per_side: u32,
    /// Number of frames so far.
    frame: usize,
}

/// The voxels of a field that were visited so far, so that no contender has to sample noise.
struct Field {
    noise: NoiseField,
    /// Voxels along Y and Z.
    size: u32,
    /// Voxels by X. Y is fastest, then Z.
    planes: Vec<Vec<Material>>,
}

impl Field {
    /// Samples all planes up to number `end`.
    fn reach(&mut self, end: usize) {
        let size = self.size as i32;
        for x in self.planes.len()..end {
            let voxels = (0..size * size).map(|i| VoxelPos::new(x as i32, i % size, i / size));
            self.planes.push(voxels.map(|voxel| self.noise.material(voxel)).collect());
        }
    }
}

impl Travel {
    fn new(threshold: f32, side: u32, chunks_per_side: u32) -> Self {
        let size = side * chunks_per_side;
        let field = Field { noise: NoiseField::above(threshold, size), size, planes: Vec::new() };
        Self { field: Rc::new(RefCell::new(field)), side, chunks_per_side, frame: 0 }
    }

    /// Returns the chunks at their present position in the field.
    fn chunks(&self) -> Vec<(ChunkPos, Chunk)> {
        let Self { field, side, chunks_per_side, frame } = self;
        let mut field = field.borrow_mut();
        let (size, start) = (field.size as usize, frame * STEP_VOXELS);
        field.reach(start + size);
        let chunk = |position: ChunkPos| {
            let origin = position.origin(*side);
            let chunk = Chunk::from_fn(*side, |local| {
                let [x, y, z] = [(origin.x, local.x), (origin.y, local.y), (origin.z, local.z)]
                    .map(|(origin, local)| origin as usize + usize::from(local));
                field.planes[start + x][y + size * z]
            });
            (position, chunk)
        };
        chunk_positions([*chunks_per_side; 3]).map(chunk).collect()
    }

    /// Returns the scene at the present position.
    fn scene(&self) -> Result<RandomScene, Failure> {
        let chunks = [self.chunks_per_side; 3];
        RandomScene::of_chunks(self.side, chunks, &[NOISE_COLOR], self.chunks().into_iter())
    }
}

impl Changes for Travel {
    fn per_frame(&self) -> u32 {
        self.chunks_per_side.pow(3)
    }

    fn next_frame(&mut self) -> Vec<(ChunkPos, Chunk)> {
        self.frame += 1;
        self.chunks()
    }
}

/// Number of quads per chunk, which varies widely.
struct ChunkQuads {
    /// Mean of all chunks.
    mean: f64,
    /// Number of chunks with quads. The following values are theirs.
    filled: usize,
    median: usize,
    percentile_95: usize,
}

impl ChunkQuads {
    fn of(scene: &RandomScene) -> Self {
        let mut counts: Vec<usize> = scene.quads.iter().map(|chunk| chunk.mesh.len()).collect();
        counts.sort_unstable();
        let at = |percent: usize| counts.get(counts.len() * percent / 100).copied().unwrap_or(0);
        let chunks = f64::from(scene.chunks.iter().product::<u32>());
        let mean = f64::from(scene.quad_count()) / chunks;
        Self { mean, filled: counts.len(), median: at(50), percentile_95: at(95) }
    }
}

impl std::fmt::Display for ChunkQuads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { mean, filled, median, percentile_95 } = self;
        write!(
            f,
            "{mean:.0} quads per chunk; {filled} chunks have any: median {median}, 95th \
             percentile {percentile_95}"
        )
    }
}

#[cfg(test)]
mod tests {
    use drystone_voxel::LocalPos;

    use super::*;

    /// The article's typical number of quads per chunk.
    const ARTICLE_QUADS: f64 = 30.0;

    /// Chunks move by a step in every frame, into voxels that were not visited before.
    #[test]
    fn a_travel_moves_the_scene_by_its_step() {
        let mut travel = Travel::new(0.0, 16, 2);
        let mut before = travel.chunks();
        for frame in 1..=40 {
            let moved = travel.next_frame();
            assert_eq!(moved.len(), 8);
            for ((position, chunk), (at, moved)) in before.iter().zip(&moved) {
                assert_eq!(position, at);
                for (y, z) in [(0, 0), (3, 9), (15, 15)] {
                    for x in 1..16 {
                        let [here, left] = [x, x - 1].map(|x| LocalPos::new(x, y, z));
                        assert_eq!(chunk.get(here), moved.get(left));
                    }
                }
            }
            assert_eq!(travel.field.borrow().planes.len(), 32 + frame);
            before = moved;
        }
        assert!(before != Travel::new(0.0, 16, 2).chunks());
    }

    #[test]
    fn noise_is_neither_full_nor_empty() {
        let scene = Travel::new(0.0, 16, 3).scene().unwrap();
        let solid = scene.world.solid_count() as f64 / f64::from(48_u32.pow(3));
        assert!(solid > 0.2 && solid < 0.8, "{solid}");
        let quads = ChunkQuads::of(&scene);
        assert!(quads.median > 0 && quads.percentile_95 > quads.median);
    }

    #[test]
    fn the_sparse_case_has_the_articles_number_of_quads() {
        let (_, side, chunks_per_side, threshold) = SPARSE;
        let quads = ChunkQuads::of(&Travel::new(threshold, side, chunks_per_side).scene().unwrap());
        assert!((quads.mean - ARTICLE_QUADS).abs() < 1.0, "{quads}");
    }
}
