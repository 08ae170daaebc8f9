//! Meshes of chunks, with sizes as in real worlds.

use crate::Random;

/// Face directions of a chunk's mesh.
pub(super) const PARTS: usize = 6;
/// Quads of a mesh are log-normal. These are the median, the deviation of the logarithm, and the
/// bounds.
const MEDIAN_QUADS: f64 = 300.0;
const QUADS_DEVIATION: f64 = 1.0;
const MIN_QUADS: u32 = 30;
/// Largest number of quads of a mesh.
pub(super) const MAX_QUADS: u32 = 4_000;

/// A mesh: its total number of quads, and the number for each face direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) quads: u32,
    pub(super) parts: [u32; PARTS],
}

impl Shape {
    pub(super) fn random(random: &mut Random) -> Self {
        let quads = (MEDIAN_QUADS.ln() + QUADS_DEVIATION * random.normal()).exp();
        let quads = (quads as u32).clamp(MIN_QUADS, MAX_QUADS);
        let mut parts = [quads / PARTS as u32; PARTS];
        parts[random.below(PARTS)] += quads % PARTS as u32;
        Self { quads, parts }
    }
}

/// Returns sizes with their expected frequency, for size classes.
pub(super) fn histogram(random: &mut Random) -> Vec<(u32, u64)> {
    /// Number of random sizes: enough that every class has some.
    const SAMPLES: usize = 4_096;
    let mut sizes: Vec<u32> = (0..SAMPLES).map(|_| Shape::random(random).quads).collect();
    sizes.sort_unstable();
    sizes.chunk_by(PartialEq::eq).map(|equal| (equal[0], equal.len() as u64)).collect()
}

/// Live meshes, and spare ones. Each turn swaps a live mesh with a spare one, so that the total
/// number of quads stays about the same.
#[derive(Clone, Debug)]
pub(super) struct Turnover {
    pub(super) live: Vec<Shape>,
    spare: Vec<Shape>,
    random: Random,
    /// Turns of a round: the mesh to remove, and its replacement.
    pub(super) plan: Vec<(u32, Shape)>,
}

/// Live meshes per spare one.
const LIVE_PER_SPARE: usize = 100;

impl Turnover {
    /// Creates `count` meshes. The same seed gives the same meshes.
    pub(super) fn new(meshes: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let live: Vec<Shape> = (0..meshes).map(|_| Shape::random(&mut random)).collect();
        let spare_count = meshes.div_ceil(LIVE_PER_SPARE);
        let spare = (0..spare_count).map(|_| Shape::random(&mut random)).collect();
        Self { live, spare, random, plan: Vec::new() }
    }

    /// Returns the number of quads of all live meshes.
    pub(super) fn quads(&self) -> u64 {
        self.live.iter().map(|shape| u64::from(shape.quads)).sum()
    }

    /// Plans `count` turns.
    pub(super) fn make_plan(&mut self, turns: usize) {
        self.plan.clear();
        for _ in 0..turns {
            let at = self.random.below(self.live.len());
            let next = self.random.below(self.spare.len());
            std::mem::swap(&mut self.live[at], &mut self.spare[next]);
            self.plan.push((at as u32, self.live[at]));
        }
    }
}
