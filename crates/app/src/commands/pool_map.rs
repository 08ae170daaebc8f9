//! `pool-map`: what lies where in the vertex pool.

mod dig;
mod kept;
mod layout;
mod numbers;
mod picture;

use std::fs;

use drystone::scene;
use drystone_render::{RenderError, replace_file};

use self::{kept::KeptPool, numbers::Numbers};
use super::{load, open};
use crate::{AppError, cli::PoolMapOptions, output};

/// Fills a pool with the source's meshes, changes some if that was asked for, and draws
/// what lies where.
pub(crate) fn run(options: &PoolMapOptions) -> Result<(), AppError> {
    let source = open(&options.source)?;
    let mut world = load(source.as_ref())?;
    let quads = scene::mesh_world(&world);
    let mut pool = KeptPool::new(options.placement, options.buffer_kib, &quads)?;
    for chunk in &quads {
        pool.keep(chunk, world.side())?;
    }
    pool.end_frame();
    for edit in 0..options.edits {
        for position in dig::dig(&mut world, edit.into()) {
            pool.keep(&scene::mesh_chunk(&world, position), world.side())?;
        }
        if options.defragment {
            pool.defragment();
        }
        pool.end_frame();
    }
    let places = pool.places();
    let numbers = Numbers::new(world.name(), pool.stats(), &places);
    let svg = picture::svg(&numbers, &places, |mesh| pool.describe(mesh));
    let path = &options.output;
    replace_file(path, |part| fs::write(part, svg).map_err(|error| error.to_string()))
        .map_err(|reason| RenderError::Picture { path: path.clone(), reason })?;
    let report = if options.json {
        numbers.to_json(path).to_string()
    } else {
        format!("{}: {numbers}", output::plain(&path.display().to_string()))
    };
    output::print(&format!("{report}\n"))
}
