//! Table `meshing`: voxels to quads, beside the best meshers.
//!
//! Every contender gets each chunk in the form that it works from, made beforehand: padded
//! voxels for ours, `classic`, `block-mesh` and `block-mesh-bgm`, padded voxels and both
//! bit masks for `binary-greedy-meshing`. What filling our padded chunk from a world costs
//! is the metric `fill`. Every mesh is checked by area per facing and material against one
//! quad a face.

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

/// The table's place in the list of tables.
pub(crate) const ENTRY: TableEntry =
    TableEntry { name: "meshing", about: "voxels to quads, beside the best meshers", run };

/// Meshes are repeated until a round has made about this many, so that what takes
/// nanoseconds can be measured.
const LEAST_MESHES: usize = 24;
/// The same for chunks that the mesher knows without a look.
const LEAST_UNIFORM_MESHES: usize = 4096;

/// A mesher and its memory, kept warm from chunk to chunk.
trait Mesher {
    const NAME: &'static str;

    /// Meshes a chunk.
    fn mesh(&mut self, input: &Input);

    /// How many quads the last mesh has.
    fn quad_count(&self) -> usize;

    /// Adds the area of each quad of the last mesh, of `input`.
    fn add_areas(&self, input: &Input, areas: &mut Areas);
}

/// What is measured and with whom.
struct Case {
    name: &'static str,
    scene: fn(&Options) -> Result<Scene, String>,
    /// Print how the numbers of quads spread.
    spread: bool,
    /// All chunks are of one material, which ours may know or not.
    uniform: bool,
    /// Corners are darkened.
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
    for case in CASES.iter().filter(|case| options.wants(case.name)) {
        let inputs = inputs(case.name, case.scene, options)?;
        match inputs[0].side() {
            16 => run_case::<18, 16>(&mut table, options, case, &inputs)?,
            32 => run_case::<34, 32>(&mut table, options, case, &inputs)?,
            _ => run_case::<64, 62>(&mut table, options, case, &inputs)?,
        }
    }
    Ok(table)
}

/// The chunks of a case in the forms of all contenders.
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

/// `P` is the padded side, `N` the side itself.
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
    let least = if case.uniform { LEAST_UNIFORM_MESHES } else { LEAST_MESHES };
    let repeats = least.div_ceil(inputs.len());
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

/// What it costs to make our input: a padded chunk from 27 chunks of a world.
fn fill(inputs: &[Input]) -> Contender<'_> {
    let mut padded = PaddedChunk::new();
    let repeats = LEAST_MESHES.div_ceil(inputs.len());
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
