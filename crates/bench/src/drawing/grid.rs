//! Table `grid`: the article's main result, 50 × 50 chunks of 32³ in four colours.

use super::{
    GRID,
    contenders::Kind,
    scene::{FOUR_COLORS, RandomScene},
    still::run_case,
};
use crate::{Error, Options, Table};

/// Voxels per side of a chunk.
const SIDE: u32 = 32;
/// Chunks per side, in a full and in a quick run.
const CHUNKS: [u32; 2] = [50, 8];

/// Contenders. A pool of the article's vertices is left out: it would need several gigabytes in
/// addition to the naive program.
const KINDS: [Kind; 4] = [Kind::PoolGl, Kind::NaiveGl, Kind::PoolWgpu, Kind::NaiveWgpu];

pub(super) fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(GRID.name);
    let [full, quick] = CHUNKS;
    let count = options.size(full, quick);
    let case = format!("{count}x{count}");
    if options.selects(&case) {
        let scene = RandomScene::with(SIDE, [count, 1, count], FOUR_COLORS).map_err(|message| {
            let [table, contender] = [GRID.name, "scene"].map(str::to_owned);
            Error::Contender { table, case: case.clone(), contender, message }
        })?;
        run_case(&mut table, options, &case, (&scene.meshes(), &scene.view), &KINDS)?;
    }
    Ok(table)
}
