//! `export`: meshes and voxel files for other programs.

use std::{
    fs::{self, File, OpenOptions},
    io::Read,
    ops::ControlFlow,
    path::Path,
    sync::atomic::Ordering,
};

use drystone_formats::{
    ExportFormat, ExportOptions, ExportProgress, ExportSummary, ExportVoxels, Model, OnProgress,
    SourceError, VoxelModel, export_model, export_voxels,
};
use drystone_render::replace_file;
use drystone_voxel::{NodePos, VoxelBox};
use drystone_world::{LodData, Opened};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{AppError, cli::ExportArguments, commands, output, source};

/// Writes the source to a file under a temporary name, which is renamed when it is complete.
pub(crate) fn run(arguments: &ExportArguments) -> Result<(), AppError> {
    let content = Content::open(arguments)?;
    let mut options = arguments.export_options();
    // The material file stands beside the file that a link names.
    let resolved = fs::canonicalize(&arguments.output).unwrap_or_else(|_| arguments.output.clone());
    options.material_file = materials_file(&resolved);
    let materials = resolved.with_file_name(&options.material_file);
    if options.format == ExportFormat::Obj {
        refuse_other_materials(&materials)?;
    }
    let is_stopped = commands::stop_on_signal();
    let bar = progress_bar(content.steps());
    let mut each = |progress: ExportProgress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        if is_stopped.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let path = &arguments.output;
    // The first error is returned unchanged; `replace_file` only has to stop.
    let mut result = None;
    let written = replace_file(path, |part| {
        let made = content.write(part, &options, &mut each);
        let made = made.map_err(|error| at_output(error, part, path)).and_then(|made| {
            // The slow steps precede the renaming, so that both files change or none.
            let synced = OpenOptions::new().write(true).open(part).and_then(|it| it.sync_all());
            synced.map_err(|error| unwritable(path, &error.to_string()))?;
            if is_stopped.load(Ordering::Relaxed) {
                return Err(AppError::NotWritten { path: path.into() });
            }
            let text = made.material_text.as_deref();
            text.map_or(Ok(()), |text| replace_text(&materials, text))?;
            Ok(made)
        });
        let stop = made.as_ref().map(|_| ()).map_err(|_| String::new());
        result = Some(made);
        stop
    });
    bar.finish_and_clear();
    content.note_faults();
    let summary = result.transpose()?;
    written.map_err(|problem| AppError::File { path: path.into(), problem })?;
    let summary = summary.unwrap_or_default();
    if summary.changed_colors > 0 {
        output::note(&format!(
            "{}: a .vox file has at most 255 colours; {} materials have the nearest one",
            path.display(),
            summary.changed_colors
        ));
    }
    output::print(&line(path, content.name(), &summary))
}

/// Content of the exported file.
enum Content {
    Voxels { data: Box<LodData>, level: u8, bounds: Option<VoxelBox> },
    Model(Box<Model>),
}

impl Content {
    fn open(arguments: &ExportArguments) -> Result<Self, AppError> {
        let source = match source::open_edited(&arguments.source, &arguments.edits)? {
            Opened::Voxels(source) => source,
            Opened::Model(model) => match arguments.voxels {
                Some(voxels) => Box::new(VoxelModel::new(&model, voxels)?),
                None if arguments.format() == ExportFormat::Vox => {
                    let model = arguments.source.path.clone().unwrap_or_default();
                    return Err(AppError::NoVoxels { model });
                }
                None => return Ok(Self::Model(model)),
            },
        };
        let cache_bytes = usize::try_from(arguments.cache_bytes()).unwrap_or(usize::MAX);
        let data = Box::new(LodData::new(source, cache_bytes));
        let (level, top) = (arguments.part.level, data.top_level());
        if level > top {
            return Err(AppError::NoLevel { name: data.source().name().into(), level, top });
        }
        Ok(Self::Voxels { data, level, bounds: arguments.part.bounds() })
    }

    fn name(&self) -> &str {
        match self {
            Self::Voxels { data, .. } => data.source().name(),
            Self::Model(model) => &model.name,
        }
    }

