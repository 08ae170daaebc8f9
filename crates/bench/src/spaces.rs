//! Table `spaces`: indices, ranges and handles beside the best crates.

use std::time::Instant;

use drystone_alloc::Slots;

use crate::{Contender, Error, Figure, Options, Table, TableEntry};

/// The table's place in the list of tables.
pub(crate) const ENTRY: TableEntry =
    TableEntry { name: "spaces", about: "places in a buffer: indices, ranges, handles", run };

fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(ENTRY.name);
    let count = options.size(1 << 20, 1 << 12);
    let ours = Contender::new("drystone", || {
        let mut slots = Slots::new();
        let start = Instant::now();
        for value in 0..count {
            slots.insert(value).map_err(|value| format!("no slot for {value}"))?;
        }
        let figure = Figure::time_since(start, count as usize);
        if slots.len() == count { Ok(vec![figure]) } else { Err("some are missing".into()) }
    });
    table.run_case("sequential", options, vec![ours])?;
    Ok(table)
}
