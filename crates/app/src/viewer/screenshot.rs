//! Pictures of what is shown, to files of their own.

use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use drystone_render::{Image, RenderError};
use winit::event_loop::ActiveEventLoop;

use super::{
    Viewer,
    signals::{WindowRequest, WindowRequests},
};

/// Writes pictures, each on a thread, and tells the viewer.
pub(super) struct Screenshots {
    wishes: WindowRequests,
    writing: Vec<JoinHandle<()>>,
}

/// No folder has more of them.
const MAX: u32 = 1_000_000;

impl Screenshots {
    pub(super) const fn new(wishes: WindowRequests) -> Self {
        Self { wishes, writing: Vec::new() }
    }

    fn write(&mut self, picture: Image) {
        let wishes = self.wishes.clone();
        self.writing.retain(|thread| !thread.is_finished());
        self.writing.push(thread::spawn(move || {
            let line = match save(Path::new(""), &picture) {
                Ok(path) => format!("the picture is in {}", path.display()),
                Err(error) => format!("the picture is not saved: {error}"),
            };
            wishes.send(WindowRequest::Say(line));
        }));
    }

    /// Returns when all are written.
    pub(super) fn finish(&mut self) {
        // One that panicked has nothing to say.
        self.writing.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Viewer {
    /// Has a picture of what is shown written to a new file.
    pub(super) fn screenshot(&mut self, event_loop: &ActiveEventLoop) {
        let Some(screen) = &mut self.screen else { return };
        let picture = screen.still(&self.view);
        self.overlay.cleared();
        match picture {
            Ok(picture) => self.screenshots.write(picture),
            Err(error @ RenderError::Lost { .. }) => self.recover(event_loop, error),
            Err(error) => self.say(&format!("no picture: {error}")),
        }
    }
}

/// Writes a picture to `drystone-N.png` in a folder, for the first number that is free.
fn save(folder: &Path, picture: &Image) -> Result<PathBuf, RenderError> {
    let failed = |path: &Path, error: &io::Error| RenderError::Picture {
        path: path.to_path_buf(),
        reason: error.to_string(),
    };
    let mut path = PathBuf::new();
    for number in 1..MAX {
        path = folder.join(format!("drystone-{number}.png"));
        // Whoever makes the file has its name: nobody else writes there.
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
    fn no_picture_takes_the_place_of_another() {
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
        // What fails leaves nothing.
        assert!(save(&folder, &Image::new(0, 2, [0; 4])).is_err());
        assert!(!folder.join("drystone-5.png").exists());
        assert!(save(&folder.join("none"), &shades[0]).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
