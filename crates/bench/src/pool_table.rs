//! Table `pool`: what the vertex pool costs beside the allocators that it is made of, and
//! what defragmentation leaves after long churn. Nothing is uploaded or drawn.

mod churn;
mod meshes;
mod pairs;
mod places;
mod reserved;

use crate::{Error, Options, Table, TableEntry};

/// The table's place in the list of tables.
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
