use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Files begun by this process.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// Writes a file so that nobody ever sees half of it: `write` fills a temporary file
/// beside `path`, which then takes its place. A link is followed; a folder, device or
/// pipe is not replaced.
///
/// # Errors
/// In words: what `path` is instead of a file, or what the system said. Nothing is left
/// behind then, and what was at `path` stays.
pub fn replace_file(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let path = replaceable(path)?;
    // Several threads may write at a time.
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let name = format!(".drystone-{}-{number}.part", std::process::id());
    let temporary = path.with_file_name(name);
    let written =
        write(&temporary).and_then(|()| fs::rename(&temporary, path).map_err(|e| e.to_string()));
    written.map_err(|reason| {
        // The temporary file may not exist; the first error is the one to report.
        let _ = fs::remove_file(&temporary);
        format!("cannot be written: {reason}")
    })
}

/// `path`, or what it links to, where a file may take its place.
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
    fn only_files_are_replaced_and_links_are_followed() {
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
        // A writer that fails half way leaves what was there, and nothing beside it.
        let failed = replace_file(&file, |part| {
            fs::write(part, "half").map_err(|e| e.to_string())?;
            Err("the disk is full".into())
        });
        assert_eq!(failed, Err("cannot be written: the disk is full".into()));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
