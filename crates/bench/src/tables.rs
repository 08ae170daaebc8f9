use crate::{
    Error, Options, Run, Table, arenas,
    drawing::{
        bucket_size, changing, cubes, culling, lists, mask_order, million, noise, still, switches,
    },
    meshing, polygons, pool_table, spaces, world,
};

/// A table that can be selected by name.
pub struct TableEntry {
    /// Name on the command line and in the JSON.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Function that runs all cases.
    run: fn(&mut Run<'_>) -> Result<(), Error>,
}

impl TableEntry {
    /// Measures the table.
    ///
    /// # Errors
    /// `Contender` if a contender fails, `NoCase` if no case is selected.
    pub fn measure(&self, options: &Options) -> Result<Table, Error> {
        let mut run = Run::new(self.name, options);
        (self.run)(&mut run)?;
        if run.table.rows().is_empty() {
            let case = options.case.clone().unwrap_or_default();
            return Err(Error::NoCase { table: self.name.to_owned(), case });
        }
        Ok(run.table)
    }
}

const fn table(
    name: &'static str,
    about: &'static str,
    run: fn(&mut Run<'_>) -> Result<(), Error>,
) -> TableEntry {
    TableEntry { name, about, run }
}

/// All tables. Add new ones here.
pub const TABLES: &[TableEntry] = &[
    table("spaces", "allocating in a buffer: indices, ranges, handles", spaces::run),
    table("arenas", "memory allocators: arenas, pools, small objects", arenas::run),
    table("threads", "general allocators used by 1, 2 and 4 threads", arenas::threads::run),
    table(
        "pool",
        "the vertex pool without a GPU: insert and remove, churn, defragmentation",
        pool_table::run,
    ),
    table("polygons", "polygons that share vertices: build, clip, churn", polygons::run),
    table("meshing", "converting voxels to quads, compared with the best meshers", meshing::run),
    table("static", "chunks of random voxels that do not change, pool and naive", still::run),
    table(
        "dynamic",
        "chunks of random voxels, 50 of them filled and meshed before every frame",
        changing::run,
    ),
    table("noise", "chunks of moving coherent noise, all meshed before every frame", noise::run),
    table("small-meshes", "20,250 meshes of 8 quads: the cost per mesh", still::run_small),
    table(
        "million",
        "1,000,000 meshes of 8 quads in a small picture: the CPU's cost",
        million::run,
    ),
    table(
        "mask-order",
        "selecting and sorting draw commands, in CPU time and in frames",
        mask_order::run,
    ),
    table(
        "bucket-size",
        "a changing scene in buckets of one size, of several, and in ranges",
        bucket_size::run,
    ),
    table(
        "lists",
        "opaque and blended meshes in two lists, in one masked twice, in two pools",
        lists::run,
    ),
    table("grid", "50 x 50 chunks of 32³ random voxels in four colours", still::run_grid),
    table(
        "culling",
        "a landscape with much hidden geometry, culled on the CPU or the GPU",
        culling::run,
    ),
    table(
        "switches",
        "a landscape with samples, shadows, ambient occlusion and far fade on and off",
        switches::run,
    ),
    table("cubes", "100,000 voxels change before every frame: cubes and meshes", cubes::run),
    table(
        "world",
        "stored worlds: reading, importing, size on disk and in memory; large worlds: edits, a flight",
        world::run,
    ),
    table(
        "flight-memory",
        "vertex memory during a flight of ten minutes over a large world",
        world::memory::run,
    ),
    table(
        "remote",
        "a world of 16 km × 16 km on a web server behind a slow line, beside the same file on this machine",
        world::remote::run,
    ),
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
