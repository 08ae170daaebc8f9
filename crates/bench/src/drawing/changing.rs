//! Table `dynamic`: before every frame, 50 chunks of the scene are filled at random and meshed. Other
//! tables use its renderer with a world in which chunks change.

use drystone_render::{RenderError, Renderer, View};
use drystone_voxel::{Chunk, ChunkPos};

use super::{
    chunk_scene::ChunkScene,
    contenders::{Drawing, Kind, available, prepare},
    frames::{FrameTimes, warm_up},
    scene::{RandomScene, new_chunk},
    still::cases,
};
use crate::{
    Contender, Error, Failure, Figure, Run,
    rounds::{Round, process_cpu_ns, timed},
};

/// Number of chunks that change before every frame, or all if there are fewer.
const CHANGED_CHUNKS: u32 = 50;

/// Contenders of `dynamic`.
const KINDS: [Kind; 7] = {
    let [a, b, c, d, e, f] = Kind::ALL;
    [a, b, c, d, e, f, Kind::NaiveGlCreating]
};

/// Largest number of frames per round.
const ROUND_FRAMES: u32 = 3;
/// Time limit of a round of a large scene.
const ROUND_SECONDS: f64 = 0.5;

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for (case, side, chunks_per_side) in cases(run.options) {
        let scene = run.prepare(case, || RandomScene::new(side, chunks_per_side))?;
        let Some(scene) = scene else { continue };
        let changes = RandomChanges::of(&scene);
        run_case(run, case, scene, &KINDS, &|| Box::new(changes.clone()))?;
    }
    Ok(())
}

/// Draws a changing scene with each contender.
pub(super) fn run_case(
    run: &mut Run<'_>,
    case: &str,
    scene: RandomScene,
    kinds: &[Kind],
    changes: &dyn Fn() -> Box<dyn Changes>,
) -> Result<(), Error> {
    let open = |kind: Kind| {
        let renderer = kind.open(scene.quad_count().into(), scene.quads.len() as u32);
        (kind.name(), renderer.and_then(|it| Changing::new(kind, it, &scene, changes())))
    };
    let opened = available(case, kinds.iter().copied().map(open));
    let view = scene.view;
    drop(scene);
    let changing = prepare(run, case, &view, opened)?;
    let contenders =
        changing.into_iter().map(|(name, mut it)| Contender::new(name, move || it.round(&view)));
    run.case(case, || Ok(contenders.collect()))
}

/// A contender with its world. All contenders' worlds change in the same way.
pub(super) struct Changing {
    kind: Kind,
    scene: ChunkScene,
    changes: Box<dyn Changes>,
}

/// Times of meshing and uploading the chunks of a frame.
struct ChangeTimes {
    wall_ns: f64,
    /// CPU time of all threads.
    cpu_all_ns: f64,
}

impl Changing {
    /// Inserts the scene into a new renderer of this kind.
    pub(super) fn new(
        kind: Kind,
        renderer: Box<dyn Renderer>,
        scene: &RandomScene,
        changes: Box<dyn Changes>,
    ) -> Result<Self, RenderError> {
        let scene = ChunkScene::new(scene.world.clone(), &scene.quads, renderer)?;
        Ok(Self { kind, scene, changes })
    }

    pub(super) fn round(&mut self, view: &View) -> Round {
        warm_up(self.scene.renderer.as_mut(), view)?;
        let (mut times, mut mesh_ns) = (FrameTimes::default(), 0.0);
        while times.is_below(ROUND_FRAMES, ROUND_SECONDS) {
            let change = self.change_with(ChunkScene::remesh_many)?;
            mesh_ns += change.wall_ns;
            times.cpu_all_ns += change.cpu_all_ns;
            times.draw(self.scene.renderer.as_mut(), view)?;
        }
        let one_thread = self.change_with(ChunkScene::remesh_each)?;
        let (frames, chunks) = (f64::from(times.frames), f64::from(self.changes.per_frame()));
        let frame_ns = (mesh_ns + times.draw_ns) / frames;
        let mut figures = times.figures(self.scene.renderer.as_mut(), self.kind.quad_bytes());
        figures.extend([
            Figure::new("mesh", "us/chunk", mesh_ns / frames / chunks / 1e3),
            Figure::new("mesh-one-thread", "us/chunk", one_thread.cpu_all_ns / chunks / 1e3),
            Figure::new("frame", "us/frame", frame_ns / 1e3),
        ]);
        Ok(figures)
    }

    /// Fills the next chunks, and then meshes and uploads them. Returns the times of the latter.
    fn change_with(
        &mut self,
        remesh: fn(&mut ChunkScene, &[ChunkPos]) -> Result<(), RenderError>,
    ) -> Result<ChangeTimes, Failure> {
        let changed = self.changes.next_frame();
        let positions: Vec<ChunkPos> = changed.iter().map(|(position, _)| *position).collect();
        for (position, chunk) in changed {
            self.scene.world.insert(position, chunk)?;
        }
        let cpu_start_ns = process_cpu_ns();
        let (meshed, wall_ns) = timed(|| remesh(&mut self.scene, &positions));
        meshed?;
        Ok(ChangeTimes { wall_ns, cpu_all_ns: process_cpu_ns() - cpu_start_ns })
    }
}

impl Drawing for Changing {
    fn renderer(&mut self) -> &mut dyn Renderer {
        self.scene.renderer.as_mut()
    }

    /// Changes the scene, with meshing on all cores.
    fn change(&mut self) -> Result<(), Failure> {
        self.change_with(ChunkScene::remesh_many).map(drop)
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
