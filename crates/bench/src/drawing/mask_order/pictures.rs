//! Effect of masking and sorting on whole frames.

use std::cell::RefCell;

use drystone_pool::Hidden;
use drystone_render::{GlConfig, GlDevice, PoolRenderer, PoolRendererConfig, RenderError, View};

use crate::{
    Contender, Error, Options, Table,
    drawing::{
        SIZE,
        contenders::{Kind, available, compare, same_picture},
        drawn::{Drawn, TREMBLE_VOXELS},
        scene::{Meshes, RandomScene, small_meshes},
    },
};

/// Cases of frames: name, voxels per side of a chunk, chunks per side.
const CASES: [(&str, u32, u32); 2] = [("frame-16x5", 16, 5), ("frame-32x5", 32, 5)];

/// Names of the contenders, and whether commands are masked and sorted.
const VIEWS: [(&str, bool, bool); 4] = [
    ("pool-gl", true, true),
    ("pool-gl-masked", true, false),
    ("pool-gl-ordered", false, true),
    ("pool-gl-plain", false, false),
];

/// Case of hidden commands: small meshes, for which commands are most of the frame's cost.
const LEAVE_OUT: &str = "leave-out";

/// Names of the contenders, and the handling of hidden commands.
const HIDDEN: [(&str, Hidden); 2] =
    [("pool-gl-left-out", Hidden::LeftOut), ("pool-gl-zeroed", Hidden::Zeroed)];

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    for (case, side, chunks_per_side) in CASES {
        if options.selects(case) {
            let scene = RandomScene::new(side, chunks_per_side)
                .map_err(|message| failed(table, case, "scene", message))?;
            run_views(table, options, case, &scene.meshes(), &scene.view)?;
        }
    }
    if options.selects(LEAVE_OUT) {
        run_hidden(table, options)?;
    }
    Ok(())
}

fn failed(table: &Table, case: &str, contender: &str, message: String) -> Error {
    let [table, case, contender] = [table.name(), case, contender].map(str::to_owned);
    Error::Contender { table, case, contender, message }
}

/// Runs one renderer with four views. The camera moves, so that each frame includes the cost of
/// masks and sorts.
fn run_views(
    table: &mut Table,
    options: &Options,
    case: &str,
    meshes: &Meshes,
    view: &View,
) -> Result<(), Error> {
    let opened = available(case, Kind::PoolGl.name(), Drawn::open(Kind::PoolGl, meshes))
        .map_err(|error| failed(table, case, Kind::PoolGl.name(), error.to_string()))?;
    let Some(mut drawn) = opened else { return Ok(()) };
    table.machine.gpu = drawn.renderer.output().describe();
    let views = VIEWS.map(|(name, mask_facings, order)| {
        (name, View { mask_facings, order, cull_frustum: false, ..*view })
    });
    let images: Result<Vec<_>, RenderError> = views
        .iter()
        .map(|(_, view)| drawn.renderer.draw(view).and_then(|_| drawn.renderer.read_image()))
        .collect();
    let images = images.map_err(|error| failed(table, case, "pool-gl", error.to_string()))?;
    for ((name, _), image) in views.iter().zip(&images) {
        same_picture(&images[0], image).map_err(|message| failed(table, case, name, message))?;
    }
    let drawn = RefCell::new(drawn);
    let contenders = views.iter().map(|(name, view)| {
        let drawn = &drawn;
        Contender::new(*name, move || drawn.borrow_mut().round(view, TREMBLE_VOXELS))
    });
    table.run_case(case, options, contenders.collect())
}

/// Runs two renderers, which differ in the handling of hidden commands.
fn run_hidden(table: &mut Table, options: &Options) -> Result<(), Error> {
    let (meshes, view) = small_meshes();
    let mut drawn = Vec::new();
    for (name, hidden) in HIDDEN {
        let opened = open_hidden(hidden, &meshes);
        let one = available(LEAVE_OUT, name, opened)
            .map_err(|error| failed(table, LEAVE_OUT, name, error.to_string()))?;
        drawn.extend(one.map(|one| (name, one)));
    }
    let Some((_, first)) = drawn.first_mut() else { return Ok(()) };
    table.machine.gpu = first.renderer.output().describe();
    compare(drawn.iter_mut().map(|(_, one)| one.contender()), &view)
        .map_err(|(kind, message)| failed(table, LEAVE_OUT, kind.name(), message))?;
    let contenders = drawn
        .into_iter()
        .map(|(name, mut one)| Contender::new(name, move || one.round(&view, TREMBLE_VOXELS)));
    table.run_case(LEAVE_OUT, options, contenders.collect())
}

fn open_hidden(hidden: Hidden, meshes: &Meshes) -> Result<Drawn, RenderError> {
    let [width, height] = SIZE;
    let device = GlDevice::headless(GlConfig::default(), width, height)?;
    let config = PoolRendererConfig { hidden, ..PoolRendererConfig::default() };
    let (quads, count) = (meshes.quad_count().into(), meshes.list.len() as u32);
    let renderer = PoolRenderer::with_config(device, quads, count, config)?;
    Drawn::with_renderer(Kind::PoolGl, Box::new(renderer), meshes)
}
