//! `pool-map`: the layout of the vertex pool.

mod dig;
mod layout;
mod model;
mod modelled_pool;
mod numbers;
mod picture;
#[cfg(feature = "window")]
mod png;
mod svg;

use std::path::Path;

use drystone::scene;
use drystone_pool::MeshHandle;
use drystone_render::RenderError;
use drystone_world::Opened;

use self::{
    modelled_pool::ModelledPool,
    numbers::{Numbers, Unit},
    picture::Map,
};
use crate::{AppError, cli::PoolMapOptions, output, source};

/// Fills a pool with the source's meshes, digs holes if requested, and draws the layout.
pub(crate) fn run(options: &PoolMapOptions) -> Result<(), AppError> {
    let source = match source::open(&options.source)? {
        Opened::Voxels(source) => source,
        Opened::Model(model) => return model::run(options, &model),
    };
    let mut world = source::load_world(source.as_ref())?;
    let quads = scene::mesh_world(&world);
    let mut pool = ModelledPool::new(options.placement, options.buffer_kib, &quads)?;
    for chunk in &quads {
        pool.insert(chunk, world.side())?;
    }
    pool.end_frame();
    for hole in 0..options.holes {
        for position in dig::dig(&mut world, hole.into()) {
            pool.insert(&scene::mesh_chunk(&world, position), world.side())?;
        }
        if options.defragment {
            pool.defragment();
        }
        pool.end_frame();
    }
    let ranges = pool.ranges();
    let numbers = Numbers::new(world.name(), Unit::QUADS, pool.stats(), &ranges);
    let map = Map { numbers: &numbers, ranges: &ranges };
    write(&options.output, &[map], |mesh| pool.describe(mesh))?;
    let report = if options.json {
        let mut json = numbers.to_json();
        json["output"] = options.output.display().to_string().into();
        json["source"] = numbers.source.as_str().into();
        json.to_string()
    } else {
        let [output, source] = names(options, &numbers);
        format!("{output}: {source}: {numbers}")
    };
    output::print(&format!("{report}\n"))
}

/// Writes maps as SVG or PNG, by the file's extension.
fn write(
    path: &Path,
    maps: &[Map<'_>],
    describe: impl Fn(MeshHandle) -> String,
) -> Result<(), RenderError> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
        #[cfg(feature = "window")]
        return png::image(maps, describe)?.save_png(path);
        #[cfg(not(feature = "window"))]
        return Err(RenderError::Picture {
            path: path.into(),
            reason: "needs the feature window; name a file that ends in .svg".into(),
        });
    }
    output::write_svg(path, &svg::svg(maps, describe))
}

/// Returns the names of the picture and of the source, for display.
fn names(options: &PoolMapOptions, numbers: &Numbers) -> [String; 2] {
    [output::plain(&options.output.display().to_string()), output::plain(&numbers.source)]
}
