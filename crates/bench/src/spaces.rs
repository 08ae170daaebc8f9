//! Table `spaces`: indices, ranges and handles, compared with the best crates.

mod article_tree;
mod defrag;
mod handles;
mod index_cases;
mod indices;
mod range_cases;
mod ranges;
#[cfg(feature = "peers")]
mod vma;

use crate::{Error, Options, Table, TableEntry};

/// Entry of the table in the list of tables.
pub(crate) const ENTRY: TableEntry =
    TableEntry { name: "spaces", about: "allocating in a buffer: indices, ranges, handles", run };

fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(ENTRY.name);
    index_cases::run(&mut table, options)?;
    handles::run(&mut table, options)?;
    range_cases::run(&mut table, options)?;
    defrag::run(&mut table, options)?;
    Ok(table)
}
