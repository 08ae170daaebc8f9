use std::{
    fs, io,
    path::{Path, PathBuf},
};

use drystone::scene::Size;
use drystone_render::{Image, replace_file};

use super::{animation::AnimationFormat, progress};
use crate::{AppError, cli::FlyOptions};

/// Destination of pictures.
pub(super) enum Sink {
    /// A folder of numbered PNGs.
    Folder(PathBuf),
    /// One file with an animated picture.
    Animation { path: PathBuf, format: AnimationFormat, size: Size, rate: u16 },
}

impl Sink {
    /// Creates the sink for the output path; creates a folder. A folder with pictures of a longer
    /// flight is refused, since they would look like pictures of this flight.
    pub(super) fn open(options: &FlyOptions) -> Result<Self, AppError> {
        let (path, size, rate) = (&options.output, options.scene.camera.size, options.rate);
        let wrong = |problem: String| AppError::File { path: path.into(), problem };
        if let Some(format) = AnimationFormat::of(path) {
            format.sides(size).map_err(wrong)?;
            return Ok(Self::Animation { path: path.into(), format, size, rate });
        }
        fs::create_dir_all(path).map_err(|error| wrong(error.to_string()))?;
        let count = options.frames as usize;
        if let Some(other) = other_picture(path, count).map_err(|error| wrong(error.to_string()))? {
            return Err(wrong(format!(
                "the folder has {other} of another flight; remove the old pictures, or name another folder"
            )));
        }
        Ok(Self::Folder(path.into()))
    }

    /// Calls `draw` for `count` pictures and writes each picture that `draw` passes to its second
    /// argument. Returns the results of `draw`.
    ///
    /// # Errors
    /// Errors of `draw` and of writing. A file stays unchanged then; a folder has the pictures so
    /// far.
    pub(super) fn fill<T>(
        self,
        count: usize,
        mut draw: impl FnMut(usize, &mut Write<'_>) -> Result<T, AppError>,
    ) -> Result<Vec<T>, AppError> {
        let bar = progress(count);
        let mut results = Vec::with_capacity(count);
        match self {
            Self::Folder(folder) => {
                for n in 0..count {
                    let path = folder.join(name(n, count));
                    results.push(draw(n, &mut |picture| Ok(picture.save_png(&path)?))?);
                    bar.inc(1);
                }
            }
            Self::Animation { path, format, size, rate } => {
                let wrong = |problem: String| AppError::File { path: path.clone(), problem };
                // The first error is returned unchanged; `replace_file` only has to stop.
                let mut failed = None;
                let written = replace_file(&path, |part| {
                    let mut animation = format.start(part, size, count, rate)?;
                    for n in 0..count {
                        let mut write = |picture: &Image| animation.write(picture).map_err(wrong);
                        match draw(n, &mut write) {
                            Ok(result) => results.push(result),
                            Err(error) => {
                                failed = Some(error);
                                return Err(String::new());
                            }
                        }
                        bar.inc(1);
                    }
                    animation.finish()
                });
                if let Some(error) = failed {
                    return Err(error);
                }
                written.map_err(wrong)?;
            }
        }
        bar.finish_and_clear();
        Ok(results)
    }
}

/// Returns the file name of picture `n` in a folder of `count`.
fn name(n: usize, count: usize) -> String {
    let digits = (count - 1).to_string().len();
    format!("{n:0digits$}.png")
}

/// Returns a file in the folder that is named like a picture of a flight, but not of one with
/// `count` pictures.
fn other_picture(folder: &Path, count: usize) -> io::Result<Option<String>> {
    for entry in fs::read_dir(folder)? {
        let Ok(found) = entry?.file_name().into_string() else { continue };
        let number = found.strip_suffix(".png").unwrap_or_default();
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_own = number.parse().is_ok_and(|n: usize| n < count && name(n, count) == found);
        if is_number && !is_own {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Function that writes a picture.
pub(super) type Write<'a> = dyn FnMut(&Image) -> Result<(), AppError> + 'a;
