//! Table `dynamic`: 50 chunks of the scene filled anew at random and meshed before every
//! frame.

use super::{
    DYNAMIC,
    changing::Changing,
    contenders::{Kind, compare, if_possible},
    scene::RandomScene,
    still::CASES,
};
use crate::{Contender, Error, Options, Table};

/// Kinds that take part: vertices of another size tell nothing new here.
const KINDS: [Kind; 4] = [Kind::PoolWgpu, Kind::NaiveWgpu, Kind::PoolGl, Kind::NaiveGl];

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(DYNAMIC.name);
    for (case, side, chunks_a_side, quick) in CASES {
        if (quick || !options.quick) && options.wants(case) {
            run_case(&mut table, options, case, [side, chunks_a_side])?;
        }
    }
    Ok(table)
}

fn run_case(
    table: &mut Table,
    options: &Options,
    case: &str,
    [side, chunks_a_side]: [u32; 2],
) -> Result<(), Error> {
    let name = table.name().to_owned();
    let failed = |contender: &str, message: String| {
        let [case, contender] = [case, contender].map(str::to_owned);
        Error::Contender { table: name.clone(), case, contender, message }
    };
    let scene = RandomScene::new(side, chunks_a_side).map_err(|e| failed("scene", e))?;
    let mut changing = Vec::new();
    for kind in KINDS {
        let one = if_possible(case, kind.name(), Changing::open(kind, &scene))
            .map_err(|error| failed(kind.name(), error.to_string()))?;
        changing.extend(one);
    }
    let view = scene.view;
    drop(scene);
    let adapters: Vec<_> = changing.iter_mut().map(|one| one.scene.renderer().backend()).collect();
    table.machine.gpu = adapters.join("; ");
    for one in &mut changing {
        one.change().map_err(|message| failed(one.kind.name(), message))?;
    }
    compare(changing.iter_mut().map(|one| (one.kind, one.scene.renderer())), &view)
        .map_err(|(kind, message)| failed(kind.name(), message))?;
    let contenders = changing
        .into_iter()
        .map(|mut one| Contender::new(one.kind.name(), move || one.round(&view)));
    table.run_case(case, options, contenders.collect())
}
