//! Table `static`: a scene that does not change, seen by an eye that stands still, and by
//! one that moves (`pool-wgpu-moving`).

use std::cell::RefCell;

use drystone_render::{RenderError, Renderer, View};

use super::{
    STATIC,
    contenders::{Kind, Room, compare},
    frames::{FrameTimes, warm_up},
    scene::{Meshes, RandomScene, small_meshes},
};
use crate::{Contender, Error, Figure, Options, Table};

/// Cases: name, voxels a side of a chunk, chunks a side, whether a quick run has it.
pub(super) const CASES: [(&str, u32, u32, bool); 7] = [
    ("16x3", 16, 3, true),
    ("16x5", 16, 5, true),
    ("16x10", 16, 10, true),
    ("16x15", 16, 15, false),
    ("32x3", 32, 3, true),
    ("32x5", 32, 5, true),
    ("32x10", 32, 10, true),
];

/// The case of many meshes with little in them.
pub(super) const SMALL_MESHES: &str = "small-meshes";

/// A round of a small scene draws frames until this much time has gone by.
const ROUND_SECONDS: f64 = 0.25;
/// And at most so many.
const ROUND_FRAMES: u32 = 32;

/// How far a moving eye moves from frame to frame: nothing that shows.
const TREMBLE_VOXELS: f64 = 1e-3;

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(STATIC.name);
    for (case, side, chunks_a_side, quick) in CASES {
        if (quick || !options.quick) && options.wants(case) {
            let scene = RandomScene::new(side, chunks_a_side)
                .map_err(|message| failed(&table, case, "scene", message))?;
            eprintln!("{case}: {:.0} quads a chunk on average", scene.mean_quads());
            run_case(&mut table, options, case, &scene.meshes(), &scene.view)?;
        }
    }
    run_small(&mut table, options)?;
    Ok(table)
}

/// The case `small-meshes`, if it is asked for.
pub(super) fn run_small(table: &mut Table, options: &Options) -> Result<(), Error> {
    if !options.wants(SMALL_MESHES) {
        return Ok(());
    }
    let (meshes, view) = small_meshes();
    run_case(table, options, SMALL_MESHES, &meshes, &view)
}

fn failed(table: &Table, case: &str, contender: &str, message: String) -> Error {
    let [table, case, contender] = [table.name(), case, contender].map(str::to_owned);
    Error::Contender { table, case, contender, message }
}

fn run_case(
    table: &mut Table,
    options: &Options,
    case: &str,
    meshes: &Meshes,
    view: &View,
) -> Result<(), Error> {
    let mut drawn = Vec::new();
    for kind in Kind::ALL {
        match Drawn::open(kind, meshes) {
            Ok(one) => drawn.push(one),
            Err(error @ (RenderError::NoAdapter { .. } | RenderError::TooLarge { .. })) => {
                eprintln!("skipped: {case}, {}: {error}", kind.name());
            }
            Err(error) => return Err(failed(table, case, kind.name(), error.to_string())),
        }
    }
    table.machine.gpu = adapters(&drawn);
    compare(drawn.iter_mut().map(Drawn::contender), view)
        .map_err(|(kind, message)| failed(table, case, kind.name(), message))?;
    let drawn: Vec<_> = drawn.into_iter().map(RefCell::new).collect();
    let mut contenders = Vec::new();
    for one in &drawn {
        let kind = one.borrow().kind;
        contenders.push(Contender::new(kind.name(), move || one.borrow_mut().round(view, 0.0)));
        if kind == Kind::PoolWgpu {
            contenders.push(Contender::new("pool-wgpu-moving", move || {
                one.borrow_mut().round(view, TREMBLE_VOXELS)
            }));
        }
    }
    table.run_case(case, options, contenders)
}

/// What the first contender of each backend draws with.
fn adapters(drawn: &[Drawn]) -> String {
    let of = |kinds: [Kind; 2]| drawn.iter().find(|one| kinds.contains(&one.kind));
    let firsts = [of([Kind::PoolWgpu, Kind::NaiveWgpu]), of([Kind::PoolGl, Kind::NaiveGl])];
    let names = firsts.into_iter().flatten().map(|one| one.renderer.backend());
    names.collect::<Vec<_>>().join("; ")
}

/// One contender with its scene.
struct Drawn {
    kind: Kind,
    renderer: Box<dyn Renderer>,
    /// Frames drawn so far, to move the eye by.
    frame: u32,
}

impl Drawn {
    fn open(kind: Kind, meshes: &Meshes) -> Result<Self, RenderError> {
        let room = Room { quads: meshes.quad_count(), meshes: meshes.list.len() as u32 };
        let mut renderer = kind.open(room)?;
        renderer.set_palette(&meshes.palette)?;
        for mesh in &meshes.list {
            renderer.insert(&mesh.data())?;
        }
        Ok(Self { kind, renderer, frame: 0 })
    }

    fn contender(&mut self) -> (Kind, &mut dyn Renderer) {
        (self.kind, self.renderer.as_mut())
    }

    /// Draws frames and times them. The eye moves by `tremble_voxels` from frame to frame:
    /// when it does, nothing can be kept of the last frame, and masking, ordering and
    /// cutting commands are part of `submit`.
    fn round(&mut self, view: &View, tremble_voxels: f64) -> Result<Vec<Figure>, String> {
        let renderer = self.renderer.as_mut();
        warm_up(renderer, view)?;
        let mut times = FrameTimes::default();
        while times.frames < ROUND_FRAMES && times.draw_ns < ROUND_SECONDS * 1e9 {
            let mut view = *view;
            self.frame += 1;
            view.camera.eye.x += tremble_voxels * f64::from(1 + self.frame % 2);
            times.draw(renderer, &view)?;
        }
        Ok(times.figures(renderer, self.kind))
    }
}
