//! Case `small-script`: many small blocks of a few sizes. Some of them grow and shrink.
//!
//! A small Lua program runs once with a hook that records every step. Each contender then repeats
//! these steps. The first bytes of a block are written and read, as in any program. A first run,
//! which is not measured, compares the content of all blocks.

use super::{
    contenders::{MEMORY_BYTES, NAMES, UNRECORDED, open},
    lua,
};
use crate::{Contender, Error, Run, error::By};

/// Turns of the program's loop: several hundred thousand steps.
const TURNS: usize = 1500;
const QUICK_TURNS: usize = 50;

pub(in crate::arenas) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let turns = run.options.size(TURNS, QUICK_TURNS);
    let recorded = std::cell::OnceCell::new();
    run.case("small-script", || {
        let (trace, classes) = lua::record(turns).by("lua")?;
        let trace = recorded.get_or_init(|| trace);
        let names = NAMES.iter().filter(|name| **name != "drystone-default").chain([&UNRECORDED]);
        let contender = |name: &&'static str| {
            let mut work = open(name, &classes, MEMORY_BYTES).by(name)?;
            let mut is_checked = false;
            Ok(Contender::new(*name, move || {
                if !is_checked {
                    work.check(trace)?;
                    is_checked = true;
                }
                work.repeat(trace)
            }))
        };
        names.map(contender).collect()
    })
}
