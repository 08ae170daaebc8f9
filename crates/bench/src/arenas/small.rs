//! Small objects: a document parsed into a tree, random lifetimes, and the memory overhead. One
//! thread uses each allocator directly, without a collection.
//!
//! The measured work of a parse is reading the tokens and building the tree, with an allocation for
//! each node, attribute and string and a copy of every string, and then freeing it. `tokens-only`
//! reads the tokens alone. Objects inside an element are freed before it. `drystone` uses the classes
//! and slot counts that a recorder proposes for the document. `drystone-default` uses its default
//! classes. `article` is a port of D. Gustafsson's allocator with the recorded numbers of slots.
//!
//! `drystone`, `talc`, `rlsf` and `dlmalloc` serve one thread and use no atomic operation here.
//! `malloc`, `mimalloc` and `snmalloc-rs` serve every thread of a program, which has a cost. The
//! case `global` compares all of them as global allocators of whole programs.

pub(super) mod allocator;
mod article;
mod cases;
mod churn;
mod contenders;
mod document;
#[cfg(feature = "peers")]
mod lua;
mod one_size;
mod resident;
#[cfg(feature = "peers")]
mod script;
mod statistics;
#[cfg(feature = "peers")]
mod trace;
mod tree;
mod work;

use crate::{Error, Run};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    cases::run(run)?;
    one_size::run(run)?;
    #[cfg(feature = "peers")]
    script::run(run)?;
    Ok(())
}
