//! Table `arenas`: memory allocators compared with the best crates.

mod bump;
mod frame_ring;
mod global;
mod pool;
mod scope;
#[allow(unsafe_code)]
mod small;
#[allow(unsafe_code)]
mod stack;
pub(crate) mod threads;

use std::path::PathBuf;

use crate::{Error, Run};

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    bump::run(run)?;
    scope::run(run)?;
    stack::run(run)?;
    frame_ring::run(run)?;
    pool::run(run)?;
    small::run(run)?;
    global::run(run)
}

/// Returns the path of the document that is parsed. If there is none, prints that the cases are
/// skipped.
fn document_path(cases: &str) -> Option<PathBuf> {
    const FILE: &str = "mime-types.xml";
    let folder = std::env::var_os("DRYSTONE_DATA");
    if folder.is_none() {
        eprintln!("skipped: {cases}: {FILE} is needed, and DRYSTONE_DATA is not set");
    }
    Some(PathBuf::from(folder?).join(FILE))
}
