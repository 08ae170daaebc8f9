//! TIFF files with one channel, and the tags of GeoTIFF and GDAL.

mod scale;

use std::io::{Cursor, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use tiff::ColorType;
use tiff::decoder::{ChunkType, Decoder, DecodingResult, Limits};
use tiff::tags::Tag;

use super::CONVERT;
use super::grid::{Decoded, Grid};
use super::place::Head;
use super::tags;
use crate::fault::{Fault, GET_AGAIN};
use scale::Scale;

/// Maximum size of a decoded strip or tile, in bytes.
const MAX_PART_BYTES: usize = 64 << 20;

type File<'a> = Decoder<Cursor<&'a [u8]>>;

/// Whether a file has a TIFF signature, of either byte order, with offsets of 4 or 8 bytes.
pub(super) fn is_tiff(start: &[u8]) -> bool {
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|mark| start.starts_with(*mark))
}

/// Decodes the first picture of a file.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, Fault> {
    // The crate promises not to panic. If it panics nevertheless, the file is reported as damaged
    // instead of ending the program.
    tags::check(&mut Cursor::new(bytes), bytes.len() as u64)?;
    catch_unwind(AssertUnwindSafe(|| read(bytes))).unwrap_or_else(|_| Err(panicked()))
}

/// Reads the size and the position of the first picture of a file of `file_bytes` bytes.
pub(super) fn head(mut file: impl Read + Seek, file_bytes: u64) -> Result<Head, Fault> {
    tags::check(&mut file, file_bytes)?;
    let read = || {
        let in_header = |problem| bad("header", &problem);
        file.rewind().map_err(|problem| in_header(problem.into()))?;
        let mut decoder = Decoder::new(file).map_err(in_header)?;
        let [width, height] = size_of_samples(&mut decoder, file_bytes)?;
        let place = Scale::of(&mut decoder).and_then(|scale| scale.place);
        Ok(Head { size: [width, height].map(|side| side as usize), place })
    };
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(panicked()))
}

fn panicked() -> Fault {
    Fault::new("picture", "the decoder panicked", GET_AGAIN)
}

fn read(bytes: &[u8]) -> Result<Decoded, Fault> {
    let limits = || {
        let mut limits = Limits::default();
        limits.decoding_buffer_size = MAX_PART_BYTES;
        limits.intermediate_buffer_size = MAX_PART_BYTES;
        limits
    };
    let at = |location: &'static str| move |problem| bad(location, &problem);
    let decoder = Decoder::new(Cursor::new(bytes)).map_err(at("header"))?;
    let mut decoder = decoder.with_limits(limits());
    let [width, height] = size_of_samples(&mut decoder, bytes.len() as u64)?;
    let nodata = nodata(&mut decoder);
    let scale = Scale::of(&mut decoder);
    let metres_per_sample = scale.and_then(|scale| scale.metres_per_sample(height));
    let (metres, kind) = samples(&mut decoder, [width, height], nodata)?;
    let grid = Grid::new(width as usize, metres);
    Ok(Decoded { grid, format: format!("TIFF, {kind}"), metres_per_sample })
}

/// Returns the number of samples across and down. Checks that a file of this length can have them.
fn size_of_samples<R: Read + Seek>(
    decoder: &mut Decoder<R>,
    file_bytes: u64,
) -> Result<[u32; 2], Fault> {
    let in_header = |problem| bad("header", &problem);
    let (width, height) = decoder.dimensions().map_err(in_header)?;
    let bits = match decoder.colortype().map_err(in_header)? {
        ColorType::Gray(bits @ (8 | 16 | 32 | 64)) => bits,
        ColorType::Gray(bits) => {
            let problem = format!("{bits} bits per sample");
            return Err(Fault::new("header", problem, CONVERT));
        }
        _ => return Err(Fault::new("header", "a colour picture, not a height map", CONVERT)),
    };
    let ratio = ratio(decoder);
    Grid::check_claim([width, height], u64::from(bits / 8), file_bytes as usize, ratio)?;
    Ok([width, height])
}

/// Maximum expansion of the file's compression method: bytes from one byte of the file.
fn ratio<R: Read + Seek>(decoder: &mut Decoder<R>) -> u64 {
    match decoder.find_tag_unsigned::<u16>(Tag::Compression) {
        // Uncompressed.
        Ok(None | Some(1)) => 1,
        // PackBits: runs of bytes.
        Ok(Some(32773)) => 64,
        // LZW: a code of 12 bits for a chain of 4096 bytes. Deflate expands less.
        _ => 2731,
    }
}

