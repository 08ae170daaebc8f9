//! Table `pool`: the cost of the vertex pool compared with the allocators inside it, and the result
//! of defragmentation after long churn. No data is uploaded or drawn.

mod allocators;
mod churn;
mod meshes;
mod pairs;
mod reserved;

use crate::{Error, Options, Table, TableEntry};

/// Entry of the table in the list of tables.
pub(crate) const ENTRY: TableEntry = TableEntry {
    name: "pool",
    about: "the vertex pool without a GPU: insert and remove, churn, defragmentation",
    run,
};

fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(ENTRY.name);
    pairs::run(&mut table, options)?;
    reserved::run(&mut table, options)?;
    churn::run(&mut table, options)?;
    Ok(table)
}
