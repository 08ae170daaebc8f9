//! Small objects: a document parsed into a tree, random lifetimes, and what it costs in
//! memory. Each allocator is used as it is, by one thread, without a collection around it.
//!
//! The document is cut into tokens beforehand, the same for all. What is timed is building
//! the tree: an allocation for each node, attribute and string, and the copy of every
//! string; and then freeing it, what is in an element before the element. `drystone` has
//! the classes and numbers of slots that a recorder proposes for the document, as is the
//! idea of such an allocator; `drystone-default` those that it has by itself.
//!
//! `drystone`, `talc`, `rlsf` and `dlmalloc` serve one thread and use no atomic operation here.
//! `malloc`, `mimalloc` and `snmalloc-rs` serve every thread of a program, and pay for it. The case
//! `global` compares all of them as global allocators of whole programs.

mod cases;
mod churn;
pub(super) mod contenders;
mod document;
mod resident;
mod statistics;
mod tree;

use std::path::PathBuf;

use crate::{Error, Options, Table};

const FILE: &str = "mime-types.xml";
const CASES: [&str; 3] = ["small-parse", "small-random", "small-memory"];

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    if !CASES.iter().any(|case| options.wants(case)) {
        return Ok(());
    }
    let Some(folder) = std::env::var_os("DRYSTONE_DATA") else {
        eprintln!("skipped: {}: they need {FILE}, and DRYSTONE_DATA is not set", CASES.join(", "));
        return Ok(());
    };
    let path = PathBuf::from(folder).join(FILE);
    let in_file = |message: String| resident::failed(table, CASES[0], FILE, &message);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| in_file(format!("{}: {error}", path.display())))?;
    let tokens = document::tokens(&text).map_err(in_file)?;
    let statistics = statistics::record(&tokens).map_err(in_file)?;
    let input = cases::Input { tokens: &tokens, statistics: &statistics, options };
    match resident::asked_for() {
        Some(contender) => cases::measure_resident(table, &input, contender),
        None => cases::run(table, &input),
    }
}
