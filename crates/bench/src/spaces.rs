//! Table `spaces`: indices, ranges and handles, compared with the best crates.

mod article_tree;
mod bulk;
mod defrag;
mod handles;
mod index_cases;
mod indices;
mod range_cases;
mod ranges;
#[cfg(feature = "peers")]
mod vma;

use crate::{Error, Run};

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    index_cases::run(run)?;
    bulk::run(run)?;
    handles::run(run)?;
    range_cases::run(run)?;
    defrag::run(run)
}
