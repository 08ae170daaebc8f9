//! Small objects: a document parsed into a tree, random lifetimes, and the memory overhead. One
//! thread uses each allocator directly, without a collection.
//!
//! The document is split into tokens beforehand. The measured work is building the tree, with an
//! allocation for each node, attribute and string and a copy of every string, and then freeing it.
//! Objects inside an element are freed before it. `drystone` uses the classes and slot counts that
//! a recorder proposes for the document. `drystone-default` uses its default classes.
//!
//! `drystone`, `talc`, `rlsf` and `dlmalloc` serve one thread and use no atomic operation here.
//! `malloc`, `mimalloc` and `snmalloc-rs` serve every thread of a program, which has a cost. The
//! case `global` compares all of them as global allocators of whole programs.

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
    if !CASES.iter().any(|case| options.selects(case)) {
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
    match resident::requested_contender() {
        Some(contender) => cases::measure_resident(table, &input, contender),
        None => cases::run(table, &input),
    }
}
