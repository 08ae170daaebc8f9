//! What comes and goes: meshes of chunks, of sizes as worlds have them.

use crate::Random;

/// Facings of a chunk's mesh.
pub(super) const PARTS: usize = 6;
/// Quads of a mesh are log-normal: this median, this deviation of the logarithm, these
/// bounds.
const MEDIAN_QUADS: f64 = 300.0;
const QUADS_DEVIATION: f64 = 1.0;
const LEAST_QUADS: u32 = 30;
/// The largest mesh there is.
pub(super) const MAX_QUADS: u32 = 4_000;

/// One mesh: its quads in all, and those of each facing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) quads: u32,
    pub(super) parts: [u32; PARTS],
}

impl Shape {
    pub(super) fn random(random: &mut Random) -> Self {
        let quads = (MEDIAN_QUADS.ln() + QUADS_DEVIATION * random.normal()).exp();
        let quads = (quads as u32).clamp(LEAST_QUADS, MAX_QUADS);
        let mut parts = [quads / PARTS as u32; PARTS];
        parts[random.below(PARTS)] += quads % PARTS as u32;
        Self { quads, parts }
    }
}

/// Sizes with how often they are to be expected, for size classes.
pub(super) fn histogram(random: &mut Random) -> Vec<(u32, u64)> {
    /// Sizes drawn by lot: enough that every class has some.
    const SAMPLES: usize = 4_096;
    let mut sizes: Vec<u32> = (0..SAMPLES).map(|_| Shape::random(random).quads).collect();
    sizes.sort_unstable();
    sizes.chunk_by(PartialEq::eq).map(|equal| (equal[0], equal.len() as u64)).collect()
}

/// Meshes that live, and those that wait for their turn: one goes, another comes, so that
/// all together stays as much as it was.
#[derive(Clone, Debug)]
pub(super) struct Turnover {
    pub(super) live: Vec<Shape>,
    waiting: Vec<Shape>,
    random: Random,
    /// What a round is going to do: which mesh goes, and what comes in its place.
    pub(super) plan: Vec<(u32, Shape)>,
}

/// One mesh waits for so many that live.
const LIVE_PER_WAITING: usize = 100;

impl Turnover {
    /// So many meshes; the same seed gives the same.
    pub(super) fn new(meshes: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let live: Vec<Shape> = (0..meshes).map(|_| Shape::random(&mut random)).collect();
        let waiting_count = meshes.div_ceil(LIVE_PER_WAITING);
        let waiting = (0..waiting_count).map(|_| Shape::random(&mut random)).collect();
        Self { live, waiting, random, plan: Vec::new() }
    }

    /// Quads of all meshes that live.
    pub(super) fn quads(&self) -> u64 {
        self.live.iter().map(|shape| u64::from(shape.quads)).sum()
    }

    /// Plans so many turns.
    pub(super) fn make_plan(&mut self, turns: usize) {
        self.plan.clear();
        for _ in 0..turns {
            let at = self.random.below(self.live.len());
            let next = self.random.below(self.waiting.len());
            std::mem::swap(&mut self.live[at], &mut self.waiting[next]);
            self.plan.push((at as u32, self.live[at]));
        }
    }
}
