use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use drystone_formats::SourceError;
use tempfile::{Builder, TempPath};

/// Creates an empty hidden file beside `path`, with the number of this process in its name. The
/// file is removed on drop. Removes such files of processes that were killed.
pub(crate) fn reserve(path: &Path) -> Result<TempPath> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    remove_leftovers(path);
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(format!(".{}-", std::process::id()));
    // Created with the default permissions of a new file.
    let make = |own: &Path| OpenOptions::new().write(true).create_new(true).open(own);
    let file = Builder::new().prefix(&prefix).suffix(".new").make_in(folder_of(path), make)?;
    Ok(file.into_temp_path())
}

/// Creates the file `path`, whose content `fill` writes and closes.
///
/// # Errors
/// [`Unwritable`](SourceError::Unwritable) if the file exists or cannot be created, and the errors
/// of `fill`.
pub(crate) fn create(
    path: &Path,
    fill: impl FnOnce(&Path) -> std::result::Result<(), SourceError>,
) -> std::result::Result<(), SourceError> {
    let unwritable = |problem| SourceError::Unwritable { path: path.into(), problem };
    if path.exists() {
        return Err(unwritable(ErrorKind::AlreadyExists.into()));
    }
    // The file gets its final name when it is complete: a killed process leaves no broken world.
    let new = reserve(path).map_err(unwritable)?;
    fill(&new).map_err(|error| match error {
        SourceError::Unreadable { problem, .. } => unwritable(problem),
        other => other,
    })?;
    name(new, path).map_err(unwritable)
}

/// Checks that a file can be created at `path`, by creating a temporary one beside it.
pub(crate) fn can_make(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    reserve(path).map(drop)
}

/// Renames the file `new` to `path`, in place of an older file. A program that has the older one open keeps
/// reading it.
pub(crate) fn rename_over(new: TempPath, path: &Path) -> Result<()> {
    new.persist(path)?;
    sync_names(path);
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes temporary files of ended processes beside `path`. Skips files that cannot be attributed
/// or removed.
pub(crate) fn remove_leftovers(path: &Path) {
    let Some(name) = path.file_name() else { return };
    for entry in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let file_name = entry.file_name();
        let is_leftover = process_of(&file_name, name).is_some_and(has_ended);
        if is_leftover && is_unlocked(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Number of the process that created the temporary file `file_name` for a file `name`.
fn process_of(file_name: &OsStr, name: &OsStr) -> Option<u32> {
    let middle = file_name.to_str()?.strip_prefix('.')?.strip_prefix(name.to_str()?)?;
    middle.strip_prefix('.')?.strip_suffix(".new")?.split_once('-')?.0.parse().ok()
}

/// Whether no process has this number; false if the system does not report processes.
fn has_ended(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
}

/// Whether no process has the file open as a world. A process on another machine might.
fn is_unlocked(path: &Path) -> bool {
    fs::File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Renames the file `new` to `path`, which must not exist.
///
/// # Errors
/// `AlreadyExists` if `path` exists.
fn name(new: TempPath, path: &Path) -> Result<()> {
    new.persist_noclobber(path)?;
    sync_names(path);
    Ok(())
}

/// Renames the file at `path` to `kept`, which must not exist, and the file `new` to `path`. On
/// file systems with hard links, `path` names one of both files at every moment.
///
/// # Errors
/// `AlreadyExists` if `kept` exists.
pub(crate) fn replace(new: TempPath, path: &Path, kept: &Path) -> Result<()> {
    match fs::hard_link(path, kept) {
        Ok(()) => {}
        Err(error) if has_links(&error) => return Err(error),
        Err(_) if kept.exists() => return Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(path, kept)?,
    }
    new.persist(path)?;
    sync_names(path);
    Ok(())
}

/// Waits until the file names in the folder of `path` are on disk, so that a new file survives a
/// power failure. Windows and some file systems do not support it.
fn sync_names(path: &Path) {
    if cfg!(unix) {
        let _ = fs::File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    }
}

/// Whether creating a link failed although the file system supports links.
fn has_links(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_names_are_not_overwritten() {
        let name = format!("drystone-publish-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let [path, kept] = ["a", "b"].map(|name| folder.join(name));
        let [first, second] = [1, 2].map(|_| reserve(&path).unwrap());
        assert_ne!(first.to_path_buf(), second.to_path_buf());
        fs::write(&first, "1").unwrap();
        fs::write(&second, "2").unwrap();
        first.persist(&path).unwrap();
        replace(second, &path, &kept).unwrap();
        assert_eq!((fs::read(&path).unwrap(), fs::read(&kept).unwrap()), ("2".into(), "1".into()));
        let third = reserve(&path).unwrap();
        let taken = replace(third, &path, &kept).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&path).unwrap(), fs::read(&kept).unwrap()), ("2".into(), "1".into()));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn only_files_of_ended_processes_are_removed() {
        let name = format!("drystone-left-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        if !has_ended(u32::MAX) {
            println!("skipped: this system does not list its processes");
            return;
        }
        let file = |name: String| {
            let path = folder.join(name);
            fs::write(&path, "1").unwrap();
            path
        };
        let (ended, own) = (u32::MAX, std::process::id());
        let leftovers = ["0", "aB3xY9"].map(|n| file(format!(".w.{ended}-{n}.new")));
        let locked = file(format!(".w.{ended}-8.new"));
        let holder = fs::File::open(&locked).unwrap();
        holder.lock().unwrap();
        let others = [
            file(format!(".w.{own}-900.new")),
            file(format!(".v.{ended}-0.new")),
            file(format!("w.{ended}-0.new")),
            file(format!(".w.{ended}.new")),
            file(".w.new".into()),
            file("w".into()),
            locked,
        ];
        reserve(&folder.join("w")).unwrap();
        assert!(leftovers.iter().all(|path| !path.exists()));
        assert!(others.iter().all(|path| path.exists()), "{others:?}");
        drop(holder);
        reserve(&folder.join("w")).unwrap();
        assert!(!others[6].exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
