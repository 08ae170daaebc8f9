//! Table `world`: the cost of stored worlds in time, on disk and in memory, and the cost of a world
//! of 16 km × 16 km for the thread that shows it.
//!
//! Each case has a metric with its own name:
//! - `load` opens a generated world, and reads, verifies and decompresses every chunk in random order,
//!   on one thread. Its file is in the page cache. `load-first` does so for one chunk of each group of
//!   eight, so that nothing of an earlier chunk helps.
//! - `disk` is the size of the compacted file per chunk, LOD chunks included. `value` counts only
//!   the values of chunks, before the database rounds them up.
//! - `memory` is the size per loaded chunk.
//! - `store-to-pool` opens the world, reads every chunk once, meshes each with its neighbours and
//!   writes its quads to a vertex pool, on one thread: time per chunk with quads.
//! - `import` reads a Minecraft region into a stored or packed world, on all cores. Requires
//!   `DRYSTONE_DATA`.
//!
//! `drystone` is a stored world, `packed` a packed one of the same source.
//!
//! - `edit` sets one visible voxel where eight chunks meet, at positions that were edited before,
//!   and makes the commands of the frame.
//! - `edit-first` does so at positions whose meshes were not edited before, for fourteen rounds.
//!   These meshes are rebuilt completely.
//! - `fill` sets a ball of 4 million voxels, or undoes that. Measures the longest CPU time of the
//!   call or of a frame until the ball is shown.
//! - `fill-shown` is the time until the ball is shown.
//! - `frame-p50`, `frame-p99` and `frame-max` are CPU times of one flight of 60 s over a generated
//!   world, in real time at 60 frames per second. They include updating the scene and making its
//!   commands, on a device that draws nothing.

mod edit;
mod flight;
mod input;
pub(crate) mod memory;
pub(crate) mod remote;
mod store_to_pool;
mod undrawn;
mod vast;

use std::{
    cell::RefCell,
    collections::HashSet,
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    time::Instant,
};

use drystone_formats::{MinecraftWorld, Source, SourceError};
use drystone_store::{
    ImportOptions, PackOptions, PackedWorld, StoredWorld, import as import_into, pack as pack_into,
};
use drystone_voxel::ChunkPos;
use drystone_world::World;

use self::input::{Input, Shuffled, checksum, checksum_of};
use crate::{
    Contender, Error, Figure, Run,
    error::By,
    rounds::{Round, elapsed_ns},
};

const NAME: &str = "drystone";
const PACKED: &str = "packed";

pub(crate) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    if ["load", "disk", "memory", "store-to-pool"].into_iter().any(|case| options.selects(case)) {
        let input = Input::new(options.size([12, 4, 12], [4, 4, 4])).by(NAME);
        let input = &input.map_err(|failure| run.error("load", failure))?;
        let order = RefCell::new(Shuffled::new(input));
        let stored = || Ok(Box::new(input.open()?) as Box<dyn Source>);
        let packed = || Ok(Box::new(PackedWorld::open(&input.packed_path)?) as Box<dyn Source>);
        run.case("load", || {
            Ok(vec![
                Contender::new(NAME, || load(input, &order, stored)),
                Contender::new(PACKED, || load(input, &order, packed)),
            ])
        })?;
        run.case("disk", || {
            let packed = Contender::new(PACKED, || packed_disk(input));
            Ok(vec![Contender::new(NAME, || disk(input)), packed])
        })?;
        run.case("memory", || Ok(one(|| memory(input))))?;
        run.case("store-to-pool", || Ok(one(|| store_to_pool::round(input))))?;
    }
    match region() {
        Some(region) => run.case("import", || {
            let expected = checksum(&MinecraftWorld::open(&region)?)?;
            let (from, packed_from) = (region.clone(), region.clone());
            Ok(vec![
                Contender::new(NAME, move || import(&from, expected)),
                Contender::new(PACKED, move || pack(&packed_from, expected)),
            ])
        })?,
        None => eprintln!("world: import is skipped: DRYSTONE_DATA has no r.0.0.mca"),
    }
    if options.selects("edit") || options.selects("fill") {
        let mut edits = edit::Edits::new(options).map_err(|failure| run.error("edit", failure))?;
        run.case("edit", || Ok(one(|| edits.round())))?;
        run.case("fill", || Ok(one(|| edits.fill_round())))?;
    }
    flight::run(run)
}

/// Wraps the only contender.
fn one<'a>(round: impl FnMut() -> Round + 'a) -> Vec<Contender<'a>> {
    vec![Contender::new(NAME, round)]
}

