//! Grey PNG pictures as heights.

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder, Limits};

use super::CONVERT;
use super::grid::{Decoded, Grid};
use crate::fault::{Fault, GET_AGAIN};

pub(super) const MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Maximum expansion of deflate, rounded up: bytes from one byte of the file.
const MAX_RATIO: u64 = 1032;

/// Decodes a grey picture of 8 or 16 bits. One step is 1 m, and transparent pixels are void.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, Fault> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    // Profiles and texts are not needed, and can be large.
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let info = decoder.read_header_info().map_err(bad)?;
    let size = [info.width, info.height];
    let channels = match info.color_type {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        _ => return Err(Fault::new("header", "a colour picture, not a height map", CONVERT)),
    };
    let sample_bytes = match info.bit_depth {
        BitDepth::Eight => 1,
        BitDepth::Sixteen => 2,
        depth => {
            let problem = format!("{} bits per sample", depth as u8);
            return Err(Fault::new("header", problem, CONVERT));
        }
    };
    Grid::check_claim(size, (channels * sample_bytes) as u64, bytes.len(), MAX_RATIO)?;
    let [width, height] = size.map(|side| side as usize);
    let picture_bytes = width * height * channels * sample_bytes;
    decoder.set_limits(Limits { bytes: picture_bytes + DECODER_BYTES });
    let mut reader = decoder.read_info().map_err(bad)?;
    let translucent = reader.info().trns.as_deref().map(|it| number(it, it.len()));
    let mut picture = vec![0; picture_bytes];
    reader.next_frame(&mut picture).map_err(bad)?;
    let samples = picture.chunks_exact(channels * sample_bytes);
    let metres = samples.map(|sample| {
        let (grey, alpha) = sample.split_at(sample_bytes);
        let grey = number(grey, sample_bytes);
        let transparent = !alpha.is_empty() && alpha.iter().all(|byte| *byte == 0);
        if transparent || Some(grey) == translucent { f32::NAN } else { f32::from(grey) }
    });
    let format = format!("PNG, {} bits of grey", sample_bytes * 8);
    Ok(Decoded { grid: Grid::new(width, metres.collect()), format, metres_per_sample: None })
}

/// Memory of the decoder beside the picture, in bytes: rows, palettes, tables.
const DECODER_BYTES: usize = 1 << 20;

/// The big-endian number in the first `length` bytes, 1 or 2.
fn number(bytes: &[u8], length: usize) -> u16 {
    bytes.iter().take(length).fold(0, |number, byte| number << 8 | u16::from(*byte))
}

fn bad(problem: png::DecodingError) -> Fault {
    Fault::new("picture", problem.to_string().replace('\n', " "), GET_AGAIN)
}
