use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Makes an empty file beside `path` that nobody else has: hidden, of this process's number.
pub(super) fn reserve(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    for number in 0..MOST {
        let mut own = OsString::from(".");
        own.push(name);
        own.push(format!(".{}-{number}.new", std::process::id()));
        let own = path.with_file_name(own);
        match OpenOptions::new().write(true).create_new(true).open(&own) {
            Ok(_) => return Ok(own),
            // Another thread's, or left by a process of the same number that was killed.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Files beside one that are tried.
const MOST: u32 = 1 << 10;

/// Gives the file `new` the name `path`, which nothing has.
///
/// # Errors
/// `AlreadyExists` where something has it, which stays as it is.
pub(super) fn publish(new: &Path, path: &Path) -> Result<()> {
    match fs::hard_link(new, path) {
        // The link is what counts.
        Ok(()) => fs::remove_file(new).or(Ok(())),
        Err(error) if has_links(&error) => Err(error),
        Err(_) if path.exists() => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(new, path),
    }
}

/// Gives the file `new` the name `path`, and what had that the name `kept`, which nothing has.
/// At every moment `path` names one of both, where files can have two names.
///
/// # Errors
/// `AlreadyExists` where something is named `kept`.
pub(super) fn replace(new: &Path, path: &Path, kept: &Path) -> Result<()> {
    match fs::hard_link(path, kept) {
        Ok(()) => {}
        Err(error) if has_links(&error) => return Err(error),
        Err(_) if kept.exists() => return Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(path, kept)?,
    }
    fs::rename(new, path)
}

/// Whether a link failed for another reason than that there are none.
fn has_links(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_once() {
        let name = format!("drystone-publish-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        let [path, kept] = ["a", "b"].map(|name| folder.join(name));
        let [first, second] = [1, 2].map(|_| reserve(&path).unwrap());
        assert_ne!(first, second);
        fs::write(&first, "1").unwrap();
        fs::write(&second, "2").unwrap();
        publish(&first, &path).unwrap();
        assert!(!first.exists());
        assert_eq!(publish(&second, &path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"1");
        replace(&second, &path, &kept).unwrap();
        assert_eq!((fs::read(&path).unwrap(), fs::read(&kept).unwrap()), ("2".into(), "1".into()));
        let third = reserve(&path).unwrap();
        let taken = replace(&third, &path, &kept).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&path).unwrap(), fs::read(&kept).unwrap()), ("2".into(), "1".into()));
        fs::remove_dir_all(folder).unwrap();
    }
}
