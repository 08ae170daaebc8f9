//! Table `static`: a scene that does not change, with a camera that stands still, and with one that
//! moves (`pool-wgpu-moving`).

use std::cell::RefCell;

use drystone_render::View;

use super::{
    STATIC,
    contenders::{Kind, available, compare},
    drawn::{Drawn, TREMBLE_VOXELS},
    dynamic::failed,
    scene::{Meshes, RandomScene, small_meshes},
};
use crate::{Contender, Error, Options, Table};

/// Cases: name, voxels per side of a chunk, chunks per side, and whether a quick run includes it.
pub(super) const CASES: [(&str, u32, u32, bool); 7] = [
    ("16x3", 16, 3, true),
    ("16x5", 16, 5, true),
    ("16x10", 16, 10, true),
    ("16x15", 16, 15, false),
    ("32x3", 32, 3, true),
    ("32x5", 32, 5, true),
    ("32x10", 32, 10, true),
];

/// Case of many small meshes.
pub(super) const SMALL_MESHES: &str = "small-meshes";

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(STATIC.name);
    for (case, side, chunks_per_side, quick) in CASES {
        if (quick || !options.quick) && options.selects(case) {
            let scene = RandomScene::new(side, chunks_per_side)
                .map_err(|message| failed(&table, case, "scene", message))?;
            eprintln!("{case}: {:.0} quads per chunk on average", scene.mean_quads());
            run_case(&mut table, options, case, (&scene.meshes(), &scene.view), &Kind::ALL)?;
        }
    }
    run_small(&mut table, options)?;
    Ok(table)
}

/// Runs the case `small-meshes`, if it is selected.
pub(super) fn run_small(table: &mut Table, options: &Options) -> Result<(), Error> {
    if !options.selects(SMALL_MESHES) {
        return Ok(());
    }
    let (meshes, view) = small_meshes();
    run_case(table, options, SMALL_MESHES, (&meshes, &view), &Kind::ALL)
}

/// Draws meshes with these contenders.
pub(super) fn run_case(
    table: &mut Table,
    options: &Options,
    case: &str,
    (meshes, view): (&Meshes, &View),
    kinds: &[Kind],
) -> Result<(), Error> {
    let mut drawn = Vec::new();
    for &kind in kinds {
        let one = available(case, kind.name(), Drawn::open(kind, meshes))
            .map_err(|error| failed(table, case, kind.name(), error.to_string()))?;
        drawn.extend(one);
    }
    table.machine.gpu = adapters(&mut drawn);
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

/// Returns the names of the contenders' adapters, one per backend.
fn adapters(drawn: &mut [Drawn]) -> String {
    let name_of = |kinds: [Kind; 2]| {
        let first = drawn.iter_mut().find(|one| kinds.contains(&one.kind))?;
        Some(first.renderer.output().describe())
    };
    let backends = [[Kind::PoolWgpu, Kind::NaiveWgpu], [Kind::PoolGl, Kind::NaiveGl]];
    backends.into_iter().filter_map(name_of).collect::<Vec<_>>().join("; ")
}
