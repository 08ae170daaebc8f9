use crate::{Error, TableEntry, arenas, drawing, meshing, polygons, pool_table, spaces, world};

/// All tables. Add new ones here.
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

/// Returns the table of this name.
///
/// # Errors
/// `UnknownTable` with the names of all tables.
pub fn find_table(name: &str) -> Result<&'static TableEntry, Error> {
    TABLES.iter().find(|table| table.name == name).ok_or_else(|| Error::UnknownTable {
        name: name.to_owned(),
        known: TABLES.iter().map(|table| table.name).collect::<Vec<_>>().join(", "),
    })
}
