//! A cube of chunks with six parts each, which is the same for every list, and the expected
//! results.

use std::{ops::Range, sync::Arc};

use bytemuck::{Pod, Zeroable};

use crate::Random;

/// Number of parts of a chunk: its face directions, in the order −X −Y −Z +X +Y +Z.
pub(super) const FACINGS: usize = 6;
/// Voxels per side of a chunk.
const SIDE: u32 = 16;

/// Position of a chunk, and face direction of a mesh with one part: the input of masks and sorts.
/// It has the size of a renderer's draw data.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PartData {
    pub(super) position: [f32; 3],
    pub(super) facing: u32,
}

/// Runs of quads, numbered through the crowd, in drawing order. Adjacent runs are merged.
pub(super) type Drawn = Vec<Range<u32>>;

/// The chunks of a scene in random order: their numbers do not depend on positions.
#[derive(Clone)]
pub(super) struct Crowd {
    parts: usize,
    positions: Arc<[[f32; 3]]>,
    /// Start of each part's quads, and the end of the last part.
    starts: Arc<[u32]>,
}

impl Crowd {
    /// Creates a crowd of a number of parts: six per chunk, with the rest in the last chunk.
    pub(super) fn new(parts: usize) -> Self {
        let mut random = Random::new(parts as u64);
        let chunks = parts.div_ceil(FACINGS);
        let side = (1..).find(|side: &usize| side.pow(3) >= chunks).unwrap_or(1);
        let coordinate = |cell: usize| (cell as u32 * SIDE) as f32;
        let mut positions: Vec<[f32; 3]> = (0..chunks)
            .map(|n| [n % side, n / side % side, n / side / side].map(coordinate))
            .collect();
        random.shuffle(&mut positions);
        let mut starts = vec![0];
        let mut end = 0;
        starts.extend((0..parts).map(|_| {
            end += 1 + random.below(4) as u32;
            end
        }));
        Self { parts, positions: positions.into(), starts: starts.into() }
    }

    /// Positions of the chunks, by number.
    pub(super) fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// Returns the number of all quads.
    pub(super) fn quad_count(&self) -> u32 {
        self.starts[self.parts]
    }

    /// Returns the quads of a face direction of a chunk. The last chunk may lack some.
    pub(super) fn quads(&self, chunk: usize, facing: usize) -> Range<u32> {
        let part = chunk * FACINGS + facing;
        let bound = |part: usize| self.starts[part.min(self.parts)];
        bound(part)..bound(part + 1)
    }

    /// Iterates over all parts: chunk and face direction.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.parts).map(|part| (part / FACINGS, part % FACINGS))
    }

    /// Returns the expected runs, by a list of all visible parts and a stable sort.
    pub(super) fn expected(&self, viewpoint: &Viewpoint) -> Drawn {
        let seen = self.parts().filter(|(_, facing)| viewpoint.facings >> facing & 1 != 0);
        let mut seen: Vec<_> = seen.collect();
        seen.sort_by(|(a, _), (b, _)| {
            let near = |chunk: usize| viewpoint.nearness(self.positions[chunk]);
            near(*b).total_cmp(&near(*a))
        });
        let mut drawn = Drawn::new();
        for (chunk, facing) in seen {
            push_run(&mut drawn, self.quads(chunk, facing));
        }
        drawn
    }
}

/// Adds a run of quads. Extends the last run if they are adjacent.
pub(super) fn push_run(drawn: &mut Drawn, run: Range<u32>) {
    match drawn.last_mut() {
        _ if run.is_empty() => {}
        Some(last) if last.end == run.start => last.end = run.end,
        _ => drawn.push(run),
    }
}

/// Direction to the camera in parallel projection, as in the article.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewpoint {
    /// Vector towards the camera, in whole numbers, so that all sums are exact.
    pub(super) direction: [f32; 3],
    /// Face directions that point towards the camera, one bit each.
    pub(super) facings: u8,
}

impl Viewpoint {
    /// Returns the direction of step `step` of `steps` on a circle above the crowd.
    pub(super) fn on_circle(step: usize, steps: usize) -> Self {
        const RADIUS: f64 = 1_000.0;
        // Not along the axes, where faces would be edge-on.
        let angle = (step as f64 + 0.5) / steps as f64 * std::f64::consts::TAU + 1e-3;
        let [x, z] = [angle.cos(), angle.sin()].map(|part| (part * RADIUS).round() as f32);
        let direction = [x, 500.0, z];
        let facings = (0..FACINGS).filter(|facing| {
            let along = direction[facing % 3];
            if *facing < 3 { along < 0.0 } else { along > 0.0 }
        });
        Self { direction, facings: facings.fold(0, |bits, facing| bits | 1 << facing) }
    }

    /// Returns the nearness of a position: greater is nearer. Exact below 2²⁴.
    #[inline]
    pub(super) fn nearness(&self, [x, y, z]: [f32; 3]) -> f32 {
        x * self.direction[0] + y * self.direction[1] + z * self.direction[2]
    }
}