    /// Returns the name of the steps in the progress.
    fn steps(&self) -> &'static str {
        match self {
            Self::Voxels { .. } => "chunks",
            Self::Model(_) => "parts",
        }
    }

    fn write(
        &self,
        path: &Path,
        options: &ExportOptions,
        each: &mut OnProgress<'_>,
    ) -> Result<ExportSummary, SourceError> {
        let (data, level, bounds) = match self {
            Self::Model(model) => return export_model(model, path, options, each),
            Self::Voxels { data, level, bounds } => (data, *level, *bounds),
        };
        // The list of all chunks leaves out tiles that cannot be read.
        if let Some(tiles) = data.source().tiles() {
            let listed = |tile| tiles.chunk_positions_in(tile).map(drop);
            tiles.tile_positions().into_iter().try_for_each(listed)?;
        }
        let mut chunks = data.chunk_positions();
        chunks.iter_mut().for_each(|chunk| *chunk = NodePos::from(*chunk).ancestor(level).chunk);
        chunks.sort_unstable();
        chunks.dedup();
        let (materials, read) = (data.materials(), Box::new(|node| Ok(data.chunk(node))));
        let voxels = ExportVoxels { materials, level, chunks, bounds, read };
        export_voxels(voxels, path, options, each)
    }

    /// Prints the faults of voxels that were read, whose damaged parts are left out.
    fn note_faults(&self) {
        if let Self::Voxels { data, .. } = self {
            source::note_faults(data.source().name(), &data.faults());
        }
    }
}

/// Returns the name of the material file of an `.obj` file: the stem with `.mtl`, if every reader of
/// such files accepts it. Other characters become `_`, and a hash of the whole name follows.
fn materials_file(output: &Path) -> String {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    if stem.chars().all(is_plain) && output.extension().is_some_and(|it| it == "obj") {
        return format!("{stem}.mtl");
    }
    // FNV-1a, which stays the same in every version.
    let bytes = output.file_name().unwrap_or_default().as_encoded_bytes();
    let hash = bytes
        .iter()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    let name: String = stem.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("{name}-{hash:08x}.mtl")
}

/// Refuses to replace a material file of another program, which an `.obj` file may need.
fn refuse_other_materials(path: &Path) -> Result<(), AppError> {
    const START: &[u8] = b"# drystone";
    if !path.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|it| it.take(START.len() as u64).read_to_end(&mut start));
    read.map_err(|error| unwritable(path, &error.to_string()))?;
    if start == START {
        return Ok(());
    }
    Err(unwritable(path, "another program wrote it; move it, or export under another name"))
}

fn unwritable(path: &Path, reason: &str) -> AppError {
    AppError::File { path: path.into(), problem: format!("cannot be written: {reason}") }
}

fn replace_text(path: &Path, text: &str) -> Result<(), AppError> {
    replace_file(path, |part| fs::write(part, text).map_err(|error| error.to_string()))
        .map_err(|problem| AppError::File { path: path.into(), problem })
}

/// Returns an error of the file `part`, which has a temporary name, as one of the output.
fn at_output(error: SourceError, part: &Path, output: &Path) -> AppError {
    let path = output.to_path_buf();
    AppError::World(match error {
        SourceError::Unwritable { path: at, problem } if at == part => {
            SourceError::Unwritable { path, problem }
        }
        SourceError::TooLarge { what, found, limit, unit, advice }
            if what == part.display().to_string() =>
        {
            let what = output.display().to_string();
            SourceError::TooLarge { what, found, limit, unit, advice }
        }
        SourceError::Empty { .. } => SourceError::Empty { path },
        SourceError::Stopped { .. } => return AppError::NotWritten { path },
        error => error,
    })
}

/// Creates the progress bar; without a terminal it draws nothing.
fn progress_bar(steps: &str) -> ProgressBar {
    let template = format!("{{bar:40}} {{pos}} of {{len}} {steps}, {{eta}} left");
    let style = ProgressStyle::with_template(&template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

/// Returns the summary line.
fn line(path: &Path, name: &str, summary: &ExportSummary) -> String {
    let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
    let ExportSummary { vertices, triangles, voxels, .. } = summary;
    let content = match voxels {
        0 => format!("{triangles} triangles, {vertices} vertices"),
        voxels => format!("{voxels} voxels"),
    };
    let [path, name] = [&path.display().to_string(), name].map(output::plain);
    format!("{path}: {content} of {name}, {bytes} bytes\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_material_files_are_plain_and_differ() {
        let name = |path: &str| materials_file(Path::new(path));
        assert_eq!(name("a/castle.v2.obj"), "castle.v2.mtl");
        assert_eq!(name("schloß.obj"), "schloß.mtl");
        assert_eq!(name("a_b.obj"), "a_b.mtl");
        let names = ["a b.obj", "a#b.obj", "a_b.OBJ", "a_b.obj", "a_b.mtl"].map(name);
        for (index, name) in names.iter().enumerate() {
            assert!(name.starts_with("a_b") && name.ends_with(".mtl"), "{name}");
            assert!(!names[..index].contains(name), "{name}");
        }
        let all = name("my castle \n#1.obj");
        assert!(all.chars().all(|c| c.is_alphanumeric() || "-._".contains(c)), "{all}");
    }
}
