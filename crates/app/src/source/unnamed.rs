//! Files of edits without `--edits`: `SOURCE.edits.drystone`.

use std::{
    fs::DirEntry,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use drystone_formats::{Source, SourceError};
use drystone_store::{EditedSource, StoredWorld};

use crate::{address, cli::SourceOptions};

/// Saves the edits in a new file by calling `save` with its path, and returns the path. The file
/// lies next to the source; for a generated world, or if that folder is not writable, in the
/// current folder.
///
/// # Errors
/// Errors of `save`.
pub(crate) fn save_in_new_file(
    source: &SourceOptions,
    mut save: impl FnMut(&Path) -> Result<(), SourceError>,
) -> Result<PathBuf, SourceError> {
    let start = start_of(source);
    // If another process creates this file in between, `save` fails without harm.
    let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
    let free = |start: &Path| names(start).find(is_free).unwrap_or_default();
    let path = free(&start);
    match save(&path) {
        Err(error) if is_denied(&error) => {
            let here = free(start.file_name().unwrap_or_default().as_ref());
            if here == path {
                return Err(error);
            }
            save(&here).map(|()| here)
        }
        result => result.map(|()| path),
    }
}

/// Returns the files in which edits of the source may be saved: those next to it, the newest first, then
/// those in the current folder.
pub(super) fn files(source: &SourceOptions) -> Vec<PathBuf> {
    let start = start_of(source);
    let here = PathBuf::from(start.file_name().unwrap_or_default());
    let starts = [&start, &here].into_iter().take(if here == start { 1 } else { 2 });
    starts.flat_map(|start| numbered(start)).collect()
}

/// Returns the edit files with a start that exist, the highest number first. Numbers may be missing.
fn numbered(start: &Path) -> Vec<PathBuf> {
    let folder = start.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = folder.unwrap_or(Path::new(".")).read_dir() else { return Vec::new() };
    let file = start.file_name().unwrap_or_default();
    let number = |entry: std::io::Result<DirEntry>| {
        let name = entry.ok()?.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(file.as_encoded_bytes())?;
        let rest = std::str::from_utf8(rest).ok()?.strip_suffix(StoredWorld::EXTENSION)?;
        match rest {
            ".edits." => Some(1),
            rest => rest.strip_prefix(".edits-")?.strip_suffix('.')?.parse().ok(),
        }
    };
    let mut numbers: Vec<u32> = entries.filter_map(number).collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    // Other spellings of a number, such as `02`, are not names of edit files.
    numbers.dedup();
    numbers.into_iter().map(|it| name_of(start, it)).filter(|path| path.is_file()).collect()
}

/// Returns a line about edits of the source in a file that was not named by `--edits`, if there is one.
pub(super) fn existing(opened: &dyn Source, source: &SourceOptions) -> Option<String> {
    let mut files = files(source).into_iter();
    let path = files.find(|path| EditedSource::is_saved_in(opened, path))?;
    let path = path.display();
    Some(format!("edits of this source exist in {path}; to load them: --edits {path}"))
}

/// Returns the path without the suffix of edit files.
fn start_of(source: &SourceOptions) -> PathBuf {
    let kind = source.moving().map_or("generated", |config| config.kind.name());
    let Some(path) = &source.path else { return format!("{kind}-{}", source.seed).into() };
    match path.file_name() {
        // Edits of a world at an address are saved in the current folder.
        Some(name) if address::of(path).is_some() => name.into(),
        // Drops what follows the name, as in `save/.`.
        Some(name) => path.with_file_name(name),
        // A path that ends in `..`.
        None => path.canonicalize().unwrap_or_else(|_| path.clone()),
    }
}

/// Returns the possible names of edit files, in the order they are tried.
fn names(start: &Path) -> impl Iterator<Item = PathBuf> {
    (1_u32..).map(|number| name_of(start, number))
}

fn name_of(start: &Path, number: u32) -> PathBuf {
    let mut name = start.as_os_str().to_owned();
    match number {
        1 => name.push(".edits."),
        _ => name.push(format!(".edits-{number}.")),
    }
    name.push(StoredWorld::EXTENSION);
    name.into()
}

/// Whether the error says that the folder is not writable.
fn is_denied(error: &SourceError) -> bool {
    let SourceError::Unwritable { problem, .. } = error else { return false };
    matches!(problem.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cli;

    fn source(words: &[&str]) -> SourceOptions {
        let words = ["drystone"].iter().chain(words).map(std::ffi::OsString::from);
        let Ok(options) = cli::parse(words) else { panic!("options") };
        options.scene.source
    }

    fn path_of(words: &[&str]) -> PathBuf {
        save_in_new_file(&source(words), |_| Ok(())).unwrap()
    }

    #[test]
    fn unnamed_edit_files_lie_next_to_the_source() {
        assert_eq!(path_of(&["--seed", "77"]), Path::new("generated-77.edits.drystone"));
        let address = "https://example.org/worlds/alps.dsw";
        assert_eq!(path_of(&[address]), Path::new("alps.dsw.edits.drystone"));
        let folder = std::env::temp_dir().join(format!("drystone-beside-{}", std::process::id()));
        fs::create_dir_all(folder.join("save")).unwrap();
        let expected = |name: &str| folder.join(name);
        let of = |name: &str| path_of(&[folder.join(name).to_str().unwrap()]);
        assert_eq!(of("a.vox"), expected("a.vox.edits.drystone"));
        assert_eq!(of("save/"), expected("save.edits.drystone"));
        assert_eq!(of("save/."), expected("save.edits.drystone"));
        assert_eq!(of("save/.."), {
            let full = folder.canonicalize().unwrap();
            names(&full).next().unwrap()
        });
        fs::write(expected("a.vox.edits.drystone"), "something else").unwrap();
        assert_eq!(of("a.vox"), expected("a.vox.edits-2.drystone"));
        fs::create_dir(expected("a.vox.edits-2.drystone")).unwrap();
        assert_eq!(of("a.vox"), expected("a.vox.edits-3.drystone"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn without_write_permission_edit_files_lie_in_the_current_folder() {
        let fails = |kind: ErrorKind| {
            move |path: &Path| match path.parent() {
                Some(folder) if folder.as_os_str().is_empty() => Ok(()),
                _ => Err(SourceError::Unwritable { path: path.into(), problem: kind.into() }),
            }
        };
        let far = source(&["/somewhere/a.vox"]);
        for kind in [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem] {
            let path = save_in_new_file(&far, fails(kind)).unwrap();
            assert_eq!(path, Path::new("a.vox.edits.drystone"));
        }
        assert!(save_in_new_file(&far, fails(ErrorKind::StorageFull)).is_err());
        // There is no second folder to try.
        let denied = |_: &Path| {
            let problem = ErrorKind::PermissionDenied.into();
            Err(SourceError::Unwritable { path: "x".into(), problem })
        };
        let mut count = 0;
        let counted = |path: &Path| {
            count += 1;
            denied(path)
        };
        assert!(save_in_new_file(&source(&[]), counted).is_err());
        assert_eq!(count, 1);
    }
}
