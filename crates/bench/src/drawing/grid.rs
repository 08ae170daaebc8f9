//! Table `grid`: the article's headline, 50 × 50 chunks of 32³ in four colours.

use super::{
    GRID,
    contenders::Kind,
    scene::{FOUR_COLORS, RandomScene},
    still::run_case,
};
use crate::{Error, Options, Table};

/// Voxels a side of a chunk.
const SIDE: u32 = 32;
/// Chunks a side, and in a quick run.
const CHUNKS: [u32; 2] = [50, 8];

/// Kinds that take part: a pool of the article's vertices would take as many gigabytes more
/// as the naive program does.
const KINDS: [Kind; 4] = [Kind::PoolGl, Kind::NaiveGl, Kind::PoolWgpu, Kind::NaiveWgpu];

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(GRID.name);
    let [full, quick] = CHUNKS;
    let count = options.size(full, quick);
    let case = format!("{count}x{count}");
    if options.wants(&case) {
        let scene = RandomScene::with(SIDE, [count, 1, count], FOUR_COLORS).map_err(|message| {
            let [table, contender] = [GRID.name, "scene"].map(str::to_owned);
            Error::Contender { table, case: case.clone(), contender, message }
        })?;
        run_case(&mut table, options, &case, (&scene.meshes(), &scene.view), &KINDS)?;
    }
    Ok(table)
}
