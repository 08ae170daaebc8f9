use crate::{Error, Options, Table, arenas, drawing, meshing, polygons, pool_table, spaces, world};

/// A table that can be asked for by name.
pub struct TableEntry {
    /// The name on the command line and in the JSON.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Measures it.
    pub run: fn(&Options) -> Result<Table, Error>,
}

/// Every table: the one place where a new one is added.
pub const TABLES: &[TableEntry] = &[
    spaces::ENTRY,
    arenas::ENTRY,
    pool_table::ENTRY,
    polygons::ENTRY,
    meshing::ENTRY,
    drawing::STATIC,
    drawing::DYNAMIC,
    drawing::NOISE,
    drawing::SMALL_MESHES,
    drawing::MASK_ORDER,
    drawing::BUCKET_SIZE,
    drawing::LISTS,
    drawing::GRID,
    drawing::CULLING,
    drawing::CUBES,
    world::ENTRY,
];

/// The table of this name.
///
/// # Errors
/// `UnknownTable`, naming those that exist.
pub fn find_table(name: &str) -> Result<&'static TableEntry, Error> {
    TABLES.iter().find(|table| table.name == name).ok_or_else(|| Error::UnknownTable {
        name: name.to_owned(),
        known: TABLES.iter().map(|table| table.name).collect::<Vec<_>>().join(", "),
    })
}
