//! The drawing tables: whole frames, drystone's pool beside naive rendering.

mod scene;
mod still;

use crate::tables::TableEntry;

/// The table `static`.
pub(crate) const STATIC: TableEntry = TableEntry {
    name: "static",
    about: "chunks of random voxels drawn again and again, pool beside naive",
    run: still::run,
};
