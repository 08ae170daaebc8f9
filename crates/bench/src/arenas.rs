//! Table `arenas`: memory allocators compared with the best crates.

#[cfg(feature = "peers")]
#[allow(unsafe_code)]
mod adapter;
#[allow(unsafe_code)]
mod bump;
mod global;
mod pool;
mod scope;
#[cfg(feature = "peers")]
#[allow(unsafe_code)]
mod script;
#[allow(unsafe_code)]
mod small;
#[allow(unsafe_code)]
mod stack;

use crate::{Error, Options, Table, TableEntry};

/// Entry of the table in the list of tables.
pub(crate) const ENTRY: TableEntry =
    TableEntry { name: "arenas", about: "memory allocators: arenas, pools, small objects", run };

fn run(options: &Options) -> Result<Table, Error> {
    let mut table = Table::new(ENTRY.name);
    bump::run(&mut table, options)?;
    scope::run(&mut table, options)?;
    stack::run(&mut table, options)?;
    pool::run(&mut table, options)?;
    small::run(&mut table, options)?;
    #[cfg(feature = "peers")]
    script::run(&mut table, options)?;
    global::run(&mut table, options)?;
    Ok(table)
}
