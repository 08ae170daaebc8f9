use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use tempfile::Builder;

/// Writes a file atomically, also in case of a power failure. `write` fills a temporary file in the
/// same folder, which then replaces `path`. Links are followed. Folders, devices and pipes are not
/// replaced.
///
/// # Errors
/// A description: `path` is not a plain file, or the system's error. After an error no temporary
/// file remains, and `path` is unchanged.
pub fn replace_file(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let path = replaceable(path)?;
    write_and_rename(&path, write).map_err(|reason| format!("cannot be written: {reason}"))
}

fn write_and_rename(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let reason = |error: io::Error| error.to_string();
    // With the default permissions of new files.
    let make = |own: &Path| OpenOptions::new().write(true).create_new(true).open(own);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut builder = Builder::new();
    let made = builder.prefix(".drystone-").suffix(".part").make_in(folder, make);
    let temporary = made.map_err(reason)?;
    write(temporary.path())?;
    temporary.as_file().sync_all().map_err(reason)?;
    temporary.persist(path).map(drop).map_err(|refused| reason(refused.error))
}

/// Resolves `path` and its links to a plain file or a new name.
fn replaceable(path: &Path) -> Result<PathBuf, String> {
    if path.file_name().is_none() {
        return Err("is not the name of a file".into());
    }
    match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path).map_err(|e| e.to_string()),
        Ok(found) if found.is_dir() => Err("is a folder; name a file in it".into()),
        Ok(_) => Err("is a device or pipe, where a plain file is needed".into()),
        Err(_) => Ok(path.to_path_buf()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_are_replaced_and_links_are_followed() {
        let folder = std::env::temp_dir().join(format!("drystone-replace-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let put = |path: &Path, text: &'static str| {
            replace_file(path, |part| fs::write(part, text).map_err(|e| e.to_string()))
        };
        let file = folder.join("file");
        put(&file, "one").unwrap();
        put(&file, "two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert!(put(&folder, "three").is_err());
        assert!(put(&folder.join(".."), "three").is_err());
        #[cfg(unix)]
        {
            let link = folder.join("link");
            std::os::unix::fs::symlink(&file, &link).unwrap();
            put(&link, "four").unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), "four");
            assert!(put(Path::new("/dev/null"), "five").is_err());
            fs::remove_file(link).unwrap();
        }
        // The folder can contain files of others: of a process with the same id in another
        // container, or with guessed names.
        let name = |number| format!(".drystone-{}-{number}.part", std::process::id());
        let others: Vec<_> = (0..100).map(|number| folder.join(name(number))).collect();
        others.iter().for_each(|path| fs::write(path, "another's").unwrap());
        put(&file, "six").unwrap();
        for path in others {
            assert_eq!(fs::read_to_string(&path).unwrap(), "another's");
            fs::remove_file(path).unwrap();
        }
        // A failed `write` leaves the old file unchanged, and no temporary file.
        let failed = replace_file(&file, |part| {
            fs::write(part, "half").map_err(|e| e.to_string())?;
            Err("the disk is full".into())
        });
        assert_eq!(failed, Err("cannot be written: the disk is full".into()));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
