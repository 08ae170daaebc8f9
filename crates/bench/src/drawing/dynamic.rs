//! Table `dynamic`: 50 chunks of the scene filled anew at random and meshed before every
//! frame.

use std::{cell::RefCell, time::Instant};

use drystone::scene::Scene;
use drystone_render::{RenderError, View};
use drystone_voxel::ChunkPos;

use super::{
    DYNAMIC,
    contenders::{Kind, Room, compare},
    frames::{FrameTimes, warm_up},
    scene::{RandomScene, random_chunk},
    still::CASES,
};
use crate::{Contender, Error, Figure, Options, Table, rounds::elapsed_ns};

/// Chunks that change before every frame, or all where there are fewer.
const CHANGED_CHUNKS: u32 = 50;

/// Frames of a round: enough that each has its share of the changes.
const ROUND_FRAMES: u32 = 3;
/// A round of a large scene ends sooner.
const ROUND_SECONDS: f64 = 0.5;

/// Kinds that take part: vertices of another size tell nothing new here.
const KINDS: [Kind; 4] = [Kind::PoolWgpu, Kind::NaiveWgpu, Kind::PoolGl, Kind::NaiveGl];

/// Room beside the scene's own, for chunks that come out larger than those they replace
/// and for those that wait until no frame draws them.
const SPARE_QUADS: u32 = 1 << 21;

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(DYNAMIC.name);
    for (case, side, chunks_a_side, quick) in CASES {
        if (quick || !options.quick) && options.wants(case) {
            run_case(&mut table, options, case, [side, chunks_a_side])?;
        }
    }
    Ok(table)
}

fn run_case(
    table: &mut Table,
    options: &Options,
    case: &str,
    [side, chunks_a_side]: [u32; 2],
) -> Result<(), Error> {
    let name = table.name().to_owned();
    let failed = |contender: &str, message: String| {
        let [case, contender] = [case, contender].map(str::to_owned);
        Error::Contender { table: name.clone(), case, contender, message }
    };
    let scene = RandomScene::new(side, chunks_a_side).map_err(|e| failed("scene", e))?;
    let mut changing = Vec::new();
    for kind in KINDS {
        match Changing::open(kind, &scene, chunks_a_side) {
            Ok(one) => changing.push(one),
            Err(error @ (RenderError::NoAdapter { .. } | RenderError::TooLarge { .. })) => {
                eprintln!("skipped: {case}, {}: {error}", kind.name());
            }
            Err(error) => return Err(failed(kind.name(), error.to_string())),
        }
    }
    let view = scene.view;
    drop(scene);
    let adapters: Vec<_> = changing.iter_mut().map(|one| one.scene.renderer().backend()).collect();
    table.machine.gpu = adapters.join("; ");
    for one in &mut changing {
        one.change().map_err(|message| failed(one.kind.name(), message))?;
    }
    compare(changing.iter_mut().map(|one| (one.kind, one.scene.renderer())), &view)
        .map_err(|(kind, message)| failed(kind.name(), message))?;
    let changing: Vec<_> = changing.into_iter().map(RefCell::new).collect();
    let contenders = changing.iter().map(|one| {
        let name = one.borrow().kind.name();
        Contender::new(name, move || one.borrow_mut().round(&view))
    });
    table.run_case(case, options, contenders.collect())
}

/// One contender with its world, which changes as those of all others do.
struct Changing {
    kind: Kind,
    scene: Scene,
    chunks_a_side: u32,
    /// Chunks changed so far.
    changes: u32,
    mesh_ns: f64,
}

impl Changing {
    fn open(kind: Kind, scene: &RandomScene, chunks_a_side: u32) -> Result<Self, RenderError> {
        let meshes = scene.quads.len() as u32;
        let room = Room { quads: scene.quad_count() + SPARE_QUADS, meshes };
        let scene = Scene::new(scene.world.clone(), &scene.quads, kind.open(room)?)?;
        Ok(Self { kind, scene, chunks_a_side, changes: 0, mesh_ns: 0.0 })
    }

    /// How many chunks change before a frame.
    fn changed_chunks(&self) -> u32 {
        CHANGED_CHUNKS.min(self.chunks_a_side.pow(3))
    }

    /// Fills the next chunks anew, and then meshes them: only that is timed, upload
    /// included.
    fn change(&mut self) -> Result<(), String> {
        let first = self.changes;
        self.changes += self.changed_chunks();
        let side = self.scene.world().side();
        let positions: Vec<ChunkPos> = (first..self.changes).map(|n| self.position(n)).collect();
        for (number, &position) in (first..).zip(&positions) {
            let chunk = random_chunk(side, u64::from(number) << 32);
            self.scene.world_mut().insert(position, chunk).map_err(|e| e.to_string())?;
        }
        let start = Instant::now();
        for &position in &positions {
            self.scene.remesh(position).map_err(|e| e.to_string())?;
        }
        self.mesh_ns += elapsed_ns(start);
        Ok(())
    }

    /// The chunk that changes as the `number`th: a step that is prime to every count of
    /// chunks here spreads them over the scene.
    fn position(&self, number: u32) -> ChunkPos {
        const STEP: u64 = 100_003;
        let n = u64::from(self.chunks_a_side);
        let index = u64::from(number) * STEP % n.pow(3);
        let [x, y, z] = [index % n, index / n % n, index / n / n].map(|c| c as i32);
        ChunkPos::new(x, y, z)
    }

    fn round(&mut self, view: &View) -> Result<Vec<Figure>, String> {
        warm_up(self.scene.renderer(), view)?;
        self.mesh_ns = 0.0;
        let mut times = FrameTimes::default();
        while times.frames < ROUND_FRAMES && times.draw_ns < ROUND_SECONDS * 1e9 {
            self.change()?;
            times.draw(self.scene.renderer(), view)?;
        }
        let chunks = f64::from(times.frames * self.changed_chunks());
        let mut figures = times.figures(self.scene.renderer(), self.kind);
        figures.push(Figure::new("mesh", "us/chunk", self.mesh_ns / chunks / 1e3));
        Ok(figures)
    }
}
