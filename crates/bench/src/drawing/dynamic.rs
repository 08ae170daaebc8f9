//! Table `dynamic`: before every frame, 50 chunks of the scene are filled at random and meshed.

use super::{
    DYNAMIC,
    changing::{Changes, Changing, RandomChanges},
    contenders::{Kind, available, compare},
    scene::RandomScene,
    still::CASES,
};
use crate::{Contender, Error, Options, Table};

/// Contenders. Kinds that differ only in the size of their vertices are left out.
const KINDS: [Kind; 4] = [Kind::PoolWgpu, Kind::NaiveWgpu, Kind::PoolGl, Kind::NaiveGl];

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(DYNAMIC.name);
    for (case, side, chunks_per_side, quick) in CASES {
        if (quick || !options.quick) && options.selects(case) {
            let scene = RandomScene::new(side, chunks_per_side)
                .map_err(|message| failed(&table, case, "scene", message))?;
            let first = RandomChanges::of(&scene);
            let changes = || Box::new(first.clone()) as Box<dyn Changes>;
            run_case(&mut table, options, case, scene, &changes)?;
        }
    }
    Ok(table)
}

/// Creates the error of a contender.
pub(super) fn failed(table: &Table, case: &str, contender: &str, message: String) -> Error {
    let [table, case, contender] = [table.name(), case, contender].map(str::to_owned);
    Error::Contender { table, case, contender, message }
}

/// Draws a changing scene with each contender.
pub(super) fn run_case(
    table: &mut Table,
    options: &Options,
    case: &str,
    scene: RandomScene,
    changes: &dyn Fn() -> Box<dyn Changes>,
) -> Result<(), Error> {
    let mut changing = Vec::new();
    for kind in KINDS {
        let one = available(case, kind.name(), Changing::open(kind, &scene, changes()))
            .map_err(|error| failed(table, case, kind.name(), error.to_string()))?;
        changing.extend(one);
    }
    let view = scene.view;
    drop(scene);
    let adapters: Vec<_> =
        changing.iter_mut().map(|one| one.scene.renderer().output().describe()).collect();
    table.machine.gpu = adapters.join("; ");
    for one in &mut changing {
        one.change().map_err(|message| failed(table, case, one.kind.name(), message))?;
    }
    compare(changing.iter_mut().map(|one| (one.kind, one.scene.renderer())), &view)
        .map_err(|(kind, message)| failed(table, case, kind.name(), message))?;
    let contenders = changing
        .into_iter()
        .map(|mut one| Contender::new(one.kind.name(), move || one.round(&view)));
    table.run_case(case, options, contenders.collect())
}
