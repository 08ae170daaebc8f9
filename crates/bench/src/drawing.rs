//! Drawing tables: whole frames, drystone's pool compared with naive rendering.

pub(crate) mod article;
mod bucket_size;
mod changing;
mod contenders;
mod cubes;
mod culling;
mod frames;
mod lists;
mod mask_order;
mod noise;
mod scene;
mod still;

use crate::TableEntry;

/// Size of the pictures, in pixels.
const SIZE: [u32; 2] = [720, 720];

/// The table `static`.
pub(crate) const STATIC: TableEntry = TableEntry {
    name: "static",
    about: "chunks of random voxels that do not change, pool and naive",
    run: still::run,
};

/// The table `dynamic`.
pub(crate) const DYNAMIC: TableEntry = TableEntry {
    name: "dynamic",
    about: "chunks of random voxels, 50 of them filled and meshed before every frame",
    run: changing::run,
};

/// The table `noise`.
pub(crate) const NOISE: TableEntry = TableEntry {
    name: "noise",
    about: "chunks of moving coherent noise, all meshed before every frame",
    run: noise::run,
};

/// The table `small-meshes`: only that case of `static`.
pub(crate) const SMALL_MESHES: TableEntry = TableEntry {
    name: still::SMALL_MESHES,
    about: "20,250 meshes of 8 quads: the cost per mesh",
    run: still::run_small,
};

/// The table `cubes`.
pub(crate) const CUBES: TableEntry = TableEntry {
    name: "cubes",
    about: "100,000 voxels change before every frame: cubes and meshes",
    run: cubes::run,
};

/// The table `culling`.
pub(crate) const CULLING: TableEntry = TableEntry {
    name: "culling",
    about: "a landscape with much hidden geometry, culled on the CPU or the GPU",
    run: culling::run,
};

/// The table `mask-order`.
pub(crate) const MASK_ORDER: TableEntry = TableEntry {
    name: "mask-order",
    about: "selecting and sorting draw commands, in CPU time and in frames",
    run: mask_order::run,
};

/// The table `bucket-size`.
pub(crate) const BUCKET_SIZE: TableEntry = TableEntry {
    name: "bucket-size",
    about: "a changing scene in buckets of one size, of several, and in ranges",
    run: bucket_size::run,
};

/// The table `lists`.
pub(crate) const LISTS: TableEntry = TableEntry {
    name: "lists",
    about: "opaque and blended meshes in two lists, in one masked twice, in two pools",
    run: lists::run,
};

/// The table `grid`.
pub(crate) const GRID: TableEntry = TableEntry {
    name: "grid",
    about: "50 x 50 chunks of 32³ random voxels in four colours",
    run: still::run_grid,
};
