use drystone_world::{EditedSource, Source, StoredLater, StoredWorld};

use super::open;
use crate::{
    AppError,
    cli::{EditsArgs, SaveArgs, SceneOptions, SourceOptions},
};

/// Opens the source that the options name to be read, with the edits that lie beside it.
pub(crate) fn open_edited(
    source: &SourceOptions,
    edits: &EditsArgs,
) -> Result<Box<dyn Source>, AppError> {
    let source = open(source)?;
    match &edits.edits {
        Some(path) => Ok(Box::new(EditedSource::open_read_only(source, path)?)),
        None => Ok(source),
    }
}

/// The same to be edited: a stored world itself, of anything else the file beside it. They are
/// only read until something is edited.
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
    match scene.source.path.as_deref().filter(|path| StoredWorld::is_stored(path)) {
        Some(path) => Ok(Box::new(StoredLater::open(path, save.policy())?)),
        None => open(&scene.source),
    }
}
