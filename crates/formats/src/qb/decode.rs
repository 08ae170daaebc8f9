use super::matrix::{Matrix, ZAxis};
use crate::fault::{Fault, GET_AGAIN, SPLIT};

/// Distance from the origin within which voxels must lie: integers up to here are exact in `f32`.
const MAX_COORDINATE: i64 = 1 << 24;
/// Largest number of voxels in all matrices together, air included.
const MAX_VOXELS: u64 = 1 << 30;
/// Largest number of solid voxels.
const MAX_SOLID_VOXELS: u64 = 1 << 27;

/// Largest number of characters of a name in a message.
const MAX_SHOWN_CHARS: usize = 40;

/// Length of the header, in bytes.
const HEADER_BYTES: usize = 24;

/// Marker in compressed data: a count and a colour follow.
const RUN: u32 = 2;
/// In compressed data, ends a slice.
const END_OF_SLICE: u32 = 6;

const EXPORT_AGAIN: &str = "the file is damaged; export it again from the program that made it";

fn fault_at(byte: usize, problem: impl Into<String>, advice: &'static str) -> Fault {
    Fault::new(format_args!("byte {byte}"), problem, advice)
}

pub(super) fn too_much(what: &str, found: u64, limit: u64) -> Fault {
    Fault::new("scene", format!("{found} or more {what}; the limit is {limit}"), SPLIT)
}

/// Encoding of voxels, from the header.
struct Layout {
    is_bgra: bool,
    axis: ZAxis,
    is_compressed: bool,
}

/// Decodes all matrices. Every count is checked against the bytes that remain, or against a
/// limit, before memory is allocated for it.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<Matrix>, Fault> {
    let mut reader = Reader { bytes, at: 0 };
    if bytes.len() < HEADER_BYTES {
        let problem = format!("{} bytes, shorter than the header of {HEADER_BYTES}", bytes.len());
        return Err(fault_at(0, problem, GET_AGAIN));
    }
    // Programs write various versions, all of the same layout.
    let _version = reader.word()?;
    let layout = Layout {
        is_bgra: reader.flag("colour format")?,
        axis: if reader.flag("Z axis")? { ZAxis::RightHanded } else { ZAxis::LeftHanded },
        is_compressed: reader.flag("compression")?,
    };
    reader.flag("visibility mask")?;
    let count = reader.word()?;
    let mut totals = Totals { voxels: 0, solid: 0 };
    let mut matrices = Vec::new();
    for _ in 0..count {
        matrices.push(matrix(&mut reader, &layout, &mut totals)?);
    }
    Ok(matrices)
}

/// Sums over all matrices, to be compared with the limits.
struct Totals {
    voxels: u64,
    solid: u64,
}

fn matrix(reader: &mut Reader<'_>, layout: &Layout, totals: &mut Totals) -> Result<Matrix, Fault> {
    let start = reader.at;
    let name_len = usize::from(reader.array::<1>()?[0]);
    let name = String::from_utf8_lossy(reader.take(name_len)?).into_owned();
    let size = [reader.word()?, reader.word()?, reader.word()?];
    let position = [reader.word()?, reader.word()?, reader.word()?].map(u32::cast_signed);
    let is_empty = size.contains(&0);
    let volume = size.iter().fold(1, |volume: u64, &side| volume.saturating_mul(side.into()));
    totals.voxels = totals.voxels.saturating_add(volume);
    if totals.voxels > MAX_VOXELS {
        return Err(too_much("voxels in all matrices", totals.voxels, MAX_VOXELS));
    }
    let is_far = |(&low, &side): (&i32, &u32)| {
        i64::from(low) < -MAX_COORDINATE || i64::from(low) + i64::from(side) > MAX_COORDINATE
    };
    if !is_empty && position.iter().zip(&size).any(is_far) {
        let name: String = name.escape_debug().take(MAX_SHOWN_CHARS).collect();
        let problem = format!(
            "matrix \"{name}\" of {size:?} voxels at {position:?} lies beyond ±{MAX_COORDINATE}"
        );
        return Err(fault_at(start, problem, EXPORT_AGAIN));
    }
    let [size_x, size_y, slices] = size;
    let mut matrix = Matrix::new(name, [size_x, size_y], position, layout.axis);
    // The volume is within MAX_VOXELS, or 0.
    let slice_len = if is_empty { 0 } else { size_x * size_y };
    if layout.is_compressed {
        for _ in 0..slices {
            compressed_slice(reader, layout, slice_len, &mut matrix, totals)?;
        }
    } else if !is_empty {
        for _ in 0..slices {
            plain_slice(reader, layout, slice_len, &mut matrix, totals)?;
        }
    }
    Ok(matrix)
}

