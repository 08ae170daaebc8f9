use std::path::{Path, PathBuf};

use drystone_formats::{Format, Input, Source};
use drystone_store::{MergeProgress, PackOptions, PackPart, PackProgress, PackedWorld, pack};

use super::chunk_bar::ChunkBar;
use crate::{
    AppError, address,
    cli::{CopyArguments, MergeArguments, PackArguments},
    output, source,
};

/// Writes a source as a packed world, and prints a summary.
pub(crate) fn run(options: &PackArguments) -> Result<(), AppError> {
    let path = &options.output;
    if let Some(problem) = refusal(&options.copy, path) {
        return Err(AppError::File { path: path.into(), problem: problem.into() });
    }
    let source = source::open_as_voxels(&options.copy)?;
    let progress = write(source.as_ref(), &options.copy, options.part, path)?;
    output::print(&line(&PackedWorld::open(path)?, path, &progress))
}

/// Joins parts of a world, and prints a summary.
pub(crate) fn merge(options: &MergeArguments) -> Result<(), AppError> {
    let path = &options.output;
    let problem = match options.parts.iter().any(|part| is_same_file(part, path)) {
        true => Some("is one of the parts; name another file"),
        false => other_file(path),
    };
    if let Some(problem) = problem {
        return Err(AppError::File { path: path.into(), problem: problem.into() });
    }
    let parts = options.parts.iter().map(|part| match address::of(part) {
        Some(address) => address::open(address),
        None => PackedWorld::open(part),
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let mut bar = ChunkBar::new();
    let mut show = |progress: &MergeProgress| bar.show(progress.done, progress.total, 0);
    let merged = drystone_store::merge(&parts, path, &mut show);
    bar.finish();
    merged?;
    output::print(&line(&PackedWorld::open(path)?, path, &PackProgress::default()))
}

/// Writes a source, or a part of it, as a packed world; continues a run that was interrupted.
pub(super) fn write(
    source: &dyn Source,
    copy: &CopyArguments,
    part: Option<PackPart>,
    path: &Path,
) -> Result<PackProgress, AppError> {
    let mut bar = ChunkBar::new();
    let mut show =
        |progress: &PackProgress| bar.show(progress.done, progress.total, progress.resumed);
    let limits = PackOptions::default().with_memory_bytes(copy.memory_bytes()).with_part(part);
    let packed = pack(source, path, &limits, &mut show);
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
    other_file(path)
}

/// Returns the reason why a file cannot be replaced, if it is not a packed world.
fn other_file(path: &Path) -> Option<&'static str> {
    let is_other = path.is_file() && Format::of(Input::Path(path)) != Some(Format::Packed);
    let is_other = is_other && path.metadata().is_ok_and(|metadata| metadata.len() > 0);
    is_other.then_some("exists and is not a packed world; name another file, or remove this one")
}

/// Whether both exist and are the same file.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Returns the words on damaged chunks of a summary line.
pub(super) fn lost(progress: &PackProgress) -> String {
    match progress.lost {
        0 => String::new(),
        lost => format!(", {lost} damaged chunks left out"),
    }
}

/// Returns the summary line.
fn line(world: &PackedWorld, path: &Path, progress: &PackProgress) -> String {
    let resumed = match progress.resumed {
        0 => String::new(),
        resumed => format!(", {resumed} of {} chunks from an earlier run", progress.total),
    };
    let lost = lost(progress);
    let [file, name] = [&path.display().to_string(), world.name()].map(output::plain);
    let part = match world.part() {
        Some(part) => format!(" (part {} of {})", part.index(), part.count()),
        None => String::new(),
    };
    let (chunks, bytes, checksum) = (world.chunk_count(), world.file_bytes(), world.checksum());
    format!(
        "{file}: {chunks} chunks of {name}{part}, {bytes} bytes, checksum {checksum:032x}{resumed}{lost}\n"
    )
}
