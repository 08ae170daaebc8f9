use std::{any::Any, fs::OpenOptions, path::Path};

use drystone_formats::Source;
use drystone_store::{CommitPolicy, EditedSource, StoredLater, StoredWorld};

use super::open;
use crate::{
    AppError,
    cli::{EditsArgs, SaveArgs, SceneOptions, SourceOptions},
};

mod unnamed;

pub(crate) use unnamed::save_in_new_file;

/// Opens the source that the options name for reading, with the edits of `--edits`. Without that
/// option, prints a note if there is a file of edits.
pub(crate) fn open_edited(
    source: &SourceOptions,
    edits: &EditsArgs,
) -> Result<Box<dyn Source>, AppError> {
    let opened = open(source)?;
    match &edits.edits {
        Some(path) => Ok(Box::new(EditedSource::open_read_only(opened, path)?)),
        None => {
            unnamed::note_existing(opened.as_ref(), source);
            Ok(opened)
        }
    }
}

/// Opens the source that the options name for editing. A stored world that is writable takes the
/// edits itself, or a file next to it if another process has it open. For any other source the
/// edits go to the file of `--edits`. Files are opened read-only until the first edit.
pub(crate) fn open_to_edit(
    scene: &SceneOptions,
    save: &SaveArgs,
) -> Result<Box<dyn Source>, AppError> {
    let policy = scene.memory_budget().commit_policy(save.policy());
    if save.read_only {
        return open_edited(&scene.source, &scene.edits);
    }
    if let Some(path) = &scene.edits.edits {
        let source = open(&scene.source)?;
        return Ok(Box::new(EditedSource::open_later(source, path, policy)?));
    }
    let path = scene.source.path.as_deref();
    if let Some(path) = path.filter(|path| StoredWorld::is_stored(path) && is_writable(path)) {
        let world = StoredLater::open(path, policy)?;
        unnamed::note_existing(&world, &scene.source);
        return with_edits(Box::new(world), policy);
    }
    with_edits(open_edited(&scene.source, &scene.edits)?, policy)
}

/// Wraps the source so that edits can be saved to a file later.
fn with_edits(source: Box<dyn Source>, policy: CommitPolicy) -> Result<Box<dyn Source>, AppError> {
    // All material numbers are taken, so none is left for removed voxels: show it without edits.
    if source.materials().len() > usize::from(u16::MAX) {
        return Ok(source);
    }
    Ok(Box::new(EditedSource::without_file(source, policy)?))
}

/// Whether the file can be opened for writing. Nothing is written.
fn is_writable(path: &Path) -> bool {
    OpenOptions::new().write(true).open(path).is_ok()
}

/// Whether edits of a source can be saved, now or once a file is named.
pub(crate) fn can_save_edits(source: &dyn Source) -> bool {
    let any: &dyn Any = source;
    let lacks_file = any.downcast_ref().is_some_and(EditedSource::lacks_file);
    lacks_file || source.edit_store().is_some()
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
        let policy = CommitPolicy::default();
        drop(EditedSource::open(source, name("other.drystone").as_ref(), policy).unwrap());
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