fn plain_slice(
    reader: &mut Reader<'_>,
    layout: &Layout,
    slice_len: u32,
    matrix: &mut Matrix,
    totals: &mut Totals,
) -> Result<(), Fault> {
    let words = reader.take(slice_len as usize * 4)?;
    for (index, word) in (0..slice_len).zip(words.as_chunks::<4>().0) {
        push(layout, u32::from_le_bytes(*word), index, 1, matrix, totals)?;
    }
    matrix.end_slice();
    Ok(())
}

fn compressed_slice(
    reader: &mut Reader<'_>,
    layout: &Layout,
    slice_len: u32,
    matrix: &mut Matrix,
    totals: &mut Totals,
) -> Result<(), Fault> {
    let mut index = 0;
    loop {
        let at = reader.at;
        let (count, color) = match reader.word()? {
            END_OF_SLICE => break,
            RUN => (reader.word()?, reader.word()?),
            color => (1, color),
        };
        if count > slice_len - index {
            let problem = format!(
                "a run of {count} voxels, but {} remain in the slice of {slice_len}",
                slice_len - index
            );
            return Err(fault_at(at, problem, EXPORT_AGAIN));
        }
        push(layout, color, index, count, matrix, totals)?;
        index += count;
    }
    matrix.end_slice();
    Ok(())
}

/// Appends `count` voxels whose word in the file is `word`, unless they are air.
fn push(
    layout: &Layout,
    word: u32,
    index: u32,
    count: u32,
    matrix: &mut Matrix,
    totals: &mut Totals,
) -> Result<(), Fault> {
    let [first, green, third, mask] = word.to_le_bytes();
    if mask == 0 || count == 0 {
        return Ok(());
    }
    totals.solid += u64::from(count);
    if totals.solid > MAX_SOLID_VOXELS {
        return Err(too_much("solid voxels", totals.solid, MAX_SOLID_VOXELS));
    }
    let [red, blue] = if layout.is_bgra { [third, first] } else { [first, third] };
    matrix.push(index, count, u32::from_be_bytes([0, red, green, blue]));
    Ok(())
}

/// The bytes of a file and the offset of the next one.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Fault> {
        let rest = &self.bytes[self.at..];
        let Some(taken) = rest.get(..len) else {
            let problem = format!("{len} bytes expected, but {} remain", rest.len());
            return Err(fault_at(self.at, problem, GET_AGAIN));
        };
        self.at += len;
        Ok(taken)
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN], Fault> {
        // `take` returns as many bytes as requested.
        Ok(self.take(LEN)?.try_into().unwrap_or([0; LEN]))
    }

    fn word(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_le_bytes)
    }

    /// A word of the header that is 0 or 1.
    fn flag(&mut self, what: &str) -> Result<bool, Fault> {
        let at = self.at;
        match self.word()? {
            0 => Ok(false),
            1 => Ok(true),
            other => {
                let problem = format!("{what} {other}, which is neither 0 nor 1");
                Err(fault_at(at, problem, "check that this is a Qubicle Binary file"))
            }
        }
    }
}
