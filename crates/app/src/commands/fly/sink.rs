use std::{
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use drystone_render::{Image, replace_file};
use gif::{Encoder, Frame, Repeat};

use super::progress;
use crate::{AppError, cli::FlyOptions};

/// Destination of pictures.
pub(super) enum Sink {
    /// A folder of numbered PNGs.
    Folder(PathBuf),
    /// One animated GIF.
    Gif { path: PathBuf, sides: [u16; 2], rate: u16 },
}

/// Speed of the colour quantizer: 1 is the best quality, 30 the fastest.
const QUANTIZER_SPEED: i32 = 10;

impl Sink {
    /// Creates the sink for the output path; creates a folder. A folder with pictures of a longer
    /// flight is refused, since they would look like pictures of this flight.
    pub(super) fn open(options: &FlyOptions) -> Result<Self, AppError> {
        let (path, size, rate) = (&options.output, options.scene.camera.size, options.rate);
        let wrong = |problem: String| AppError::File { path: path.into(), problem };
        if path.extension().is_some_and(|it| it.eq_ignore_ascii_case("gif")) {
            let [width, height] = [size.width, size.height].map(u16::try_from);
            let (Ok(width), Ok(height)) = (width, height) else {
                return Err(wrong("a GIF is at most 65535 pixels wide and high".into()));
            };
            return Ok(Self::Gif { path: path.into(), sides: [width, height], rate });
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
    /// Errors of `draw` and of writing. A GIF stays unchanged then; a folder has the pictures so
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
            Self::Gif { path, sides, rate } => {
                let wrong = |problem: String| AppError::File { path: path.clone(), problem };
                // The first error is returned unchanged; `replace_file` only has to stop.
                let mut failed = None;
                let written = replace_file(&path, |part| {
                    let mut gif = start(part, sides)?;
                    for n in 0..count {
                        let mut write = |picture: &Image| {
                            let frame = frame(picture, sides, rate);
                            gif.write_frame(&frame).map_err(|error| wrong(error.to_string()))
                        };
                        match draw(n, &mut write) {
                            Ok(result) => results.push(result),
                            Err(error) => {
                                failed = Some(error);
                                return Err(String::new());
                            }
                        }
                        bar.inc(1);
                    }
                    let file = gif.into_inner().map_err(|error| error.to_string())?;
                    file.into_inner().map(drop).map_err(|error| error.to_string())
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

fn start(path: &Path, [width, height]: [u16; 2]) -> Result<Encoder<BufWriter<File>>, String> {
    let file = File::create(path).map_err(|error| error.to_string())?;
    let gif = Encoder::new(BufWriter::new(file), width, height, &[]);
    let mut gif = gif.map_err(|error| error.to_string())?;
    gif.set_repeat(Repeat::Infinite).map_err(|error| error.to_string())?;
    Ok(gif)
}

/// Quantizes a picture to its best 256 colours.
fn frame(picture: &Image, [width, height]: [u16; 2], rate: u16) -> Frame<'static> {
    let mut rgba = picture.rgba().to_vec();
    let mut frame = Frame::from_rgba_speed(width, height, &mut rgba, QUANTIZER_SPEED);
    frame.delay = (100 / rate).max(1);
    frame
}
