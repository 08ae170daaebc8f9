//! A renderer with a world in which many chunks change before every frame.

use std::time::Instant;

use drystone::scene::Scene;
use drystone_render::{RenderError, Renderer, View};
use drystone_voxel::{Chunk, ChunkPos};

use super::{
    contenders::{Capacity, Kind},
    frames::{FrameTimes, warm_up},
    scene::{RandomScene, new_chunk},
};
use crate::{Figure, rounds::elapsed_ns};

/// Number of chunks that change before every frame, or all if there are fewer.
const CHANGED_CHUNKS: u32 = 50;

/// Largest number of frames per round.
const ROUND_FRAMES: u32 = 3;
/// Time limit of a round of a large scene.
const ROUND_SECONDS: f64 = 0.5;

/// A contender with its world. All contenders' worlds change in the same way.
pub(super) struct Changing {
    pub(super) kind: Kind,
    pub(super) scene: Scene,
    changes: Box<dyn Changes>,
    mesh_ns: f64,
}

impl Changing {
    pub(super) fn open(
        kind: Kind,
        scene: &RandomScene,
        changes: Box<dyn Changes>,
    ) -> Result<Self, RenderError> {
        let meshes = scene.quads.len() as u32;
        let capacity = Capacity { quads: scene.quad_count().into(), meshes };
        Self::with_renderer(kind, kind.open(capacity)?, scene, changes)
    }

    /// Creates it with a new renderer of this kind.
    pub(super) fn with_renderer(
        kind: Kind,
        renderer: Box<dyn Renderer>,
        scene: &RandomScene,
        changes: Box<dyn Changes>,
    ) -> Result<Self, RenderError> {
        let scene = Scene::new(scene.world.clone(), &scene.quads, renderer)?;
        Ok(Self { kind, scene, changes, mesh_ns: 0.0 })
    }

    /// Fills the next chunks, and then meshes them on all cores. Only meshing and upload are timed.
    pub(super) fn change(&mut self) -> Result<(), String> {
        let changed = self.changes.next_frame();
        let positions: Vec<ChunkPos> = changed.iter().map(|(position, _)| *position).collect();
        for (position, chunk) in changed {
            self.scene.world_mut().insert(position, chunk).map_err(|e| e.to_string())?;
        }
        let start = Instant::now();
        self.scene.remesh_many(&positions).map_err(|e| e.to_string())?;
        self.mesh_ns += elapsed_ns(start);
        Ok(())
    }

    pub(super) fn round(&mut self, view: &View) -> Result<Vec<Figure>, String> {
        warm_up(self.scene.renderer(), view)?;
        self.mesh_ns = 0.0;
        let mut times = FrameTimes::default();
        while times.frames < ROUND_FRAMES && times.draw_ns < ROUND_SECONDS * 1e9 {
            self.change()?;
            times.draw(self.scene.renderer(), view)?;
        }
        let chunks = f64::from(times.frames * self.changes.per_frame());
        let mut figures = times.figures(self.scene.renderer(), self.kind);
        figures.push(Figure::new("mesh", "us/chunk", self.mesh_ns / chunks / 1e3));
        Ok(figures)
    }
}

/// Schedule of the changes, which is the same for all contenders.
pub(super) trait Changes {
    /// Number of chunks that change before a frame.
    fn per_frame(&self) -> u32;

    /// Returns the chunks that change before the next frame, with their content.
    fn next_frame(&mut self) -> Vec<(ChunkPos, Chunk)>;
}

/// Fifty chunks at a time, each filled at random.
#[derive(Clone)]
pub(super) struct RandomChanges {
    /// Voxels per side of a chunk.
    side: u32,
    /// Chunks along each axis.
    chunks: [u32; 3],
    /// Number of chunks changed so far.
    count: u32,
}

impl RandomChanges {
    pub(super) fn of(scene: &RandomScene) -> Self {
        Self { side: scene.world.side(), chunks: scene.chunks, count: 0 }
    }
}

impl Changes for RandomChanges {
    fn per_frame(&self) -> u32 {
        CHANGED_CHUNKS.min(self.chunks.iter().product())
    }

    fn next_frame(&mut self) -> Vec<(ChunkPos, Chunk)> {
        let first = self.count;
        self.count += self.per_frame();
        let (side, chunks) = (self.side, self.chunks);
        (first..self.count)
            .map(|number| (position(chunks, number), new_chunk(side, number)))
            .collect()
    }
}

/// Returns the position of change number `number`. The step is coprime to all numbers of chunks
/// here, so it spreads the changes over the scene.
fn position(chunks: [u32; 3], number: u32) -> ChunkPos {
    const STEP: u64 = 100_003;
    let [nx, ny, nz] = chunks.map(u64::from);
    let index = u64::from(number) * STEP % (nx * ny * nz);
    let [x, y, z] = [index % nx, index / nx % ny, index / nx / ny].map(|c| c as i32);
    ChunkPos::new(x, y, z)
}