/// The void value, which GDAL writes as text.
fn nodata(decoder: &mut File) -> Option<f64> {
    let text = decoder.get_tag_ascii_string(Tag::GdalNodata).ok()?;
    text.trim_matches(|c: char| c == '\0' || c.is_whitespace()).parse().ok()
}

/// Decodes strips or tiles into rows. Memory for rows is allocated as they are decoded.
fn samples(
    decoder: &mut File,
    [width, height]: [u32; 2],
    nodata: Option<f64>,
) -> Result<(Vec<f32>, &'static str), Fault> {
    let in_header = |problem| bad("header", &problem);
    let (part_width, part_height) = decoder.chunk_dimensions();
    if part_width == 0 || part_height == 0 {
        return Err(Fault::new("header", "tiles of size 0", GET_AGAIN));
    }
    let (count, across, name) = match decoder.get_chunk_type() {
        ChunkType::Strip => (decoder.strip_count().map_err(in_header)?, 1, "strip"),
        ChunkType::Tile => {
            (decoder.tile_count().map_err(in_header)?, width.div_ceil(part_width), "tile")
        }
    };
    if u64::from(count) < u64::from(across) * u64::from(height.div_ceil(part_height)) {
        let problem = format!("{count} {name}s are too few for {width} x {height} samples");
        return Err(Fault::new("header", problem, GET_AGAIN));
    }
    let mut metres = Vec::new();
    let mut kind = "";
    for index in 0..across * height.div_ceil(part_height) {
        let location = || format!("{name} {index}");
        let (data_width, data_height) = decoder.chunk_data_dimensions(index);
        let part = decoder.read_chunk(index).map_err(|problem| bad(location(), &problem))?;
        let left = index % across * part_width;
        let top = index / across * part_height;
        if left == 0 {
            metres.resize(width as usize * (top + data_height).min(height) as usize, f32::NAN);
        }
        let (numbers, part_kind) = numbers(part, nodata)
            .ok_or_else(|| Fault::new(location(), "samples of an unsupported type", CONVERT))?;
        kind = part_kind;
        let fits = numbers.len() as u64 == u64::from(data_width) * u64::from(data_height)
            && left + data_width <= width
            && top + data_height <= height;
        if !fits || numbers.is_empty() {
            return Err(Fault::new(location(), "does not fit the picture", GET_AGAIN));
        }
        for (row, samples) in numbers.chunks_exact(data_width as usize).enumerate() {
            let start = (top as usize + row) * width as usize + left as usize;
            metres[start..start + samples.len()].copy_from_slice(samples);
        }
    }
    Ok((metres, kind))
}

/// Converts samples to metres, and describes their type.
fn numbers(part: DecodingResult, nodata: Option<f64>) -> Option<(Vec<f32>, &'static str)> {
    fn each<T: Copy>(samples: &[T], nodata: Option<f64>, number: impl Fn(T) -> f64) -> Vec<f32> {
        let metre = |sample: &T| match number(*sample) {
            number if nodata == Some(number) => f32::NAN,
            number => number as f32,
        };
        samples.iter().map(metre).collect()
    }
    // Files of 32-bit floats may write the void value with the digits of a 64-bit one.
    let short = nodata.map(|number| f64::from(number as f32));
    Some(match part {
        DecodingResult::U8(it) => (each(&it, nodata, f64::from), "8 bits"),
        DecodingResult::I8(it) => (each(&it, nodata, f64::from), "8 bits with sign"),
        DecodingResult::U16(it) => (each(&it, nodata, f64::from), "16 bits"),
        DecodingResult::I16(it) => (each(&it, nodata, f64::from), "16 bits with sign"),
        DecodingResult::U32(it) => (each(&it, nodata, f64::from), "32 bits"),
        DecodingResult::I32(it) => (each(&it, nodata, f64::from), "32 bits with sign"),
        DecodingResult::F32(it) => (each(&it, short, f64::from), "32-bit floats"),
        DecodingResult::F64(it) => (each(&it, nodata, f64::from), "64-bit floats"),
        _ => return None,
    })
}

fn bad(location: impl std::fmt::Display, problem: &tiff::TiffError) -> Fault {
    // The message may quote the file, so it is cut and escaped.
    let text: String = problem.to_string().chars().take(200).collect();
    Fault::new(location, text.escape_debug().to_string(), GET_AGAIN)
}
