//! Edits that were saved before, loaded by the viewer without `--edits`.

use std::path::{Path, PathBuf};

use drystone::MessageKind;
use drystone_formats::{Source, WorldFile};
use drystone_store::{
    CommitPolicy, EditAccess, EditOptions, EditedSource, StoreOptions, StoredWorld,
};
use drystone_world::Opened;

use super::{Note, is_writable, unnamed};
use crate::{
    AppError,
    cli::{SaveArgs, SavedEdits, SceneOptions},
};

/// Why a file of edits is not loaded, in words.
enum Refusal {
    /// The file has edits of another source.
    Foreign(String),
    Unreadable(String),
}

impl Refusal {
    /// Returns the reason not to load a file; `None` if it has edits of the source.
    fn of(path: &Path, source: &dyn Source) -> Option<Self> {
        if EditedSource::is_saved_in(source, path) {
            return None;
        }
        Some(match StoredWorld::open(path, &StoreOptions::read_only()) {
            Ok(_) => Self::Foreign(format!(
                "{} has edits of another source, or of this one before it changed",
                path.display()
            )),
            Err(error) => Self::Unreadable(error.to_string()),
        })
    }
}

/// Opens the source with the first of its files of edits that can be read, and returns a line for the
/// user. Returns no source if no file can be read, or none is to be loaded. The files are not changed.
///
/// # Cost
/// Opens the source again after a file that has its edits but cannot be used.
///
/// # Errors
/// Errors of opening the source itself.
pub(super) fn open(
    scene: &SceneOptions,
    save: &SaveArgs,
    policy: CommitPolicy,
) -> Result<(Option<EditedSource>, Option<Note>), AppError> {
    let (mut source, mut refused) = (None, Vec::new());
    for path in files(scene, save) {
        let voxels = match source.take() {
            Some(voxels) => voxels,
            None => match super::open(&scene.source)? {
                Opened::Voxels(voxels) => voxels,
                Opened::Model(_) => return Ok((None, None)),
            },
        };
        // A file that was remembered and does not exist is created by the first edit.
        let is_there = path.exists();
        if let Some(refusal) = Refusal::of(&path, voxels.as_ref()).filter(|_| is_there) {
            refused.push(refusal);
            source = Some(voxels);
            continue;
        }
        let is_fixed = save.read_only || (is_there && !is_writable(&path));
        let access = if is_fixed { EditAccess::Read } else { EditAccess::OnEdit };
        let options = EditOptions::default().with_file(Some(WorldFile::Path(&path)));
        match EditedSource::open(voxels, &options.with_policy(policy).with_access(access)) {
            Ok(edited) => {
                let is_expected = save.read_only || access == EditAccess::OnEdit;
                let more = if is_expected { "" } else { ", which cannot be written" };
                let line = format!("edits loaded from {}{more}", path.display());
                return Ok((Some(edited), is_there.then(|| loaded(&line, &refused))));
            }
            Err(error) => refused.push(Refusal::Unreadable(error.to_string())),
        }
    }
    let first = refused.into_iter().next();
    let note = first.map(|(Refusal::Foreign(reason) | Refusal::Unreadable(reason))| {
        (MessageKind::Problem, format!("opened without edits: {reason}"))
    });
    Ok((None, note))
}

/// Returns the files that may have edits of the source, the one to prefer first.
fn files(scene: &SceneOptions, save: &SaveArgs) -> Vec<PathBuf> {
    let remembered = match &scene.edits.saved {
        SavedEdits::Newest(remembered) if !save.no_edits => remembered.as_ref(),
        _ => return Vec::new(),
    };
    if scene.source.model_path().is_some() {
        return Vec::new();
    }
    let (there, absent): (Vec<_>, Vec<_>) = remembered.into_iter().partition(|it| it.exists());
    let mut files: Vec<PathBuf> = there.into_iter().cloned().collect();
    files.extend(unnamed::files(&scene.source));
    files.extend(absent.into_iter().filter(|_| !save.read_only).cloned());
    files
}

/// Returns the line about loaded edits, with the reason why preferred ones were not loaded.
fn loaded(line: &str, refused: &[Refusal]) -> Note {
    let unreadable = refused.iter().find_map(|refusal| match refusal {
        Refusal::Unreadable(reason) => Some(reason),
        Refusal::Foreign(_) => None,
    });
    match unreadable {
        Some(reason) => (MessageKind::Problem, format!("{line}; not loaded: {reason}")),
        None => (MessageKind::Hint, format!("{line}; --no-edits opens without them")),
    }
}

#[cfg(test)]
mod tests;
