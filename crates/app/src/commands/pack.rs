use std::path::{Path, PathBuf};

use drystone_formats::{Format, Input, Source};
use drystone_store::{PackOptions, PackProgress, PackedWorld, pack};

use super::chunk_bar::ChunkBar;
use crate::{
    AppError,
    cli::{CopyArguments, PackArguments},
    output, source,
};

/// Writes a source as a packed world, and prints a summary.
pub(crate) fn run(options: &PackArguments) -> Result<(), AppError> {
    let path = &options.output;
    let progress = write(&options.copy, path)?;
    output::print(&line(&PackedWorld::open(path)?, path, &progress))
}

/// Writes a source as a packed world; continues a run that was interrupted.
pub(super) fn write(copy: &CopyArguments, path: &Path) -> Result<PackProgress, AppError> {
    if let Some(problem) = refusal(copy, path) {
        return Err(AppError::File { path: path.into(), problem: problem.into() });
    }
    let source = source::open_as_voxels(copy)?;
    let mut bar = ChunkBar::new();
    let mut show =
        |progress: &PackProgress| bar.show(progress.done, progress.total, progress.resumed);
    let limits = PackOptions::default().with_memory_bytes(copy.memory_bytes());
    let packed = pack(source.as_ref(), path, &limits, &mut show);
    bar.finish();
    let progress = packed?;
    source::note_faults(source.name(), &source.faults());
    Ok(progress)
}

/// Returns the reason why the output cannot be replaced, if there is one.
fn refusal(copy: &CopyArguments, path: &Path) -> Option<&'static str> {
    let is_output =
        |other: &Option<PathBuf>| other.as_ref().is_some_and(|it| is_same_file(it, path));
    if is_output(&copy.source.path) {
        return Some("is the source itself; name another file");
    }
    if is_output(&copy.edits.edits) {
        return Some("has the edits; name another file");
    }
    let is_other = path.is_file() && Format::of(Input::Path(path)) != Some(Format::Packed);
    let is_other = is_other && path.metadata().is_ok_and(|metadata| metadata.len() > 0);
    is_other.then_some("exists and is not a packed world; name another file, or remove this one")
}

/// Whether both exist and are the same file.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Returns the summary line.
fn line(world: &PackedWorld, path: &Path, progress: &PackProgress) -> String {
    let resumed = match progress.resumed {
        0 => String::new(),
        resumed => format!(", {resumed} of {} chunks from an earlier run", progress.total),
    };
    let lost = match progress.lost {
        0 => String::new(),
        lost => format!(", {lost} damaged chunks left out"),
    };
    let [file, name] = [&path.display().to_string(), world.name()].map(output::plain);
    let (chunks, bytes, checksum) = (world.chunk_count(), world.file_bytes(), world.checksum());
    format!(
        "{file}: {chunks} chunks of {name}, {bytes} bytes, checksum {checksum:032x}{resumed}{lost}\n"
    )
}
