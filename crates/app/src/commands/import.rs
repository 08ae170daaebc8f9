use std::path::Path;

use drystone_formats::{Source, SourceError, VoxelModel};
use drystone_store::{ImportOptions, ImportProgress, StoredWorld, import};
use drystone_world::Opened;
use indicatif::{ProgressBar, ProgressStyle};

use crate::{AppError, cli::ImportArguments, output, source};

/// Copies a source into a stored world; continues an import that was interrupted.
pub(crate) fn run(options: &ImportArguments) -> Result<(), AppError> {
    let source = open(options)?;
    let memory_bytes = u64::from(options.memory_mib) << 20;
    let mut bar = Bar::new();
    let mut show = |progress: &ImportProgress| bar.show(progress);
    let limits = ImportOptions::default().with_memory_bytes(memory_bytes);
    let imported = import(source.as_ref(), &options.world, &limits, &mut show);
    bar.bar.finish_and_clear();
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

/// Opens the source that the options name; converts a polygon model to voxels.
fn open(options: &ImportArguments) -> Result<Box<dyn Source>, AppError> {
    let Some(voxels) = options.voxels else {
        return source::open_voxels(&options.source, &options.edits);
    };
    match source::open_edited(&options.source, &options.edits)? {
        Opened::Voxels(source) => Ok(source),
        Opened::Model(model) => Ok(Box::new(VoxelModel::new(&model, voxels)?)),
    }
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

/// Progress bar: first chunks, then LOD chunks. Without a terminal it draws nothing.
struct Bar {
    bar: ProgressBar,
    /// Parts done by an earlier run; `None` before the first report.
    resumed: Option<u64>,
    makes_levels: bool,
}

impl Bar {
    fn new() -> Self {
        let style = style("{prefix}{bar:40} {pos} of {len} chunks, {per_sec}, {eta} left");
        Self { bar: ProgressBar::new(0).with_style(style), resumed: None, makes_levels: false }
    }

    fn show(&mut self, progress: &ImportProgress) {
        let ImportProgress { done, total, resumed, levels_done, levels_total, .. } = *progress;
        if self.resumed.is_none() {
            self.resumed = Some(resumed);
            if resumed > 0 {
                self.bar.set_prefix(format!("continued from {resumed} "));
                // Parts of an earlier run do not count for the speed.
                self.bar.set_position(resumed);
                self.bar.reset_eta();
            }
        }
        if levels_total > 0 && !self.makes_levels {
            self.makes_levels = true;
            self.bar.set_style(style("{bar:40} {pos} of {len} LOD chunks, {eta} left"));
            self.bar.set_position(0);
            self.bar.reset_eta();
        }
        let (done, total) =
            if self.makes_levels { (levels_done, levels_total) } else { (done, total) };
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}

fn style(template: &str) -> ProgressStyle {
    // Templates are constant; an invalid one falls back to the library's default.
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}
