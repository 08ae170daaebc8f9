//! Table `meshing`: converts voxels to quads, compared with the best meshers.
//!
//! There are two kinds of contenders. All of a kind begin with the same bytes:
//!
//! - **From an array.** `drystone-array`, `block-mesh` and `block-mesh-bgm` get one array of padded voxels.
//!   `classic` gets a padded chunk. `binary-greedy-meshing` gets padded voxels and both bit masks, which its users
//!   keep beside the voxels. `drystone-array-ao` adds ambient occlusion.
//! - **From a stored chunk** and its neighbours. `drystone` fills its padded chunk and meshes it. `…-chunk` are
//!   the peers: the cheapest gather into their own layout is part of the time.
//!
//! Each contender meshes all chunks once before its clock starts, so that all begin with their voxels in the cache
//! and with branch predictors that have seen their code.
//!
//! `drystone-padded` is the second half of `drystone`, and the metric `fill` the first one. Every mesh is compared
//! with one quad per face, by area per face direction and material. The case `boxes` divides solid voxels into
//! boxes.

mod areas;
mod boxes;
mod fill;
mod gather;
mod input;
mod ours;
mod peers;
mod scenes;

use std::hint::black_box;

use block_mesh::{GreedyQuadsBuffer, greedy_quads};
use block_mesh_bgm::{BinaryGreedyQuadsBuffer, binary_greedy_quads, binary_greedy_quads_ao_safe};
use drystone_voxel::{GreedyMesher, MesherOptions, PaddedChunk};

use self::{
    areas::Areas,
    gather::{GatheredBlocks, GatheredColumns},
    input::Input,
    ours::{Array, Classic, Greedy, Stored},
    peers::{BinaryGreedy, BlockMesh},
    scenes::Scene,
};
use crate::{
    Contender, Error, Failure, Figure, Options, Run,
    rounds::{Round, timed},
};

/// Smallest number of meshes per round, so that short times can be measured.
const MIN_MESHES: usize = 24;
/// Smallest number of meshes per round for uniform chunks, which drystone skips by a flag.
const MIN_UNIFORM_MESHES: usize = 4096;

/// A mesher with its reusable memory.
trait Mesher {
    /// Meshes a chunk.
    fn mesh(&mut self, input: &Input);

    /// Number of quads in the last mesh.
    fn quad_count(&self) -> usize;

    /// Adds the area of each quad of the last mesh, which was made from `input`.
    fn add_areas(&self, input: &Input, areas: &mut Areas);
}

/// Description of a case.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    scene: fn(&Options) -> Result<Scene, Failure>,
    /// Whether to measure the distribution of the number of quads.
    spread: bool,
    /// Whether each chunk has only one material.
    uniform: bool,
}

const fn case(name: &'static str, scene: fn(&Options) -> Result<Scene, Failure>) -> Case {
    Case { name, scene, spread: false, uniform: false }
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
];

/// Case with ambient occlusion.
const SHADED_CASE: Case = case("ao-32", |options| scenes::terrain(32, options));

/// Cases in which chunks are meshed into a pool.
const FILL_CASES: &[Case] = &[
    case("fill-random-32", |options| scenes::random(32, options)),
    case("fill-terrain-32", |options| scenes::terrain(32, options)),
];

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for &case in CASES {
        let inputs = || (case.scene)(run.options).and_then(Scene::inputs);
        let Some(inputs) = run.prepare(case.name, inputs)? else { continue };
        match inputs[0].padded.side() {
            16 => run_case::<18, 16>(run, case, &inputs)?,
            32 => run_case::<34, 32>(run, case, &inputs)?,
            _ => run_case::<64, 62>(run, case, &inputs)?,
        }
    }
    let inputs = || (SHADED_CASE.scene)(run.options).and_then(Scene::inputs);
    if let Some(inputs) = run.prepare(SHADED_CASE.name, inputs)? {
        run_shaded(run, SHADED_CASE, &inputs)?;
    }
    for case in FILL_CASES {
        let inputs = || (case.scene)(run.options).and_then(Scene::inputs);
        let Some(inputs) = run.prepare(case.name, inputs)? else { continue };
        fill::run(run, case.name, &inputs)?;
    }
    let inputs = || scenes::terrain(32, run.options).and_then(Scene::inputs);
    match run.prepare("boxes", inputs)? {
        Some(inputs) => boxes::run(run, "boxes", &inputs),
        None => Ok(()),
    }
}

