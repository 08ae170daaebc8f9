//! Tables `static` and `grid`: scenes that do not change, with a camera that stands still, and with
//! one that moves (`pool-wgpu-moving`).

use std::cell::RefCell;

use drystone_render::{RenderError, Renderer, View};

use super::{
    contenders::{Drawing, Kind, available, prepare},
    frames::{FrameTimes, warm_up},
    scene::{FOUR_COLORS, Meshes, RandomScene, small_meshes},
};
use crate::{Contender, Error, Options, Run, rounds::Round};

/// Cases of the article: name, voxels per side of a chunk, chunks per side, and whether a quick run
/// includes it.
const CASES: [(&str, u32, u32, bool); 7] = [
    ("16x3", 16, 3, true),
    ("16x5", 16, 5, true),
    ("16x10", 16, 10, true),
    ("16x15", 16, 15, false),
    ("32x3", 32, 3, true),
    ("32x5", 32, 5, true),
    ("32x10", 32, 10, true),
];

/// Case of many small meshes.
const SMALL_MESHES: &str = "small-meshes";

/// Voxels per side of a chunk of the table `grid`: the article's main result.
const GRID_SIDE: u32 = 32;
/// Chunks per side, in a full and in a quick run.
const GRID_CHUNKS: [u32; 2] = [50, 8];
/// Contenders. A pool of the article's vertices is left out: it would need several gigabytes in
/// addition to the naive program.
const GRID_KINDS: [Kind; 4] = [Kind::PoolGl, Kind::NaiveGl, Kind::PoolWgpu, Kind::NaiveWgpu];

/// Duration of a round of a small scene.
pub(super) const ROUND_SECONDS: f64 = 0.25;
/// Largest number of frames of a round.
pub(super) const ROUND_FRAMES: u32 = 32;

/// Movement per frame of a moving camera, in voxels: too small to be visible.
const TREMBLE_VOXELS: f64 = 1e-3;

/// Returns the cases of the article for a full or a quick run: name, voxels per side of a chunk, chunks per side.
pub(super) fn cases(options: &Options) -> impl Iterator<Item = (&'static str, u32, u32)> {
    let cases = CASES.into_iter().filter(|(_, _, _, quick)| *quick || !options.quick);
    cases.map(|(case, side, chunks, _)| (case, side, chunks))
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for (case, side, chunks_per_side) in cases(run.options) {
        let scene = run.prepare(case, || RandomScene::new(side, chunks_per_side))?;
        let Some(scene) = scene else { continue };
        eprintln!("{case}: {:.0} quads per chunk on average", scene.mean_quads());
        run_case(run, case, (&scene.meshes(), &scene.view), &Kind::ALL)?;
    }
    run_small(run)
}

/// Runs the case `small-meshes`, if it is selected.
pub(crate) fn run_small(run: &mut Run<'_>) -> Result<(), Error> {
    if !run.options.selects(SMALL_MESHES) {
        return Ok(());
    }
    let (meshes, view) = small_meshes();
    run_case(run, SMALL_MESHES, (&meshes, &view), &Kind::ALL)
}

/// Runs the table `grid`: a layer of chunks in four colours.
pub(crate) fn run_grid(run: &mut Run<'_>) -> Result<(), Error> {
    let [full, quick] = GRID_CHUNKS;
    let count = run.options.size(full, quick);
    let case = format!("{count}x{count}");
    let chunks = [count, 1, count];
    let scene = run.prepare(&case, || RandomScene::with(GRID_SIDE, chunks, FOUR_COLORS))?;
    let Some(scene) = scene else { return Ok(()) };
    run_case(run, &case, (&scene.meshes(), &scene.view), &GRID_KINDS)
}

/// Draws meshes with these contenders.
fn run_case(
    run: &mut Run<'_>,
    case: &str,
    (meshes, view): (&Meshes, &View),
    kinds: &[Kind],
) -> Result<(), Error> {
    let open = |kind: &Kind| (kind.name(), Still::open(*kind, meshes));
    let drawn = prepare(run, case, view, available(case, kinds.iter().map(open)))?;
    let drawn: Vec<_> = drawn.into_iter().map(|(name, one)| (name, RefCell::new(one))).collect();
    run.case(case, || {
        let mut contenders = Vec::new();
        for (name, one) in &drawn {
            contenders.push(Contender::new(*name, || one.borrow_mut().round(view)));
            if *name == Kind::PoolWgpu.name() {
                let moving = || one.borrow_mut().moving_round(view);
                contenders.push(Contender::new("pool-wgpu-moving", moving));
            }
        }
        Ok(contenders)
    })
}

/// A renderer with a scene that does not change.
pub(super) struct Still {
    kind: Kind,
    pub(super) renderer: Box<dyn Renderer>,
    /// Number of frames drawn so far, which determines the camera's position.
    frame: u32,
}

impl Still {
    pub(super) fn open(kind: Kind, meshes: &Meshes) -> Result<Self, RenderError> {
        let renderer = kind.open(meshes.quad_count().into(), meshes.list.len() as u32)?;
        Self::with_renderer(kind, renderer, meshes)
    }

    /// Creates it with a new renderer of this kind.
    pub(super) fn with_renderer(
        kind: Kind,
        mut renderer: Box<dyn Renderer>,
        meshes: &Meshes,
    ) -> Result<Self, RenderError> {
        renderer.set_palette(&meshes.palette)?;
        for mesh in &meshes.list {
            renderer.insert(&mesh.data())?;
        }
        Ok(Self { kind, renderer, frame: 0 })
    }

    /// Draws frames of a standing camera and measures them.
    fn round(&mut self, view: &View) -> Round {
        self.draw_frames(view, |view, _| *view)
    }

    /// Draws frames of a camera that moves, so that no result of the last frame can be reused. Then
    /// `submit` includes masking, sorting and making commands.
    pub(super) fn moving_round(&mut self, view: &View) -> Round {
        self.draw_frames(view, moved)
    }

    fn draw_frames(&mut self, view: &View, view_of_frame: fn(&View, u32) -> View) -> Round {
        let renderer = self.renderer.as_mut();
        warm_up(renderer, view)?;
        let mut times = FrameTimes::default();
        while times.is_below(ROUND_FRAMES, ROUND_SECONDS) {
            self.frame += 1;
            times.draw(renderer, &view_of_frame(view, self.frame))?;
        }
        let frame = &mut self.frame;
        let in_flight = times.in_flight(renderer, || {
            *frame += 1;
            view_of_frame(view, *frame)
        })?;
        let mut figures = times.figures(renderer, self.kind.quad_bytes());
        figures.push(in_flight);
        Ok(figures)
    }
}

impl Drawing for Still {
    fn renderer(&mut self) -> &mut dyn Renderer {
        self.renderer.as_mut()
    }
}

/// Returns the view of frame `frame`, for a camera that moves a little between frames.
pub(super) fn moved(view: &View, frame: u32) -> View {
    let mut view = *view;
    view.camera.position.x += TREMBLE_VOXELS * f64::from(1 + frame % 2);
    view
}
