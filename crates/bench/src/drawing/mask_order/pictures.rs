//! Effect of masking and sorting on whole frames.

use std::cell::RefCell;

use drystone_pool::HiddenCommands;
use drystone_render::{PoolRenderer, PoolRendererConfig, RenderError, View};

use crate::{
    Contender, Error, Run,
    drawing::{
        contenders::{Kind, available, gl_device, prepare, same_picture},
        scene::{Meshes, RandomScene, small_meshes},
        still::Still,
    },
    error::By,
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
const HIDDEN: [(&str, HiddenCommands); 2] =
    [("pool-gl-left-out", HiddenCommands::LeftOut), ("pool-gl-zeroed", HiddenCommands::Zeroed)];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for (case, side, chunks_per_side) in CASES {
        if let Some(scene) = run.prepare(case, || RandomScene::new(side, chunks_per_side))? {
            run_views(run, case, &scene.meshes(), &scene.view)?;
        }
    }
    if run.options.selects(LEAVE_OUT) {
        run_hidden(run)?;
    }
    Ok(())
}

/// Runs one renderer with four views. The camera moves, so that each frame includes the cost of
/// masks and sorts.
fn run_views(run: &mut Run<'_>, case: &str, meshes: &Meshes, view: &View) -> Result<(), Error> {
    let kind = Kind::PoolGl;
    let opened = available(case, [(kind.name(), Still::open(kind, meshes))]);
    let Some((_, drawn)) = prepare(run, case, view, opened)?.pop() else { return Ok(()) };
    let drawn = &RefCell::new(drawn);
    run.case(case, || {
        let mut first = None;
        let contender = |(name, mask_back_faces, order)| {
            let view = View { mask_back_faces, sort_opaque: order, cull_frustum: false, ..*view };
            let renderer = &mut drawn.borrow_mut().renderer;
            renderer.draw(&view).by(name)?;
            let picture = renderer.read_image().by(name)?;
            same_picture(first.get_or_insert_with(|| picture.clone()), &picture).by(name)?;
            Ok(Contender::new(name, move || drawn.borrow_mut().moving_round(&view)))
        };
        VIEWS.into_iter().map(contender).collect()
    })
}

/// Runs two renderers, which differ in the handling of hidden commands.
fn run_hidden(run: &mut Run<'_>) -> Result<(), Error> {
    let (meshes, view) = small_meshes();
    let open = |(name, hidden)| (name, open_hidden(hidden, &meshes));
    let drawn = prepare(run, LEAVE_OUT, &view, available(LEAVE_OUT, HIDDEN.map(open)))?;
    let contenders = drawn
        .into_iter()
        .map(|(name, mut one)| Contender::new(name, move || one.moving_round(&view)));
    run.case(LEAVE_OUT, || Ok(contenders.collect()))
}

fn open_hidden(hidden: HiddenCommands, meshes: &Meshes) -> Result<Still, RenderError> {
    let config = PoolRendererConfig { hidden, ..PoolRendererConfig::default() };
    let (quads, count) = (meshes.quad_count().into(), meshes.list.len() as u32);
    let renderer = PoolRenderer::with_config(gl_device()?, quads, count, config)?;
    Still::with_renderer(Kind::PoolGl, Box::new(renderer), meshes)
}
