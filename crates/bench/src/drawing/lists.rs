//! Table `lists`: opaque and blended meshes, which two shaders draw. They are in two lists over one
//! pool, in one list that is masked twice, or in two pools.

mod layers;

use drystone_render::{GlConfig, GlDevice, RenderError, View};

use self::layers::{Layers, Plan};
use super::{
    LISTS, SIZE,
    contenders::{available, same_picture},
    drawn::{ROUND_FRAMES, ROUND_SECONDS, TREMBLE_VOXELS, moved},
    frames::FrameTimes,
    scene::{HALF_GLASS, Meshes, RandomScene, small_meshes},
};
use crate::{Contender, Error, Figure, Options, Table};

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

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(LISTS.name);
    for (case, side, chunks_per_side) in CASES {
        if options.selects(case) {
            let scene = RandomScene::with(side, [chunks_per_side; 3], HALF_GLASS)
                .map_err(|message| failed(&table, case, "scene", message))?;
            run_case(&mut table, options, case, (&scene.meshes(), &scene.view))?;
        }
    }
    if options.selects(SMALL_MESHES) {
        let (meshes, view) = small_meshes();
        run_case(&mut table, options, SMALL_MESHES, (&meshes.every_other_blended(), &view))?;
    }
    Ok(table)
}

fn failed(table: &Table, case: &str, contender: &str, message: String) -> Error {
    let [table, case, contender] = [table.name(), case, contender].map(str::to_owned);
    Error::Contender { table, case, contender, message }
}

fn run_case(
    table: &mut Table,
    options: &Options,
    case: &str,
    (meshes, view): (&Meshes, &View),
) -> Result<(), Error> {
    let mut drawn = Vec::new();
    let mut first = None;
    for (name, plan) in PLANS {
        let refused = |table: &Table, message| failed(table, case, name, message);
        let opened = available(case, name, open(plan, meshes))
            .map_err(|error| refused(table, error.to_string()))?;
        let Some(mut layers) = opened else { continue };
        table.machine.gpu = layers.describe();
        let picture = layers.picture(view).map_err(|error| refused(table, error.to_string()))?;
        let first = first.get_or_insert_with(|| picture.clone());
        same_picture(first, &picture).map_err(|message| refused(table, message))?;
        drawn.push((name, layers));
    }
    let contenders = drawn.into_iter().map(|(name, mut layers)| {
        let mut frame = 0;
        Contender::new(name, move || round(&mut layers, view, &mut frame))
    });
    table.run_case(case, options, contenders.collect())
}

fn open(plan: Plan, meshes: &Meshes) -> Result<Layers<GlDevice>, RenderError> {
    let [width, height] = SIZE;
    Layers::new(GlDevice::headless(GlConfig::default(), width, height)?, plan, meshes)
}

/// Draws frames with a moving camera, so that each frame has new masks and a new order.
fn round(
    layers: &mut Layers<GlDevice>,
    view: &View,
    frame: &mut u32,
) -> Result<Vec<Figure>, String> {
    layers.draw(view).and_then(|()| layers.finish()).map_err(|error| error.to_string())?;
    let mut times = FrameTimes::default();
    while times.frames < ROUND_FRAMES && times.draw_ns < ROUND_SECONDS * 1e9 {
        *frame += 1;
        let view = moved(view, TREMBLE_VOXELS, *frame);
        times.time(layers, |it| it.draw(&view), Layers::finish)?;
    }
    Ok(times.times())
}
