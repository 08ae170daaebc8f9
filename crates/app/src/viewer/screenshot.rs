//! Screenshots to numbered files.

use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use drystone::MessageKind;
use drystone_render::{Image, RenderError};

use super::signals::{WindowRequest, WindowRequests};

/// Writes pictures on threads and reports to the viewer.
pub(super) struct Screenshots {
    requests: WindowRequests,
    writing: Vec<JoinHandle<()>>,
}

/// Maximum number of screenshots in a folder.
const MAX: u32 = 1_000_000;

impl Screenshots {
    pub(super) const fn new(requests: WindowRequests) -> Self {
        Self { requests, writing: Vec::new() }
    }

    pub(super) fn write(&mut self, picture: Image) {
        let requests = self.requests.clone();
        self.writing.retain(|thread| !thread.is_finished());
        self.writing.push(thread::spawn(move || {
            let (kind, line) = match save(Path::new(""), &picture) {
                Ok(path) => {
                    (MessageKind::Result, format!("the picture was saved as {}", path.display()))
                }
                Err(error) => (MessageKind::Problem, format!("the picture was not saved: {error}")),
            };
            requests.send(WindowRequest::Message(kind, line));
        }));
    }

    /// Waits until all pictures are written.
    pub(super) fn finish(&mut self) {
        // A thread that panicked has printed its message.
        self.writing.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Writes a picture to `drystone-N.png` in a folder, with the first free number.
fn save(folder: &Path, picture: &Image) -> Result<PathBuf, RenderError> {
    let failed = |path: &Path, error: &io::Error| RenderError::Picture {
        path: path.to_path_buf(),
        reason: error.to_string(),
    };
    let mut path = PathBuf::new();
    for number in 1..MAX {
        path = folder.join(format!("drystone-{number}.png"));
        // Creating the file reserves its name.
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => {
                return match picture.save_png(&path) {
                    Ok(()) => Ok(path),
                    Err(error) => {
                        let _ = fs::remove_file(&path);
                        Err(error)
                    }
                };
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path, &error)),
        }
    }
    Err(failed(&path, &io::ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screenshots_never_overwrite_files() {
        let folder = std::env::temp_dir().join(format!("drystone-shots-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("drystone-2.png"), "mine").unwrap();
        let shades = [10, 20, 30].map(|shade| Image::new(3, 2, [shade, 0, 0, 255]));
        let paths = shades.each_ref().map(|picture| save(&folder, picture).unwrap());
        let names = paths.each_ref().map(|path| path.file_name().unwrap().to_str().unwrap());
        assert_eq!(names, ["drystone-1.png", "drystone-3.png", "drystone-4.png"]);
        for (path, picture) in paths.iter().zip(&shades) {
            assert!(Image::load_png(path).unwrap() == *picture);
        }
        assert_eq!(fs::read(folder.join("drystone-2.png")).unwrap(), b"mine");
        // A failed write leaves no file.
        assert!(save(&folder, &Image::new(0, 2, [0; 4])).is_err());
        assert!(!folder.join("drystone-5.png").exists());
        assert!(save(&folder.join("none"), &shades[0]).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
