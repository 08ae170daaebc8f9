use std::any::Any;

use drystone::scene;
use drystone_world::{VoxFile, World};

use super::open;
use crate::{AppError, cli::InfoOptions, output, report::InfoReport};

/// Says what the source holds.
pub(crate) fn run(options: &InfoOptions) -> Result<(), AppError> {
    let source = open(&options.source)?;
    let world = World::load(source.as_ref())?;
    let quads = scene::mesh_world(&world);
    let source: Box<dyn Any> = source;
    let vox = source.downcast_ref::<VoxFile>().map(VoxFile::summary);
    let report = InfoReport::new(&world, &quads, vox);
    let json = options.json;
    output::print(&if json { format!("{}\n", report.to_json()) } else { report.to_string() })
}
