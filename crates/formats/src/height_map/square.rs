use std::collections::BTreeSet;
use std::ops::Range;

use drystone_voxel::Chunk;

use super::axis::Axis;
use super::mosaic::Mosaic;
use crate::cache::SizeBytes;
use crate::fault::Fault;
use crate::source::TILE_CHUNKS;

/// Side of a square of columns whose ground has one base, in chunks: that of a tile.
pub(super) const SQUARE_CHUNKS: u32 = TILE_CHUNKS as u32;
/// Side of a square, in columns of voxels.
pub(super) const SQUARE_VOXELS: u32 = SQUARE_CHUNKS * Chunk::SIDE;
/// Most squares of files.
const MAX_SQUARES: u64 = 1 << 22;
/// Most chunks of a square, and most samples of one that are read at once.
pub(super) const MAX_SQUARE_CHUNKS: usize = 1 << 20;
pub(super) const MAX_SQUARE_SAMPLES: usize = 1 << 22;

/// A square of columns.
pub(super) struct Square {
    /// Lowest solid voxel.
    pub(super) base: i32,
    /// Layers of chunks that can hold a voxel, for each column of chunks, Z fastest. They are empty for those of
    /// voids and outside the map.
    pub(super) layers: Vec<Range<i32>>,
}

impl SizeBytes for Square {
    fn size_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.layers.as_slice())
    }
}

/// Squares that files reach into.
pub(super) fn reached(files: &Mosaic, axes: &[Axis; 2]) -> Result<BTreeSet<[u32; 2]>, Fault> {
    let squares = |[columns, rows]: [Range<usize>; 2]| {
        let of = |axis: &Axis, samples: Range<usize>| {
            let columns = axis.columns_of(samples);
            columns.start / SQUARE_VOXELS..columns.end.div_ceil(SQUARE_VOXELS)
        };
        [of(&axes[0], columns), of(&axes[1], rows)]
    };
    let count = |[x, z]: [Range<u32>; 2]| x.len() as u64 * z.len() as u64;
    let found: u64 = files.ranges().map(|ranges| count(squares(ranges))).sum();
    if found > MAX_SQUARES {
        let problem = format!("{found} squares of 512 columns, at most {MAX_SQUARES} are taken");
        return Err(Fault::new("size", problem, "use more metres per voxel"));
    }
    let all = files.ranges().map(squares);
    Ok(all.flat_map(|[x, z]| x.flat_map(move |x| z.clone().map(move |z| [x, z]))).collect())
}

/// The columns of chunks of a square, Z fastest.
pub(super) fn chunks_of(square: [u32; 2]) -> impl Iterator<Item = [u32; 2]> {
    let [x, z] = square.map(|at| at * SQUARE_CHUNKS..(at + 1) * SQUARE_CHUNKS);
    x.flat_map(move |x| z.clone().map(move |z| [x, z]))
}
