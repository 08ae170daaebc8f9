//! Table `cubes`: a scene in which 100,000 voxels change before every frame, drawn as cubes and as
//! meshes, and the cost of a change for the renderer.

mod changes;
mod cube_world;
mod one_by_one;
mod pool_world;

use drystone_render::{
    Api, Device, GlConfig, GlDevice, InstancedRenderer, RenderError, Renderer, SlotPolicy, View,
    WgpuDevice,
};

use self::{
    changes::{Change, Changes},
    cube_world::CubeWorld,
    pool_world::PoolWorld,
};
use super::{
    CUBES, SIZE,
    contenders::{Capacity, Kind, available, compare},
    frames::{FrameTimes, warm_up},
    scene::RandomScene,
};
use crate::{Contender, Error, Figure, Options, Table, rounds::elapsed_ns};
use std::time::Instant;

/// Number of voxels that change before each frame.
const CHANGES: usize = 100_000;
/// Cases: name, voxels per side of a chunk, chunks per side.
const CASES: [(&str, u32, u32); 2] = [("32x3", 32, 3), ("32x5", 32, 5)];
/// Contenders. The others' pictures are compared with that of the first.
const KINDS: [Kind; 4] = [Kind::PoolWgpu, Kind::InstancedWgpu, Kind::PoolGl, Kind::InstancedGl];
/// Frames per round.
const ROUND_FRAMES: u32 = 2;

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(CUBES.name);
    one_by_one::run(&mut table, options)?;
    for (case, side, chunks_per_side) in CASES {
        if options.selects(case) {
            let scene = RandomScene::new(side, chunks_per_side)
                .map_err(|message| failed(case, "scene", message))?;
            run_case(&mut table, options, case, &scene)?;
        }
    }
    Ok(table)
}

fn failed(case: &str, contender: &str, message: String) -> Error {
    let [table, case, contender] = [CUBES.name, case, contender].map(str::to_owned);
    Error::Contender { table, case, contender, message }
}

fn run_case(
    table: &mut Table,
    options: &Options,
    case: &str,
    scene: &RandomScene,
) -> Result<(), Error> {
    let mut all = Vec::new();
    for kind in KINDS {
        let refused = |error: RenderError| failed(case, kind.name(), error.to_string());
        if let Some(world) = available(case, kind.name(), open(kind, scene)).map_err(refused)? {
            all.push(Drawn { kind, world, changes: Changes::of(scene), plan: Vec::new() });
        }
    }
    let adapters: Vec<String> =
        all.iter_mut().map(|it| it.world.renderer().output().describe()).collect();
    table.machine.gpu = adapters.join("; ");
    // All contenders have changed before they are compared.
    for one in &mut all {
        one.change().map_err(|message| failed(case, one.kind.name(), message))?;
    }
    compare(all.iter_mut().map(|one| (one.kind, one.world.renderer())), &scene.view)
        .map_err(|(kind, message)| failed(case, kind.name(), message))?;
    let contenders = all
        .into_iter()
        .map(|mut one| Contender::new(one.kind.name(), move || one.round(&scene.view)));
    table.run_case(case, options, contenders.collect())
}

/// A world with a renderer that follows its changes.
trait Followed {
    /// Applies the changes to the renderer.
    fn follow(&mut self, changes: &[Change]) -> Result<(), RenderError>;

    fn renderer(&mut self) -> &mut dyn Renderer;
}

fn open(kind: Kind, scene: &RandomScene) -> Result<Box<dyn Followed>, RenderError> {
    let [width, height] = SIZE;
    match kind {
        Kind::InstancedWgpu => cubes(WgpuDevice::headless(Api::Any, width, height)?, scene),
        Kind::InstancedGl => cubes(GlDevice::headless(GlConfig::default(), width, height)?, scene),
        _ => {
            let capacity =
                Capacity { quads: scene.quad_count().into(), meshes: scene.quads.len() as u32 };
            Ok(Box::new(PoolWorld::new(kind.open(capacity)?, scene)?))
        }
    }
}

fn cubes<D: Device + 'static>(
    device: D,
    scene: &RandomScene,
) -> Result<Box<dyn Followed>, RenderError> {
    let renderer = InstancedRenderer::new(device, SlotPolicy::Lowest)?;
    Ok(Box::new(CubeWorld::new(renderer, scene)?))
}

/// A contender with its world.
struct Drawn {
    kind: Kind,
    world: Box<dyn Followed>,
    changes: Changes,
    plan: Vec<Change>,
}

impl Drawn {
    /// Changes the world. Returns the time in nanoseconds that the renderer needed to follow.
    fn change(&mut self) -> Result<f64, String> {
        self.plan.clear();
        self.plan.extend(self.changes.by_ref().take(CHANGES));
        let start = Instant::now();
        self.world.follow(&self.plan).map_err(|error| error.to_string())?;
        Ok(elapsed_ns(start))
    }

    fn round(&mut self, view: &View) -> Result<Vec<Figure>, String> {
        warm_up(self.world.renderer(), view)?;
        let (mut times, mut change_ns) = (FrameTimes::default(), 0.0);
        for _ in 0..ROUND_FRAMES {
            change_ns += self.change()?;
            times.draw(self.world.renderer(), view)?;
        }
        // Figures of the whole frame, including the changes.
        times.draw_ns += change_ns;
        let mut figures = times.times();
        let per_frame_us = change_ns / f64::from(ROUND_FRAMES) / 1e3;
        figures.push(Figure::new("change", "us/frame", per_frame_us));
        Ok(figures)
    }
}
