use core::marker::PhantomData;

use drystone_mesh::{Face, Quad};

use super::grid::{Grid, axes};
use super::row::Row;

/// Increments of a quad's bits, for both face directions along one axis. Constant if the axis is
/// constant.
#[derive(Clone, Copy)]
pub(super) struct QuadSteps {
    /// One bit further in the row.
    pub bit: u64,
    pub row: u64,
    pub layer: u64,
    /// One bit longer.
    pub bit_count: u64,
    /// One row more.
    pub row_count: u64,
    pub material: u64,
    pub occlusion: u64,
}

impl QuadSteps {
    /// Increments of all axes.
    pub(super) const ALL: [Self; 3] = [Self::of(0), Self::of(1), Self::of(2)];

    const fn of(axis: usize) -> Self {
        let [bit_axis, row_axis] = axes(axis);
        // The width is along the first axis that spans the face.
        let bits_are_wide = Face::ALL[axis].span_axes()[0] == bit_axis;
        let [wider, higher] = [sized([2, 1]), sized([1, 2])];
        Self {
            bit: step(bit_axis),
            row: step(row_axis),
            layer: step(axis),
            bit_count: if bits_are_wide { wider } else { higher },
            row_count: if bits_are_wide { higher } else { wider },
            material: Quad::new([0; 3], [1, 1], Face::NegX, 1).to_bits(),
            occlusion: Quad::from_bits(0).with_ambient_occlusion(1).to_bits(),
        }
    }
}

/// Returns the increment for one voxel along an axis. The quad of one face at the origin, with the
/// first face direction and without a material, is all zeros.
const fn step(axis: usize) -> u64 {
    let mut position = [0; 3];
    position[axis] = 1;
    Quad::new(position, [1, 1], Face::NegX, 0).to_bits()
}

const fn sized(size: [u32; 2]) -> u64 {
    Quad::new([0; 3], size, Face::NegX, 0).to_bits()
}

/// Offsets of the bits of a word that holds one or more rows of a layer: what each bit adds to a
/// quad and to a voxel index.
pub(super) struct BitOffsets<W> {
    offsets: [BitOffset; 65],
    row: PhantomData<W>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct BitOffset {
    /// Offset for the bits of a quad.
    pub quad: u32,
    /// Offset for the index of a voxel in the voxels with their halo.
    pub voxel: u32,
}

impl<W: Row> BitOffsets<W> {
    #[inline(always)]
    pub(super) fn new(axis: usize, grid: &Grid) -> Self {
        let strides = axes(axis).map(|axis| grid.stride(axis));
        let mut offsets = [BitOffset::default(); 65];
        for (at, offset) in offsets.iter_mut().enumerate().take(64) {
            *offset = Self::offset(&QuadSteps::ALL[axis], strides, at);
        }
        Self { offsets, row: PhantomData }
    }

    /// Returns the offsets of bit `at` of a word, 0 to 63. For 64 the result is arbitrary but
    /// valid. `strides` are the distances of voxels that are adjacent along the bits and along the rows.
    #[inline(always)]
    pub(super) fn at(&self, steps: &QuadSteps, strides: [usize; 2], at: u32) -> BitOffset {
        if W::ROWS == 64 {
            // For a single row, computing is faster than a lookup.
            Self::offset(steps, strides, at as usize % 64)
        } else {
            self.offsets[at as usize]
        }
    }

    #[inline(always)]
    fn offset(steps: &QuadSteps, [bit_stride, row_stride]: [usize; 2], at: usize) -> BitOffset {
        let [bit, row] = [at % W::ROWS, at / W::ROWS];
        BitOffset {
            quad: (bit as u64 * steps.bit + row as u64 * steps.row) as u32,
            voxel: (bit * bit_stride + row * row_stride) as u32,
        }
    }
}

/// Returns the distance between adjacent voxels along an axis of a padded chunk.
#[inline(always)]
pub(super) const fn stride(axis: usize, side: usize) -> usize {
    let p = side + 2;
    match axis {
        0 => 1,
        1 => p,
        _ => p * p,
    }
}
