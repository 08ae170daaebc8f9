//! Opening of the sources that options name, for all commands and the window.

mod saved_edits;
mod unnamed;

use std::{fs::OpenOptions, path::Path};

use drystone::{Content, MessageKind, Progress};
use drystone_formats::{Format, Input, Model, ModelWarning, Source, UpAxis, VoxelModel};
use drystone_store::{
    CommitPolicy, EditAccess, EditOptions, EditedSource, StoredLater, StoredWorld,
};
use drystone_world::{GeneratedWorld, GeneratorConfig, MovingWorld, Opened, World};

use crate::{
    AppError, address,
    cli::{CopyArguments, EditsArgs, SaveArgs, SavedEdits, SceneOptions, SourceOptions},
    output,
};

#[cfg(feature = "window")]
pub(crate) use unnamed::save_in_new_file;

/// Opens the source that the options name; generates a world if they name none.
pub(crate) fn open(options: &SourceOptions) -> Result<Opened, AppError> {
    if let Some(address) = options.path.as_deref().and_then(address::of) {
        return Ok(Opened::Voxels(address::open_source(address)?));
    }
    if let Some(path) = &options.path {
        let is_other = |format| format != Format::MagicaVoxel;
        if options.frame > 0 && Format::of(Input::Path(path)).is_some_and(is_other) {
            let problem = "only .vox files have frames; leave out --frame".into();
            return Err(AppError::File { path: path.clone(), problem });
        }
        return Ok(drystone_world::open(path, &options.open_options())?);
    }
    if let Some(config) = options.moving() {
        return Ok(Opened::Voxels(Box::new(MovingWorld::new(config)?)));
    }
    let size_chunks = options.chunks.unwrap_or(GeneratorConfig::default().size_chunks);
    let (seed, relief_voxels) = (options.seed, options.relief);
    let config = GeneratorConfig::default()
        .with_seed(seed)
        .with_size_chunks(size_chunks)
        .with_relief_voxels(relief_voxels);
    Ok(Opened::Voxels(Box::new(GeneratedWorld::new(config)?)))
}

/// Opens the source that the options name for reading, with the edits of `--edits`. Without that
/// option, prints a note if there is a file of edits.
pub(crate) fn open_edited(source: &SourceOptions, edits: &EditsArgs) -> Result<Opened, AppError> {
    let voxels = match open(source)? {
        Opened::Voxels(voxels) => voxels,
        model => return Ok(model),
    };
    Ok(Opened::Voxels(match &edits.edits {
        Some(path) => {
            let options = EditOptions::at(path).with_access(EditAccess::Read);
            Box::new(EditedSource::open(voxels, &options)?)
        }
        None => {
            unnamed::existing(voxels.as_ref(), source).iter().for_each(|line| output::note(line));
            voxels
        }
    }))
}

/// Opens voxels as [`open_edited`] does; rejects a polygon model before it is read.
pub(crate) fn open_voxels(
    source: &SourceOptions,
    edits: &EditsArgs,
) -> Result<Box<dyn Source>, AppError> {
    if let Some(path) = source.model_path() {
        return Err(AppError::NoVoxels { model: path.into() });
    }
    match open_edited(source, edits)? {
        Opened::Voxels(source) => Ok(source),
        Opened::Model(_) => {
            Err(AppError::NoVoxels { model: source.path.clone().unwrap_or_default() })
        }
    }
}

/// Opens the source of a copy, and converts a polygon model if its size in voxels is given.
pub(crate) fn open_as_voxels(copy: &CopyArguments) -> Result<Box<dyn Source>, AppError> {
    let Some(voxels) = copy.voxels else { return open_voxels(&copy.source, &copy.edits) };
    match open_edited(&copy.source, &copy.edits)? {
        Opened::Voxels(source) => Ok(source),
        Opened::Model(model) => Ok(Box::new(VoxelModel::new(&model, voxels)?)),
    }
}

/// Line for the user of the viewer.
pub(crate) type Note = (MessageKind, String);

/// Opens the source that the options name for editing, and returns a line about what the user may not
/// expect of it. A stored world that is writable takes the edits itself, or a file next to it if
/// another process has it open. For any other source the edits go to the file of `--edits`, or else
/// to the file that has its saved edits. Files are opened read-only until the first edit.
pub(crate) fn open_to_edit(
    scene: &SceneOptions,
    save: &SaveArgs,
) -> Result<(Opened, Option<Note>), AppError> {
    let policy = scene.detail.memory_budget().commit_policy(save.policy());
    if let Some(edits) = &scene.edits.edits {
        let access = if save.read_only { EditAccess::Read } else { EditAccess::OnEdit };
        let options = EditOptions::at(edits).with_policy(policy).with_access(access);
        return Ok(match open(&scene.source)? {
            Opened::Voxels(source) => {
                (Opened::Voxels(Box::new(EditedSource::open(source, &options)?)), None)
            }
            model => (model, None),
        });
    }
    let (edited, note) = saved_edits::open(scene, save, policy)?;
    note.iter().for_each(|(_, line)| output::note(line));
    if let Some(edited) = edited {
        return Ok((Opened::Voxels(Box::new(edited)), note));
    }
    let path = scene.source.path.as_deref().filter(|_| !save.read_only);
    let source: Box<dyn Source> = match path {
        Some(path) if StoredWorld::is_stored(path) && is_writable(path) => {
            Box::new(StoredLater::open(path, policy)?)
        }
        _ => match open(&scene.source)? {
            Opened::Voxels(source) => source,
            Opened::Model(model) => {
                let note = guessed_axis(&model).map(|line| (MessageKind::Problem, line));
                return Ok((Opened::Model(model), note));
            }
        },
    };
    // A frame of an animation that was not opened by itself.
    let is_unasked = scene.edits.saved == SavedEdits::Ignored;
    let line = is_unasked.then(|| unnamed::existing(source.as_ref(), &scene.source)).flatten();
    let note = note.or(line.map(|line| (MessageKind::Problem, line)));
    let opened = if save.read_only { Opened::Voxels(source) } else { with_edits(source, policy)? };
    Ok((opened, note))
}

