//! Table `meshing`: converts voxels to quads, compared with the best meshers.
//!
//! Every contender gets each chunk in its own input format, which is prepared before the clock
//! starts. drystone, `classic`, `block-mesh` and `block-mesh-bgm` get padded voxels.
//! `binary-greedy-meshing` gets padded voxels and both bit masks. The metric `fill` is the cost of
//! filling drystone's padded chunk from a world. Every mesh is compared with one quad per face, by
//! area per face direction and material.

mod areas;
mod binary_greedy;
mod block_mesh;
mod classic;
mod input;
mod ours;
mod scenes;

use std::{hint::black_box, time::Instant};

use drystone_voxel::PaddedChunk;

use self::{
    areas::Areas,
    binary_greedy::BinaryGreedy,
    block_mesh::{Bgm, BgmShaded, BlockMesh},
    classic::Classic,
    input::Input,
    ours::{Flagged, Scanned, Shaded},
    scenes::Scene,
};
use crate::{Contender, Error, Figure, Options, Table, TableEntry, rounds::elapsed_ns};

/// Entry of the table in the list of tables.
pub(crate) const ENTRY: TableEntry = TableEntry {
    name: "meshing",
    about: "converting voxels to quads, compared with the best meshers",
    run,
};

/// Smallest number of meshes per round, so that short times can be measured.
const MIN_MESHES: usize = 24;
/// Smallest number of meshes per round for uniform chunks, which drystone skips by a flag.
const MIN_UNIFORM_MESHES: usize = 4096;

/// A mesher with its reusable memory.
trait Mesher {
    const NAME: &'static str;

    /// Meshes a chunk.
    fn mesh(&mut self, input: &Input);

    /// Number of quads in the last mesh.
    fn quad_count(&self) -> usize;

    /// Adds the area of each quad of the last mesh, which was made from `input`.
    fn add_areas(&self, input: &Input, areas: &mut Areas);
}

/// Description of a case.
struct Case {
    name: &'static str,
    scene: fn(&Options) -> Result<Scene, String>,
    /// Whether to measure the distribution of the number of quads.
    spread: bool,
    /// Whether each chunk has only one material.
    uniform: bool,
    /// Whether ambient occlusion is on.
    shaded: bool,
}

const fn case(name: &'static str, scene: fn(&Options) -> Result<Scene, String>) -> Case {
    Case { name, scene, spread: false, uniform: false, shaded: false }
}

const CASES: &[Case] = &[
    case("random-16", |options| scenes::random(16, options)),
    case("random-32", |options| scenes::random(32, options)),
    case("random-62", |options| scenes::random(62, options)),
    Case { spread: true, ..case("noise-16", |options| scenes::noise(16, options)) },
    Case { spread: true, ..case("noise-32", |options| scenes::noise(32, options)) },
    case("terrain-32", |options| scenes::terrain(32, options)),
    case("terrain-62", |options| scenes::terrain(62, options)),
    case("caves-32", scenes::caves),
    Case { uniform: true, ..case("empty-32", |_| scenes::uniform(false)) },
    Case { uniform: true, ..case("solid-32", |_| scenes::uniform(true)) },
    case("checker-32", |_| scenes::checker()),
    Case { shaded: true, ..case("ao-32", |options| scenes::terrain(32, options)) },
];

fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(ENTRY.name);
    for case in CASES.iter().filter(|case| options.selects(case.name)) {
        let inputs = inputs(case.name, case.scene, options)?;
        match inputs[0].side() {
            16 => run_case::<18, 16>(&mut table, options, case, &inputs)?,
            32 => run_case::<34, 32>(&mut table, options, case, &inputs)?,
            _ => run_case::<64, 62>(&mut table, options, case, &inputs)?,
        }
    }
    Ok(table)
}

/// Returns the chunks of a case in the formats of all contenders.
fn inputs(
    case: &str,
    scene: fn(&Options) -> Result<Scene, String>,
    options: &Options,
) -> Result<Vec<Input>, Error> {
    let scene = scene(options).and_then(Scene::inputs);
    scene.map_err(|message| Error::Contender {
        table: ENTRY.name.to_owned(),
        case: case.to_owned(),
        contender: "scene".to_owned(),
        message,
    })
}

/// Runs a case. `P` is the side of the padded chunk, `N` the side of the chunk.
fn run_case<const P: u32, const N: usize>(
    table: &mut Table,
    options: &Options,
    case: &Case,
    inputs: &[Input],
) -> Result<(), Error> {
    let mut contenders = vec![contender(Flagged::default(), case, inputs)];
    if case.uniform {
        contenders.push(contender(Scanned::default(), case, inputs));
    }
    if case.shaded {
        contenders.extend([
            contender(Shaded::default(), case, inputs),
            contender(Bgm::<P>::default(), case, inputs),
            contender(BgmShaded::<P>::default(), case, inputs),
        ]);
        return table.run_case(case.name, options, contenders);
    }
    contenders.extend([
        contender(Bgm::<P>::default(), case, inputs),
        contender(BlockMesh::<P>::new(), case, inputs),
        contender(BinaryGreedy::<N>::default(), case, inputs),
        contender(Classic::default(), case, inputs),
    ]);
    table.run_case(case.name, options, contenders)?;
    table.run_case(case.name, options, vec![fill(inputs)])
}

fn contender<'a, M: Mesher + 'a>(
    mut mesher: M,
    case: &'a Case,
    inputs: &'a [Input],
) -> Contender<'a> {
    let min_meshes = if case.uniform { MIN_UNIFORM_MESHES } else { MIN_MESHES };
    let repeats = min_meshes.div_ceil(inputs.len());
    Contender::new(M::NAME, move || {
        let start = Instant::now();
        for input in (0..repeats).flat_map(|_| inputs) {
            mesher.mesh(black_box(input));
            black_box(mesher.quad_count());
        }
        let time_us = elapsed_ns(start) / 1e3 / (repeats * inputs.len()) as f64;
        let mut counts = Vec::with_capacity(inputs.len());
        for input in inputs {
            mesher.mesh(input);
            let mut areas = Areas::default();
            mesher.add_areas(input, &mut areas);
            input.expected().check(&areas)?;
            counts.push(mesher.quad_count());
        }
        counts.sort_unstable();
        let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
        let mut figures = vec![
            Figure::new("time", "us/chunk", time_us),
            Figure::new("quads", "quads/chunk", mean),
        ];
        if case.spread {
            let at = |percent: usize| counts[(counts.len() - 1) * percent / 100] as f64;
            figures.push(Figure::new("quads-median", "quads/chunk", at(50)));
            figures.push(Figure::new("quads-p95", "quads/chunk", at(95)));
        }
        Ok(figures)
    })
}

/// Measures how long it takes to fill a padded chunk from 27 chunks of a world.
fn fill(inputs: &[Input]) -> Contender<'_> {
    let mut padded = PaddedChunk::new();
    let repeats = MIN_MESHES.div_ceil(inputs.len());
    Contender::new("drystone", move || {
        let start = Instant::now();
        for input in (0..repeats).flat_map(|_| inputs) {
            input.fill(&mut padded);
            black_box(padded.voxels());
        }
        let time_us = elapsed_ns(start) / 1e3 / (repeats * inputs.len()) as f64;
        let last = inputs.last().map(Input::padded);
        let same = last.is_some_and(|last| last.voxels() == padded.voxels());
        let figure = Figure::new("fill", "us/chunk", time_us);
        same.then(|| vec![figure]).ok_or_else(|| "the padded chunk differs".to_owned())
    })
}
