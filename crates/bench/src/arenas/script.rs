//! Memory use of a script: many small blocks of a few sizes. Some of them grow and shrink.
//!
//! A small Lua program runs once with a hook that records every step. Each contender then repeats
//! these steps. The first bytes of a block are written and read, as in any program. A first run,
//! which is not measured, compares the content of all blocks.

mod lua;
mod trace;

use std::time::Instant;

use drystone_memory::SlotClass;

use super::small::contenders::{self, Dlmalloc, InProgram, Objects, Rlsf, Talc};
use crate::{Contender, Error, Figure, Options, Table};
use trace::Trace;

const CASE: &str = "small-script";
/// Turns of the program's loop: several hundred thousand steps.
const TURNS: usize = 1500;
const QUICK_TURNS: usize = 50;

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    if !options.selects(CASE) {
        return Ok(());
    }
    let failed = |contender: &str, message: String| Error::Contender {
        table: "arenas".to_owned(),
        case: CASE.to_owned(),
        contender: contender.to_owned(),
        message,
    };
    let turns = options.size(TURNS, QUICK_TURNS);
    let (trace, classes) = lua::record(turns).map_err(|why| failed("lua", why))?;
    let contenders = contenders(&trace, &classes).map_err(|why| failed("set-up", why))?;
    table.run_case(CASE, options, contenders)
}

fn contenders<'a>(trace: &'a Trace, classes: &[SlotClass]) -> Result<Vec<Contender<'a>>, String> {
    Ok(vec![
        contender("drystone", trace, contenders::drystone(classes)?),
        contender("malloc", trace, InProgram(std::alloc::System)),
        contender("mimalloc", trace, InProgram(mimalloc::MiMalloc)),
        contender("snmalloc-rs", trace, InProgram(snmalloc_rs::SnMalloc)),
        contender("talc", trace, Talc::new()?),
        contender("rlsf", trace, Rlsf::new()?),
        contender("dlmalloc", trace, Dlmalloc::new()?),
    ])
}

fn contender<'a, O: Objects + 'a>(name: &str, trace: &'a Trace, mut objects: O) -> Contender<'a> {
    let mut is_checked = false;
    Contender::new(name, move || {
        let wrong = "memory ran out, or a block lost its content";
        if !is_checked {
            trace.replay::<true, O>(&mut objects).ok_or(wrong)?;
            is_checked = true;
        }
        let start = Instant::now();
        trace.replay::<false, O>(&mut objects).ok_or(wrong)?;
        Ok(vec![Figure::time_since(start, trace.steps.len())])
    })
}