/// Wraps the source so that edits can be saved to a file later.
fn with_edits(source: Box<dyn Source>, policy: CommitPolicy) -> Result<Opened, AppError> {
    // All material numbers are taken, so none is left for removed voxels: show it without edits.
    if source.materials().len() > usize::from(u16::MAX) {
        return Ok(Opened::Voxels(source));
    }
    let options = EditOptions::default().with_policy(policy);
    Ok(Opened::Voxels(Box::new(EditedSource::open(source, &options)?)))
}

/// Whether the file can be opened for writing. Nothing is written.
fn is_writable(path: &Path) -> bool {
    OpenOptions::new().write(true).open(path).is_ok()
}

/// Reads opened content to be shown. Prints the warnings of a model if verbose.
pub(crate) fn read(
    opened: Opened,
    options: &SceneOptions,
    progress: &Progress,
) -> Result<Content, AppError> {
    if let Opened::Model(model) = &opened {
        note_warnings(model, options);
    }
    Ok(Content::read(opened, &options.load_options(), progress)?)
}

/// Reads a whole source as a world in memory. Prints the faults of damaged parts, which are left out.
pub(crate) fn load_world(source: &dyn Source) -> Result<World, AppError> {
    let (world, faults) = drystone::load_world(source)?;
    note_faults(source.name(), &faults);
    Ok(world)
}

/// Returns a line about the axis of a model if it was turned by a guess, which may be wrong.
fn guessed_axis(model: &Model) -> Option<String> {
    let is_turned = model.up.is_guess() && model.up.axis != UpAxis::Y;
    is_turned.then(|| axis_text(model))
}

fn axis_text(model: &Model) -> String {
    format!("{}: up is {}; --up changes it", output::plain(&model.name), model.up)
}

fn note_warnings(model: &Model, options: &SceneOptions) {
    if guessed_axis(model).is_some() || options.verbose {
        output::note(&axis_text(model));
    }
    if options.verbose {
        for ModelWarning { kind, count, first_location, .. } in model.warnings.iter() {
            output::note(&format!("{kind}: {count}, first at {first_location}"));
        }
    }
}

/// Faults that are printed one by one.
const MAX_PRINTED_FAULTS: usize = 10;

/// Prints faults of a source on standard error.
pub(crate) fn note_faults(name: &str, faults: &[String]) {
    faults.iter().take(MAX_PRINTED_FAULTS).for_each(|fault| output::note(fault));
    if faults.len() > MAX_PRINTED_FAULTS {
        let more = faults.len() - MAX_PRINTED_FAULTS;
        output::note(&format!("{name}: {more} more faults; damaged parts are left out"));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use drystone_world::{GeneratedWorld, GeneratorConfig};

    use super::*;
    use crate::cli;

    /// A wrong `--edits` file is reported before a window opens.
    #[test]
    fn files_that_cannot_store_edits_are_refused_at_the_start() {
        let folder = std::env::temp_dir().join(format!("drystone-refused-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("folder")).unwrap();
        let name = |name: &str| folder.join(name).into_os_string();
        let open = |seed: &str, edits: &std::ffi::OsStr| {
            let words = ["drystone", "--seed", seed, "--chunks", "2x3x2", "--edits"];
            let words = words.map(std::ffi::OsString::from).into_iter().chain([edits.into()]);
            let Ok(options) = cli::parse(words) else { panic!("options") };
            open_to_edit(&options.scene, &options.save).map(drop)
        };
        fs::write(name("text.drystone"), "some text").unwrap();
        // Of another world.
        let source = Box::new(GeneratedWorld::new(GeneratorConfig::default()).unwrap());
        let other = name("other.drystone");
        let options = EditOptions::at(Path::new(&other)).with_access(EditAccess::Write);
        drop(EditedSource::open(source, &options).unwrap());
        let mut refused = vec![
            (name("no folder/e.drystone"), "cannot be written"),
            (name("text.drystone/e.drystone"), "cannot be written"),
            (name("folder"), "a folder"),
            (name("text.drystone"), "not a stored world"),
            (name("other.drystone"), "holds edits of"),
            (folder.join("..").into_os_string(), "a folder"),
        ];
        // No process can create files there, not even root.
        if Path::new("/proc/self").exists() {
            refused.push(("/proc/e.drystone".into(), "cannot be written"));
        }
        for (path, why) in refused {
            let line = open("7", &path).unwrap_err().to_string();
            assert!(line.contains(why), "{line}");
            assert!(line.contains(path.to_str().unwrap()), "{line}");
        }
        let before = fs::read_dir(&folder).unwrap().count();
        open("7", &name("new.drystone")).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), before, "no file is created yet");
        fs::remove_dir_all(folder).unwrap();
    }
}