/// Runs a case. `P` is the side of the padded chunk, `N` the side of the chunk.
fn run_case<const P: u32, const N: usize>(
    run: &mut Run<'_>,
    case: Case,
    inputs: &[Input],
) -> Result<(), Error> {
    let uniform_meshes = run.options.size(MIN_UNIFORM_MESHES, MIN_MESHES);
    let new = |name, mesher| contender(name, mesher, case, (inputs, uniform_meshes));
    let bgm = BinaryGreedyQuadsBuffer::default;
    let buffer = || GreedyQuadsBuffer::new((P * P * P) as usize);
    run.case(case.name, || {
        let table = inputs[0].materials();
        let fourth: (_, Box<dyn Mesher>) = if case.uniform {
            ("drystone-scan", Box::new(Greedy::new(GreedyMesher::new(), Input::unknown)))
        } else {
            ("drystone-array-ao", Box::new(Array::new(shaded_mesher())))
        };
        let bgm_chunk = BlockMesh::<P, _, _>::new(bgm(), binary_greedy_quads);
        let block_mesh_chunk = BlockMesh::<P, _, _>::new(buffer(), greedy_quads);
        Ok(vec![
            new("drystone", Box::<Stored>::default()),
            new("drystone-padded", Box::new(Greedy::new(GreedyMesher::new(), Input::padded))),
            new("drystone-array", Box::new(Array::new(GreedyMesher::new()))),
            new(fourth.0, fourth.1),
            new("block-mesh-bgm", Box::new(BlockMesh::<P, _>::new(bgm(), binary_greedy_quads))),
            new("block-mesh", Box::new(BlockMesh::<P, _>::new(buffer(), greedy_quads))),
            new("binary-greedy-meshing", Box::<BinaryGreedy<N>>::default()),
            new("classic", Box::<Classic>::default()),
            new("block-mesh-bgm-chunk", Box::new(GatheredBlocks::new(bgm_chunk, table))),
            new("block-mesh-chunk", Box::new(GatheredBlocks::new(block_mesh_chunk, table))),
            new(
                "binary-greedy-meshing-chunk",
                Box::new(GatheredColumns::<N>::new(BinaryGreedy::default(), table)),
            ),
        ])
    })?;
    let mut padded = PaddedChunk::new();
    run.case(case.name, || Ok(vec![Contender::new("drystone", || fill(inputs, &mut padded))]))
}

/// Runs a case with ambient occlusion, of chunks of 32³ voxels.
fn run_shaded(run: &mut Run<'_>, case: Case, inputs: &[Input]) -> Result<(), Error> {
    let new = |name, mesher| contender(name, mesher, case, (inputs, MIN_MESHES));
    let bgm = |mesh| BlockMesh::<34, BinaryGreedyQuadsBuffer>::new(Default::default(), mesh);
    run.case(case.name, || {
        Ok(vec![
            new("drystone", Box::<Stored>::default()),
            new("drystone-padded", Box::new(Greedy::new(GreedyMesher::new(), Input::padded))),
            new("drystone-array", Box::new(Array::new(GreedyMesher::new()))),
            new("drystone-array-ao", Box::new(Array::new(shaded_mesher()))),
            new("drystone-ao", Box::new(Greedy::new(shaded_mesher(), Input::padded))),
            new("block-mesh-bgm", Box::new(bgm(binary_greedy_quads))),
            new("block-mesh-bgm-ao", Box::new(bgm(binary_greedy_quads_ao_safe))),
        ])
    })
}

/// A mesher with ambient occlusion.
fn shaded_mesher() -> GreedyMesher {
    GreedyMesher::with_options(MesherOptions::default().with_ambient_occlusion())
}

fn contender<'a>(
    name: &str,
    mut mesher: Box<dyn Mesher>,
    case: Case,
    (inputs, uniform_meshes): (&'a [Input], usize),
) -> Contender<'a> {
    let min_meshes = if case.uniform { uniform_meshes } else { MIN_MESHES };
    let repeats = min_meshes.div_ceil(inputs.len());
    Contender::new(name, move || {
        // Contenders read different copies of the voxels. Those of the contender before would be in the
        // cache.
        for input in inputs {
            mesher.mesh(black_box(input));
        }
        let ((), ns) = timed(|| {
            for input in (0..repeats).flat_map(|_| inputs) {
                mesher.mesh(black_box(input));
                black_box(mesher.quad_count());
            }
        });
        let time_us = ns / 1e3 / (repeats * inputs.len()) as f64;
        let mut counts = Vec::with_capacity(inputs.len());
        for input in inputs {
            mesher.mesh(input);
            let mut areas = Areas::default();
            mesher.add_areas(input, &mut areas);
            input.expected.check(&areas)?;
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
fn fill(inputs: &[Input], padded: &mut PaddedChunk) -> Round {
    let repeats = MIN_MESHES.div_ceil(inputs.len());
    let ((), ns) = timed(|| {
        for input in (0..repeats).flat_map(|_| inputs) {
            input.fill(padded);
            black_box(padded.voxels());
        }
    });
    if inputs.last().is_none_or(|last| last.padded.voxels() != padded.voxels()) {
        return Err("the padded chunk differs".into());
    }
    Ok(vec![Figure::new("fill", "us/chunk", ns / 1e3 / (repeats * inputs.len()) as f64)])
}
