//! Table `bucket-size`: a changing scene in buckets of one size, in buckets of several sizes, and
//! in ranges. The buckets of one size are larger from case to case.
//!
//! The article calls the vertices of a bucket K. In its table, the empty share of a bucket is K
//! less about 2,200, which is the number of *quads* of a whole chunk of 16³. Here K has that
//! meaning: the capacity of a chunk's bucket in quads, for all six face directions. A larger mesh
//! is split.

mod reserve;

use drystone_alloc::SizeClassConfig;
use drystone_pool::{Oversize, Placement};
use drystone_render::{PoolRenderer, PoolRendererConfig, RenderError};

use self::reserve::Replay;
use super::{
    changing::{Changing, RandomChanges},
    contenders::{Kind, available, gl_device, prepare},
    scene::RandomScene,
};
use crate::{Contender, Error, Failure, Figure, Run, error::By};

/// Cases: name, voxels per side of a chunk, chunks per side, and K.
const CASES: [(&str, u32, u32, &[u32]); 2] =
    [("16x5", 16, 5, &[2_400, 3_600, 4_800, 9_600]), ("4x5", 4, 5, &[150, 10_000])];

/// Spare buckets in addition to one per chunk: for split meshes, and for buckets that wait for
/// frames in flight.
const SPARE_BUCKETS: u32 = 256;

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for (case, side, chunks_per_side, buckets) in CASES {
        if let Some(scene) = run.prepare(case, || RandomScene::new(side, chunks_per_side))? {
            run_case(run, case, &scene, buckets)?;
        }
    }
    Ok(())
}

fn run_case(
    run: &mut Run<'_>,
    case: &str,
    scene: &RandomScene,
    buckets: &[u32],
) -> Result<(), Error> {
    let placements = placements(scene, buckets);
    let open = |(name, placement): &(String, Placement)| (name.clone(), open(placement, scene));
    let opened = available(case, placements.iter().map(open));
    let changing = prepare(run, case, &scene.view, opened)?;
    run.case(case, || {
        let replay = Replay::of(scene)?;
        let contenders = changing.into_iter().map(|(name, mut one)| {
            let placement = placements.iter().find(|(of, _)| *of == name);
            let (_, placement) = placement.ok_or("unknown contender")?;
            let waste = wastes(&replay, placement).by(&name)?;
            Ok(Contender::new(name, move || {
                let mut figures = one.round(&scene.view)?;
                figures.retain(|figure| ["draw", "cpu-all", "mesh"].contains(&figure.metric));
                figures.extend_from_slice(&waste);
                Ok(figures)
            }))
        });
        contenders.collect()
    })
}

/// Shares of the reserved memory that are not in a mesh. `waste` is for the initial scene in the
/// smallest buffer that it fits into. These are for a growing pool while the scene changes:
/// `waste-changing` is unused in allocations, `gaps` is free in small ranges or in buckets,
/// `waiting` is reserved for frames in flight, and `spare` is free in large ranges.
/// `least-changing` is for the smallest buffer in which all changes fit. With staged writes and ranges a
/// new mesh can overlap the old one.
fn wastes(replay: &Replay, placement: &Placement) -> Result<[Figure; 6], Failure> {
    let percent = |metric, part: f64| Figure::new(metric, "percent", part * 100.0);
    let shares = replay.shares(placement)?;
    Ok([
        percent("waste", replay.still().waste(placement)?),
        percent("waste-changing", shares.waste),
        percent("gaps", shares.gaps),
        percent("waiting", shares.waiting),
        percent("spare", shares.spare),
        percent("least-changing", replay.waste(placement)?),
    ])
}

/// Slot policies of a case, with their names.
fn placements(scene: &RandomScene, buckets: &[u32]) -> Vec<(String, Placement)> {
    let sizes = scene.quads.iter().map(|chunk| (chunk.mesh.len() as u32, 1));
    let classes =
        Placement::SizeClasses { histogram: sizes.collect(), config: SizeClassConfig::default() };
    let mut all: Vec<_> = buckets
        .iter()
        .map(|&elements| (format!("pool-gl-k{elements}"), Placement::Buckets { elements }))
        .collect();
    all.push(("pool-gl-classes".to_owned(), classes));
    all.push(("pool-gl-ranges".to_owned(), Placement::Ranges));
    all
}

fn open(placement: &Placement, scene: &RandomScene) -> Result<Changing, RenderError> {
    let meshes = scene.quads.len() as u32;
    let quads = match placement {
        Placement::Buckets { elements } => u64::from(meshes + SPARE_BUCKETS) * u64::from(*elements),
        _ => scene.quad_count().into(),
    };
    let config = PoolRendererConfig::default()
        .with_placement(placement.clone())
        .with_oversize(Oversize::Split);
    let renderer = PoolRenderer::with_config(gl_device()?, quads, meshes, config)?;
    let changes = Box::new(RandomChanges::of(scene));
    Changing::new(Kind::PoolGl, Box::new(renderer), scene, changes)
}