/// Returns the path of the region to import, if it exists.
fn region() -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("DRYSTONE_DATA")?).join("r.0.0.mca");
    path.exists().then_some(path)
}

fn load(
    input: &Input,
    order: &RefCell<Shuffled>,
    open: impl Fn() -> Result<Box<dyn Source>, SourceError>,
) -> Round {
    let mut order = order.borrow_mut();
    let positions = order.next();
    // First pass: brings the file into the page cache, and compares every voxel.
    let world = open()?;
    let mut checksum = 0_u64;
    for &at in positions {
        checksum = checksum.wrapping_add(checksum_of(at, &world.chunk(at)?));
    }
    if checksum != input.checksum {
        return Err("the voxels differ from the source".into());
    }
    drop(world);
    let timed = |positions: &[ChunkPos]| -> Result<(f64, u64), SourceError> {
        let start = Instant::now();
        let world = open()?;
        let mut solid_count = 0;
        for &at in positions {
            solid_count += u64::from(black_box(world.chunk(at)?).solid_count());
        }
        Ok((elapsed_ns(start) / 1e3 / positions.len() as f64, solid_count))
    };
    let (all_us, solid_count) = timed(positions)?;
    if solid_count != input.solid_count {
        return Err(format!("{solid_count} voxels, not {}", input.solid_count).into());
    }
    let mut groups = HashSet::new();
    let is_first = |at: &&ChunkPos| groups.insert([at.x >> 1, at.y >> 1, at.z >> 1]);
    let firsts: Vec<ChunkPos> = positions.iter().filter(is_first).copied().collect();
    let (first_us, _) = timed(&firsts)?;
    Ok(vec![
        Figure::new("load", "us/chunk", all_us),
        Figure::new("load-first", "us/chunk", first_us),
    ])
}

fn disk(input: &Input) -> Round {
    let check = StoredWorld::check(&input.path)?;
    if check.chunks != input.chunk_count || !check.damage.is_empty() {
        return Err(format!("{check:?}").into());
    }
    let bytes = fs::metadata(&input.path)?.len();
    let each = bytes as f64 / input.chunk_count as f64;
    let value = check.value_bytes as f64 / input.chunk_count as f64;
    Ok(vec![Figure::new("disk", "bytes/chunk", each), Figure::new("value", "bytes/chunk", value)])
}

fn packed_disk(input: &Input) -> Round {
    let check = PackedWorld::check(&input.packed_path)?;
    if check.chunks != input.chunk_count || !check.damage.is_empty() {
        return Err(format!("{check:?}").into());
    }
    let bytes = fs::metadata(&input.packed_path)?.len();
    let each = bytes as f64 / input.chunk_count as f64;
    Ok(vec![Figure::new("disk", "bytes/chunk", each)])
}

fn memory(input: &Input) -> Round {
    let world = World::load(&input.open()?)?;
    if world.solid_count() != input.solid_count {
        return Err(format!("{} voxels, not {}", world.solid_count(), input.solid_count).into());
    }
    let each = world.size_bytes() as f64 / world.chunk_count() as f64;
    Ok(vec![Figure::new("memory", "bytes/chunk", each)])
}

fn import(region: &Path, expected: u64) -> Round {
    let file = input::Scratch::new("import");
    let source = MinecraftWorld::open(region)?;
    let start = Instant::now();
    let imported = import_into(&source, &file.0, &ImportOptions::default(), &mut |_| {});
    let (world, progress) = imported?;
    let time_us = elapsed_ns(start) / 1e3 / world.chunk_count().max(1) as f64;
    if progress.done != progress.total || world.chunk_count() == 0 {
        return Err(format!("{progress:?}").into());
    }
    if checksum(&world)? != expected {
        return Err("the voxels differ from the source".into());
    }
    Ok(vec![Figure::new("import", "us/chunk", time_us)])
}

fn pack(region: &Path, expected: u64) -> Round {
    let file = input::Scratch::new("pack");
    let source = MinecraftWorld::open(region)?;
    let start = Instant::now();
    pack_into(&source, &file.0, &PackOptions::default(), &mut |_| {})?;
    let elapsed_ns = elapsed_ns(start);
    let world = PackedWorld::open(&file.0)?;
    if checksum(&world)? != expected {
        return Err("the voxels differ from the source".into());
    }
    let time_us = elapsed_ns / 1e3 / world.chunk_count().max(1) as f64;
    Ok(vec![Figure::new("import", "us/chunk", time_us)])
}
