use std::any::Any;

use drystone::scene;
use drystone_world::{VoxFile, World};

use super::open;
use crate::{AppError, allocator::AllocatorReport, cli::InfoOptions, output, report::InfoReport};

/// Says what the source holds.
pub(crate) fn run(options: &InfoOptions) -> Result<(), AppError> {
    let source = open(&options.source)?;
    let world = World::load(source.as_ref())?;
    let quads = scene::mesh_world(&world);
    let source: Box<dyn Any> = source;
    let vox = source.downcast_ref::<VoxFile>().map(VoxFile::summary);
    let report = InfoReport::new(&world, &quads, vox);
    let allocator = AllocatorReport::now();
    if options.json {
        let mut json = report.to_json();
        json["allocator"] = allocator.to_json();
        return output::print(&format!("{json}\n"));
    }
    output::print(&report.to_string())?;
    if allocator.is_small() { output::print(&format!("  {allocator}\n")) } else { Ok(()) }
}
