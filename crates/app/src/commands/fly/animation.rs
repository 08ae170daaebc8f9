use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use drystone::scene::Size;
use drystone_render::Image;
use gif::{Frame, Repeat};

/// Format of a file with an animated picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnimationFormat {
    /// 256 colours a picture; delays are whole hundredths of a second.
    Gif,
    /// Animated PNG: all colours, any delay.
    Png,
}

/// Animated picture that is being written. It repeats for ever.
pub(super) enum Animation {
    Gif { gif: gif::Encoder<BufWriter<File>>, sides: [u16; 2], rate: u16 },
    Png(png::Writer<BufWriter<File>>),
}

/// Speed of the colour quantizer: 1 is the best quality, 30 the fastest.
const QUANTIZER_SPEED: i32 = 10;

impl AnimationFormat {
    /// The format that the file's extension names.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "gif" => Some(Self::Gif),
            "png" | "apng" => Some(Self::Png),
            _ => None,
        }
    }

    /// Begins a file of `count` pictures of this size, `rate` a second.
    ///
    /// # Errors
    /// If the file cannot be written, or the format has no pictures of this size.
    pub(super) fn start(
        self,
        path: &Path,
        size: Size,
        count: usize,
        rate: u16,
    ) -> Result<Animation, String> {
        let sides = self.sides(size)?;
        let file = BufWriter::new(File::create(path).map_err(|error| error.to_string())?);
        match self {
            Self::Gif => {
                let gif = gif::Encoder::new(file, sides[0], sides[1], &[]);
                let mut gif = gif.map_err(|error| error.to_string())?;
                gif.set_repeat(Repeat::Infinite).map_err(|error| error.to_string())?;
                Ok(Animation::Gif { gif, sides, rate })
            }
            Self::Png => {
                let mut png = png::Encoder::new(file, size.width, size.height);
                png.set_color(png::ColorType::Rgba);
                png.set_depth(png::BitDepth::Eight);
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                png.set_animated(count, 0)
                    .and_then(|()| png.set_frame_delay(1, rate))
                    .and_then(|()| png.write_header())
                    .map(Animation::Png)
                    .map_err(|error| error.to_string())
            }
        }
    }

    /// Width and height of pictures in a GIF; unused otherwise.
    ///
    /// # Errors
    /// If a GIF cannot have them.
    pub(super) fn sides(self, size: Size) -> Result<[u16; 2], String> {
        match (self, u16::try_from(size.width), u16::try_from(size.height)) {
            (Self::Png, ..) => Ok([0; 2]),
            (Self::Gif, Ok(width), Ok(height)) => Ok([width, height]),
            (Self::Gif, ..) => Err("a GIF is at most 65535 pixels wide and high".into()),
        }
    }
}

impl Animation {
    /// Appends a picture.
    pub(super) fn write(&mut self, picture: &Image) -> Result<(), String> {
        match self {
            Self::Gif { gif, sides: [width, height], rate } => {
                let mut rgba = picture.rgba().to_vec();
                let mut frame = Frame::from_rgba_speed(*width, *height, &mut rgba, QUANTIZER_SPEED);
                frame.delay = (100 / *rate).max(1);
                gif.write_frame(&frame).map_err(|error| error.to_string())
            }
            Self::Png(png) => {
                png.write_image_data(picture.rgba()).map_err(|error| error.to_string())
            }
        }
    }

    /// Writes the end of the file.
    pub(super) fn finish(self) -> Result<(), String> {
        match self {
            Self::Gif { gif, .. } => {
                let mut file = gif.into_inner().map_err(|error| error.to_string())?;
                file.flush().map_err(|error| error.to_string())
            }
            Self::Png(png) => png.finish().map_err(|error| error.to_string()),
        }
    }
}
