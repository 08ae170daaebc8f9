//! Table `lists`: opaque and blended meshes, which two shaders draw. They are in two lists over one
//! pool, in one list that is masked twice, or in two pools.

mod layers;

use drystone_render::{GlDevice, View};

use self::layers::{Layers, Plan};
use super::{
    contenders::{SamePictures, available, gl_device},
    frames::FrameTimes,
    scene::{HALF_GLASS, Meshes, RandomScene, small_meshes},
    still::{ROUND_FRAMES, ROUND_SECONDS, moved},
};
use crate::{Contender, Error, Failure, Run, error::By, rounds::Round};

/// Cases with glass as half of the filled voxels: name, voxels per side of a chunk, chunks per
/// side.
const CASES: [(&str, u32, u32); 2] = [("16x5", 16, 5), ("16x10", 16, 10)];
/// Case of small meshes, every other one blended.
const SMALL_MESHES: &str = "small-meshes";

/// Contenders.
const PLANS: [(&str, Plan); 3] = [
    ("pool-gl-lists", Plan::Lists),
    ("pool-gl-masked-twice", Plan::MaskedTwice),
    ("pool-gl-pools", Plan::Pools),
];

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for (case, side, chunks_per_side) in CASES {
        let scene = || RandomScene::with(side, [chunks_per_side; 3], HALF_GLASS);
        if let Some(scene) = run.prepare(case, scene)? {
            run_case(run, case, (&scene.meshes(), &scene.view))?;
        }
    }
    if run.options.selects(SMALL_MESHES) {
        let (meshes, view) = small_meshes();
        run_case(run, SMALL_MESHES, (&meshes.every_other_blended(), &view))?;
    }
    Ok(())
}

fn run_case(run: &mut Run<'_>, case: &str, (meshes, view): (&Meshes, &View)) -> Result<(), Error> {
    let mut opened = open(case, meshes, view).map_err(|failure| run.error(case, failure))?;
    if let Some((_, layers)) = opened.first_mut() {
        run.table.machine.gpu = layers.describe();
    }
    let contenders = opened.into_iter().map(|(name, mut layers)| {
        let mut frame = 0;
        Contender::new(name, move || round(&mut layers, view, &mut frame))
    });
    run.case(case, || Ok(contenders.collect()))
}

/// Opens the contenders, and compares their pictures.
fn open(
    case: &str,
    meshes: &Meshes,
    view: &View,
) -> Result<Vec<(&'static str, Layers<GlDevice>)>, Failure> {
    let layers = |plan| gl_device().and_then(|device| Layers::new(device, plan, meshes));
    let mut opened = available(case, PLANS.map(|(name, plan)| (name, layers(plan))))?;
    let mut pictures = SamePictures::default();
    for (name, layers) in &mut opened {
        pictures.compare(layers.picture(view).by(name)?).by(name)?;
    }
    Ok(opened)
}

/// Draws frames with a moving camera, so that each frame has new masks and a new order.
fn round(layers: &mut Layers<GlDevice>, view: &View, frame: &mut u32) -> Round {
    layers.draw(view)?;
    layers.finish()?;
    let mut times = FrameTimes::default();
    while times.is_below(ROUND_FRAMES, ROUND_SECONDS) {
        *frame += 1;
        let view = moved(view, *frame);
        times.time(layers, |it| it.draw(&view), Layers::finish)?;
    }
    Ok(times.times())
}
