//! Models as the game Teardown and its tools pack them, in chunks named TDCZ.
//!
//! ```text
//!  size x, y, z │ zlib of one byte a voxel: its colour's number, 0 where there is none;
//!  4 bytes each │ x runs first, then y, then z
//! ```
//! The tools flush the stream without ending it, so its end and checksum may be missing.

use std::io::Read;
use std::ops::Range;

use dot_vox::{Model, Size, Voxel};
use flate2::read::ZlibDecoder;

use super::fault::{Fault, GET_AGAIN, SPLIT};

/// The most places for voxels in all packed models of a file: unpacking them takes seconds.
pub(super) const MAX_PLACES: u64 = 1 << 30;
/// The most voxels in all packed models of a file: 256 MiB of memory.
const MAX_VOXELS: u64 = 1 << 26;

/// A packed model, and where it lies in the file.
#[derive(Debug)]
pub(super) struct Packed {
    /// Its number among all models of the file.
    pub(super) model: usize,
    pub(super) size: [u32; 3],
    /// The chunk, for messages.
    pub(super) place: String,
    /// Where its compressed bytes lie in the file.
    pub(super) range: Range<usize>,
}

/// Unpacks the models of one file.
pub(super) struct Unpacker<'a> {
    bytes: &'a [u8],
    left_voxels: u64,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, left_voxels: MAX_VOXELS }
    }

    /// The voxels of a model. Memory is spent on voxels that were read, not on the size.
    ///
    /// # Errors
    /// Compressed bytes that are damaged or too few; more voxels than are taken.
    pub(super) fn unpack(&mut self, packed: &Packed) -> Result<Model, Fault> {
        let [x, y, z] = packed.size;
        let mut left = packed.size.map(u64::from).iter().product::<u64>();
        let mut decoder = ZlibDecoder::new(&self.bytes[packed.range.clone()]);
        let (mut voxels, mut place) = (Vec::new(), 0_u32);
        let mut buffer = [0; 1 << 13];
        while left > 0 {
            let wanted = left.min(buffer.len() as u64) as usize;
            let problem = match decoder.read(&mut buffer[..wanted]) {
                Ok(0) => "they end too early".to_owned(),
                Ok(count) => {
                    for &number in &buffer[..count] {
                        // As dot_vox counts colours: the number in the file less one.
                        if let Some(i) = number.checked_sub(1) {
                            let [x, y, z] =
                                [place % x, place / x % y, place / x / y].map(|c| c as u8);
                            voxels.push(Voxel { x, y, z, i });
                        }
                        place += 1;
                    }
                    left -= count as u64;
                    self.expect_room(packed, voxels.len())?;
                    continue;
                }
                Err(problem) => problem.to_string(),
            };
            let problem =
                format!("its compressed voxels are damaged, {left} are missing: {problem}");
            return Err(Fault::new(packed.place.clone(), problem, GET_AGAIN));
        }
        self.left_voxels -= voxels.len() as u64;
        Ok(Model { size: Size { x, y, z }, voxels })
    }

    fn expect_room(&self, packed: &Packed, count: usize) -> Result<(), Fault> {
        if count as u64 <= self.left_voxels {
            return Ok(());
        }
        let problem = format!("more than {MAX_VOXELS} voxels in packed models up to here");
        Err(Fault::new(packed.place.clone(), problem, SPLIT))
    }
}
