//! Pictures as PNG files.

use std::{
    fs,
    io::{BufReader, BufWriter, Write},
    path::Path,
};

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Transformations};

use super::Image;
use crate::{error::RenderError, replace_file::replace_file};

impl Image {
    /// Writes the picture as PNG. The file is written completely or not at all: see
    /// [`replace_file`].
    ///
    /// # Errors
    /// `EmptyPicture` when the picture is empty. `Picture` with the path when the file cannot be
    /// written.
    pub fn save_png(&self, path: &Path) -> Result<(), RenderError> {
        if self.rgba.is_empty() {
            return Err(RenderError::EmptyPicture { width: self.width, height: self.height });
        }
        let failed = |reason: String| RenderError::Picture { path: path.to_path_buf(), reason };
        replace_file(path, |part| self.write_png(part)).map_err(failed)
    }

    /// Reads a PNG of 8 bits a channel, with or without opacity.
    ///
    /// # Errors
    /// `Picture` with the path and the decoder's message.
    pub fn load_png(path: &Path) -> Result<Self, RenderError> {
        let failed = |reason: String| RenderError::Picture { path: path.to_path_buf(), reason };
        let file = fs::File::open(path).map_err(|e| failed(e.to_string()))?;
        let mut decoder = Decoder::new(BufReader::new(file));
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(|e| failed(e.to_string()))?;
        let size_bytes = reader.output_buffer_size().ok_or_else(|| failed("too large".into()))?;
        let mut bytes = vec![0; size_bytes];
        let info = reader.next_frame(&mut bytes).map_err(|e| failed(e.to_string()))?;
        bytes.truncate(info.buffer_size());
        let rgba = match info.color_type {
            ColorType::Rgba => bytes,
            ColorType::Rgb => {
                bytes.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], u8::MAX]).collect()
            }
            other => return Err(failed(format!("colour type {other:?} is not supported"))),
        };
        Self::from_rgba(info.width, info.height, rgba).ok_or_else(|| failed("is truncated".into()))
    }

    fn write_png(&self, path: &Path) -> Result<(), String> {
        let file = fs::File::create(path).map_err(|e| e.to_string())?;
        let mut buffer = BufWriter::new(file);
        let mut encoder = Encoder::new(&mut buffer, self.width, self.height);
        encoder.set_color(ColorType::Rgba);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::Fast);
        let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
        writer.write_image_data(&self.rgba).map_err(|e| e.to_string())?;
        writer.finish().map_err(|e| e.to_string())?;
        buffer.flush().map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn png_round_trips_and_leaves_no_temporary_file() {
        let folder = std::env::temp_dir().join(format!("drystone-image-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.png");
        let mut image = Image::new(3, 2, [1, 2, 3, 255]);
        image.rgba_mut()[4] = 99;
        image.save_png(&path).unwrap();
        assert_eq!(Image::load_png(&path).unwrap(), image);
        assert!(image.save_png(&folder.join("missing/a.png")).is_err());
        assert!(Image::new(0, 3, [0; 4]).save_png(&folder.join("b.png")).is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
