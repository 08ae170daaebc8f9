use std::path::Path;

use drystone_formats::{Source, SourceError};
use drystone_store::{ImportOptions, ImportProgress, StoredWorld, import};

use super::chunk_bar::ChunkBar;
use crate::{AppError, cli::ImportArguments, output, source};

/// Copies a source into a stored world; continues an import that was interrupted.
pub(crate) fn run(options: &ImportArguments) -> Result<(), AppError> {
    let source = source::open_as_voxels(&options.copy)?;
    let mut bar = ChunkBar::new();
    let mut show = |progress: &ImportProgress| match progress.levels_total {
        0 => bar.show(progress.done, progress.total, progress.resumed),
        total => bar.show_levels(progress.levels_done, total),
    };
    let limits = ImportOptions::default().with_memory_bytes(options.copy.memory_bytes());
    let imported = import(source.as_ref(), &options.world, &limits, &mut show);
    bar.finish();
    let (world, progress) = imported?;
    source::note_faults(source.name(), &source.faults());
    let (chunks, name) = (world.chunk_count(), source.name().to_owned());
    world.close()?;
    match StoredWorld::compact(&options.world) {
        // Another process has it open: the world is complete, only not compacted.
        Err(SourceError::InUse { .. }) => {}
        compacted => compacted?,
    }
    output::print(&line(&options.world, &name, chunks, &progress))
}

/// Returns the summary line.
fn line(world: &Path, name: &str, chunks: u64, progress: &ImportProgress) -> String {
    let bytes = std::fs::metadata(world).map_or(0, |metadata| metadata.len());
    let resumed = match progress.resumed {
        0 => String::new(),
        resumed => format!(", {resumed} of {} parts from an earlier run", progress.total),
    };
    let lost = match progress.lost {
        0 => String::new(),
        lost => format!(", {lost} damaged chunks left out"),
    };
    let [world, name] = [&world.display().to_string(), name].map(output::plain);
    format!("{world}: {chunks} chunks of {name}, {bytes} bytes{resumed}{lost}\n")
}
