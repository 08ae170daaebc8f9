use std::{any::Any, fs::OpenOptions, path::Path};

use drystone_world::{EditedSource, Source, StoredLater, StoredWorld};

use super::open;
use crate::{
    AppError,
    cli::{EditsArgs, SaveArgs, SceneOptions, SourceOptions},
};

mod beside;

pub(crate) use beside::keep_in_new_file;

/// Opens the source that the options name to be read, with the edits that lie beside it. Edits
/// that are there and were not asked for are told of.
pub(crate) fn open_edited(
    source: &SourceOptions,
    edits: &EditsArgs,
) -> Result<Box<dyn Source>, AppError> {
    let opened = open(source)?;
    match &edits.edits {
        Some(path) => Ok(Box::new(EditedSource::open_read_only(opened, path)?)),
        None => {
            beside::tell(opened.as_ref(), source);
            Ok(opened)
        }
    }
}

/// The same to be edited: a stored world itself if it may be written, of anything else the file
/// beside it, if one is named. They are only read until something is edited.
pub(crate) fn open_to_edit(
    scene: &SceneOptions,
    save: &SaveArgs,
) -> Result<Box<dyn Source>, AppError> {
    if save.read_only {
        return open_edited(&scene.source, &scene.edits);
    }
    if let Some(path) = &scene.edits.edits {
        let source = open(&scene.source)?;
        return Ok(Box::new(EditedSource::open_later(source, path, save.policy())?));
    }
    let path = scene.source.path.as_deref();
    if let Some(path) = path.filter(|path| StoredWorld::is_stored(path) && is_writable(path)) {
        return Ok(Box::new(StoredLater::open(path, save.policy())?));
    }
    let source = open_edited(&scene.source, &scene.edits)?;
    // One that has no number left for what is emptied is shown without edits.
    if source.materials().len() > usize::from(u16::MAX) {
        return Ok(source);
    }
    Ok(Box::new(EditedSource::without_file(source, save.policy())?))
}

/// Whether the file may be written; it is not.
fn is_writable(path: &Path) -> bool {
    OpenOptions::new().write(true).open(path).is_ok()
}

/// Whether edits of a source can be kept, now or once a file is named.
pub(crate) fn is_keepable(source: &dyn Source) -> bool {
    let any: &dyn Any = source;
    let lacks_file = any.downcast_ref().is_some_and(EditedSource::lacks_file);
    lacks_file || source.edit_store().is_some()
}
