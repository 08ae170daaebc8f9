//! Table `cubes`: a scene in which 100,000 voxels change before every frame, drawn as cubes and as
//! meshes, and the cost of a change for the renderer.

mod changes;
mod cube_world;
mod one_by_one;

use drystone_render::{Device, InstancedRenderer, RenderError, Renderer, SlotPolicy, View};

use self::{
    changes::{Change, Changes, PoolWorld},
    cube_world::CubeWorld,
};
use super::{
    contenders::{Drawing, Kind, available, gl_device, prepare, wgpu_device},
    frames::{FrameTimes, warm_up},
    scene::RandomScene,
};
use crate::{
    Contender, Error, Failure, Figure, Run,
    rounds::{Round, timed},
};

/// Number of voxels that change before each frame.
const CHANGES: usize = 100_000;
/// Cases: name, voxels per side of a chunk, chunks per side.
const CASES: [(&str, u32, u32); 2] = [("32x3", 32, 3), ("32x5", 32, 5)];
/// Contenders, with the functions that open them.
const CONTENDERS: [(&str, Open); 4] = [
    ("pool-wgpu", |scene| pool(Kind::PoolWgpu, scene)),
    ("instanced-wgpu", |scene| cubes(wgpu_device()?, scene)),
    ("pool-gl", |scene| pool(Kind::PoolGl, scene)),
    ("instanced-gl", |scene| cubes(gl_device()?, scene)),
];
type Open = fn(&RandomScene) -> Result<Box<dyn Followed>, RenderError>;
/// Frames per round.
const ROUND_FRAMES: u32 = 2;

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    one_by_one::run(run)?;
    for (case, side, chunks_per_side) in CASES {
        let scene = run.prepare(case, || RandomScene::new(side, chunks_per_side))?;
        let Some(scene) = scene else { continue };
        let opened =
            CONTENDERS.map(|(name, open)| (name, open(&scene).map(|it| Changing::new(it, &scene))));
        let changing = prepare(run, case, &scene.view, available(case, opened))?;
        let contenders = changing
            .into_iter()
            .map(|(name, mut it)| Contender::new(name, move || it.round(&scene.view)));
        run.case(case, || Ok(contenders.collect()))?;
    }
    Ok(())
}

/// A world with a renderer that follows its changes.
trait Followed {
    /// Applies the changes to the renderer.
    fn follow(&mut self, changes: &[Change]) -> Result<(), RenderError>;

    fn renderer(&mut self) -> &mut dyn Renderer;
}

fn pool(kind: Kind, scene: &RandomScene) -> Result<Box<dyn Followed>, RenderError> {
    let renderer = kind.open(scene.quad_count().into(), scene.quads.len() as u32)?;
    Ok(Box::new(PoolWorld::new(renderer, scene)?))
}

fn cubes<D: Device + 'static>(
    device: D,
    scene: &RandomScene,
) -> Result<Box<dyn Followed>, RenderError> {
    let renderer = InstancedRenderer::new(device, SlotPolicy::Lowest)?;
    Ok(Box::new(CubeWorld::new(renderer, scene)?))
}

/// A contender with its world.
struct Changing {
    world: Box<dyn Followed>,
    changes: Changes,
    plan: Vec<Change>,
    /// Total time in which the renderer followed changes.
    change_ns: f64,
}

impl Changing {
    fn new(world: Box<dyn Followed>, scene: &RandomScene) -> Self {
        Self { world, changes: Changes::of(scene), plan: Vec::new(), change_ns: 0.0 }
    }

    fn round(&mut self, view: &View) -> Round {
        warm_up(self.world.renderer(), view)?;
        self.change_ns = 0.0;
        let mut times = FrameTimes::default();
        for _ in 0..ROUND_FRAMES {
            self.change()?;
            times.draw(self.world.renderer(), view)?;
        }
        // Figures of the whole frame, including the changes.
        times.draw_ns += self.change_ns;
        let mut figures = times.times();
        let per_frame_us = self.change_ns / f64::from(ROUND_FRAMES) / 1e3;
        figures.push(Figure::new("change", "us/frame", per_frame_us));
        Ok(figures)
    }
}

impl Drawing for Changing {
    fn renderer(&mut self) -> &mut dyn Renderer {
        self.world.renderer()
    }

    fn change(&mut self) -> Result<(), Failure> {
        self.plan.clear();
        self.plan.extend(self.changes.by_ref().take(CHANGES));
        let (followed, ns) = timed(|| self.world.follow(&self.plan));
        self.change_ns += ns;
        Ok(followed?)
    }
}
