//! Packed models of the game Teardown and its tools, in chunks named TDCZ.
//!
//! ```text
//!  size x, y, z │ zlib of one byte per voxel: its colour number, 0 for empty voxels;
//!  4 bytes each │ x fastest, then y, then z
//! ```
//! The tools flush the zlib stream without ending it, so its end and checksum can be missing.

use std::ops::Range;

use dot_vox::{Model, Size, Voxel};
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

use crate::fault::{Fault, GET_AGAIN, SPLIT};

/// Maximum total size of all packed models of a file, in voxels including empty ones. Unpacking
/// that many takes seconds.
pub(super) const MAX_PACKED_VOLUME: u64 = 1 << 30;
/// Maximum number of voxels in all packed models of a file: 256 MiB of memory.
const MAX_VOXELS: u64 = 1 << 26;

/// A packed model and its location in the file.
#[derive(Debug)]
pub(super) struct Packed {
    /// Index among all models of the file.
    pub(super) model: usize,
    pub(super) size: [u32; 3],
    /// The chunk, as text for messages.
    pub(super) location: String,
    /// Range of the compressed bytes in the file.
    pub(super) range: Range<usize>,
}

/// Decompresses the models of one file.
pub(super) struct Unpacker<'a> {
    bytes: &'a [u8],
    left_voxels: u64,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, left_voxels: MAX_VOXELS }
    }

    /// Decompresses a model. Memory grows with the voxels that are read, not with the claimed size.
    ///
    /// # Errors
    /// Compressed bytes that are damaged or too few, or too many voxels.
    pub(super) fn unpack(&mut self, packed: &Packed) -> Result<Model, Fault> {
        let [x, y, z] = packed.size;
        let mut left = packed.size.map(u64::from).iter().product::<u64>();
        let mut input = &self.bytes[packed.range.clone()];
        let mut decoder = InflateState::new_boxed(DataFormat::Zlib);
        let (mut voxels, mut index) = (Vec::new(), 0_u32);
        let mut buffer = [0; 1 << 13];
        while left > 0 {
            let max_len = left.min(buffer.len() as u64) as usize;
            let problem = match inflate_next(&mut decoder, &mut input, &mut buffer[..max_len]) {
                Ok(count) => {
                    for &number in &buffer[..count] {
                        // dot_vox colour index: the number in the file minus one.
                        if let Some(i) = number.checked_sub(1) {
                            let [x, y, z] =
                                [index % x, index / x % y, index / x / y].map(|c| c as u8);
                            voxels.push(Voxel { x, y, z, i });
                        }
                        index += 1;
                    }
                    left -= count as u64;
                    self.check_voxel_count(packed, voxels.len())?;
                    continue;
                }
                Err(problem) => problem,
            };
            let problem =
                format!("its compressed voxels are damaged, {left} voxels are missing: {problem}");
            return Err(Fault::new(packed.location.clone(), problem, GET_AGAIN));
        }
        self.left_voxels -= voxels.len() as u64;
        Ok(Model { size: Size { x, y, z }, voxels })
    }

    fn check_voxel_count(&self, packed: &Packed, count: usize) -> Result<(), Fault> {
        if count as u64 <= self.left_voxels {
            return Ok(());
        }
        let problem = format!("more than {MAX_VOXELS} voxels in packed models up to here");
        Err(Fault::new(packed.location.clone(), problem, SPLIT))
    }
}

/// Decompresses the next bytes of `input` into `buffer`, and returns their number.
///
/// # Errors
/// A description of the problem, also if no bytes are left.
fn inflate_next(
    decoder: &mut InflateState,
    input: &mut &[u8],
    buffer: &mut [u8],
) -> Result<usize, &'static str> {
    loop {
        let step = inflate(decoder, input, buffer, MZFlush::None);
        *input = &input[step.bytes_consumed..];
        // A buffer error is the end of the input.
        if !matches!(step.status, Ok(MZStatus::Ok | MZStatus::StreamEnd) | Err(MZError::Buf)) {
            return Err("they are not a zlib stream");
        }
        match (step.bytes_consumed, step.bytes_written) {
            (0, 0) => return Err("they end too early"),
            (_, 0) => {}
            (_, count) => return Ok(count),
        }
    }
}
