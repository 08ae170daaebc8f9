//! Effect of masking and sorting on whole frames.

use std::cell::RefCell;

use drystone_pool::HiddenCommands;
use drystone_render::{PoolRenderer, PoolRendererConfig, RenderError, View};

use crate::{
    Contender, Error, Run,
    drawing::{
        contenders::{Kind, SamePictures, available, gl_device, prepare},
        scene::{Meshes, RandomScene, small_meshes},
        still::Still,
    },
    error::By,
};

/// Cases of frames: name, voxels per side of a chunk, chunks per side.
const CASES: [(&str, u32, u32); 2] = [("frame-16x5", 16, 5), ("frame-32x5", 32, 5)];

/// Contenders of the cases of frames. A naive renderer neither masks nor sorts.
const KINDS: [(Kind, &[Treatment]); 3] = [
    (Kind::PoolGl, &TREATMENTS),
    (Kind::PoolGlFat, &TREATMENTS),
    (Kind::NaiveGl, &[("", false, false)]),
];

/// Treatment of commands: suffix of a contender's name, and whether commands are masked and sorted.
type Treatment = (&'static str, bool, bool);
const TREATMENTS: [Treatment; 4] = [
    ("", true, true),
    ("-masked", true, false),
    ("-ordered", false, true),
    ("-plain", false, false),
];

/// Case of hidden commands: small meshes, for which commands are most of the frame's cost.
const LEAVE_OUT: &str = "leave-out";

/// Names of the contenders, and the handling of hidden commands.
const HIDDEN: [(&str, HiddenCommands); 2] =
    [("pool-gl-left-out", HiddenCommands::LeftOut), ("pool-gl-zeroed", HiddenCommands::Zeroed)];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for (case, side, chunks_per_side) in CASES {
        if let Some(scene) = run.prepare(case, || RandomScene::new(side, chunks_per_side))? {
            run_treatments(run, case, &scene.meshes(), &scene.view)?;
        }
    }
    if run.options.selects(LEAVE_OUT) {
        run_hidden(run)?;
    }
    Ok(())
}

/// Runs each renderer with its treatments. The camera moves, so that each frame includes the cost of
/// masks and sorts.
fn run_treatments(
    run: &mut Run<'_>,
    case: &str,
    meshes: &Meshes,
    view: &View,
) -> Result<(), Error> {
    let opened = KINDS.map(|(kind, _)| (kind.name(), Still::open(kind, meshes)));
    let drawn = prepare(run, case, view, available(case, opened))?;
    let drawn: Vec<_> = drawn.into_iter().map(|(name, one)| (name, RefCell::new(one))).collect();
    run.case(case, || {
        let (mut pictures, mut contenders) = (SamePictures::default(), Vec::new());
        for (kind, treatments) in KINDS {
            let Some((name, one)) = drawn.iter().find(|(name, _)| *name == kind.name()) else {
                continue;
            };
            for &(suffix, mask_back_faces, sort_opaque) in treatments {
                let name = format!("{name}{suffix}");
                let view = View { mask_back_faces, sort_opaque, cull_frustum: false, ..*view };
                pictures.draw(one.borrow_mut().renderer.as_mut(), &view).by(&name)?;
                contenders.push(Contender::new(name, move || one.borrow_mut().moving_round(&view)));
            }
        }
        Ok(contenders)
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
    let config = PoolRendererConfig::default().with_hidden(hidden);
    let (quads, count) = (meshes.quad_count().into(), meshes.list.len() as u32);
    let renderer = PoolRenderer::with_config(gl_device()?, quads, count, config)?;
    Still::with_renderer(Kind::PoolGl, Box::new(renderer), meshes)
}
