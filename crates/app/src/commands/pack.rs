use std::{
    env,
    path::{Path, PathBuf},
};

use drystone_formats::{Source, SourceError};
use drystone_store::{MergeProgress, PackOptions, PackPart, PackProgress, PackedWorld, pack};

use tempfile::TempDir;

use super::chunk_bar::ChunkBar;
use crate::{
    AppError, address,
    cli::{CopyArguments, MergeArguments, PackArguments},
    output, source,
};

mod output_file;

use output_file::Output;

/// Writes a source as a packed world, and prints a summary.
pub(crate) fn run(options: &PackArguments) -> Result<(), AppError> {
    let output = Output::new(&options.output)?;
    if let Some(problem) = refusal(&options.copy, &output) {
        return Err(AppError::File { path: options.output.clone(), problem: problem.into() });
    }
    output.refuse_other_file()?;
    let source = source::open_as_voxels(&options.copy)?;
    let progress = write(source.as_ref(), &options.copy, options.part, &output.file)?;
    finish(&output, &progress)
}

/// Joins parts of a world, and prints a summary.
pub(crate) fn merge(options: &MergeArguments) -> Result<(), AppError> {
    let output = Output::new(&options.output)?;
    if options.parts.iter().any(|part| output.replaces(part)) {
        let problem = "is one of the parts; name another file".into();
        return Err(AppError::File { path: options.output.clone(), problem });
    }
    output.refuse_other_file()?;
    let is_remote = options.parts.iter().any(|part| address::of(part).is_some());
    let unwritable = |problem| SourceError::Unwritable { path: env::temp_dir(), problem };
    let copies = is_remote.then(|| TempDir::with_prefix("drystone-copies-")).transpose();
    let copies = copies.map_err(unwritable)?;
    let parts = options.parts.iter().zip(0_usize..).map(|(part, index)| {
        let (Some(address), Some(copies)) = (address::of(part), &copies) else {
            return PackedWorld::open(part);
        };
        let copy = copies.path().join(format!("{index}.{}", PackedWorld::EXTENSION));
        address::download(address, &copy)?;
        PackedWorld::open_as(&copy, part)
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let mut bar = ChunkBar::new();
    let mut show = |progress: &MergeProgress| bar.show(progress.done, progress.total, 0);
    let merged = drystone_store::merge(&parts, &output.file, &mut show);
    bar.finish();
    merged?;
    finish(&output, &PackProgress::default())
}

/// Brings a complete file to its place, and prints a summary.
fn finish(output: &Output<'_>, progress: &PackProgress) -> Result<(), AppError> {
    let summary = line(&PackedWorld::open(&output.file)?, output.named, progress);
    output.finish()?;
    output::print(&summary)
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

/// Returns the reason why writing the output would replace an input, if it would.
fn refusal(copy: &CopyArguments, output: &Output<'_>) -> Option<&'static str> {
    let is_output = |other: &Option<PathBuf>| other.as_ref().is_some_and(|it| output.replaces(it));
    if is_output(&copy.source.path) {
        return Some("is the source itself; name another file");
    }
    is_output(&copy.edits.edits).then_some("has the edits; name another file")
}

/// Whether both exist and are the same file, or are the same address.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    if address::of(a).is_some() {
        return a == b;
    }
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
