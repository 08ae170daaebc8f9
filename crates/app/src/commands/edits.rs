use std::{io::ErrorKind, path::Path};

use drystone_world::{EditedSource, Source, StoredWorld, WorldError};

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

/// The same to be edited: a stored world itself, of anything else the file beside it, which is
/// made if it is not there.
pub(crate) fn open_to_edit(
    scene: &SceneOptions,
    save: &SaveArgs,
) -> Result<Box<dyn Source>, AppError> {
    if save.read_only {
        return open_edited(&scene.source, &scene.edits);
    }
    if let Some(path) = &scene.edits.edits {
        let source = open(&scene.source)?;
        let edited = EditedSource::open(source, path, save.policy());
        return Ok(Box::new(edited.map_err(|error| to_be_written(error, path))?));
    }
    match scene.source.path.as_deref().filter(|path| StoredWorld::is_stored(path)) {
        Some(path) => {
            let world = StoredWorld::open_with(path, save.policy());
            Ok(Box::new(world.map_err(|error| to_be_written(error, path))?))
        }
        None => open(&scene.source),
    }
}

/// What may be read but not written can be looked at all the same.
fn to_be_written(error: WorldError, path: &Path) -> AppError {
    match error {
        WorldError::Unreadable { problem, .. }
            if matches!(
                problem.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            AppError::NotWritable { path: path.into(), problem }
        }
        other => other.into(),
    }
}
