use core::marker::PhantomData;

use drystone_mesh::{Face, Quad};

use super::row::Row;

/// The axes along which bits and rows of a facing's layers run: Y and Z for ±X, X and Z for
/// ±Y, X and Y for ±Z.
#[inline(always)]
pub(super) const fn axes(face: Face) -> [usize; 2] {
    match face.axis() {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

/// What one more of something adds to the bits of a quad of one facing. Constant where the
/// facing is.
#[derive(Clone, Copy)]
pub(super) struct QuadSteps {
    /// A quad of one face at the origin, without a material.
    pub first: u64,
    /// One bit further along the row.
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
    pub(super) const fn of(face: Face) -> Self {
        let [bit_axis, row_axis] = axes(face);
        // Width runs along the first of the axes that span the face.
        let bits_are_wide = face.span_axes()[0] == bit_axis;
        let [wider, higher] = [sized([2, 1]), sized([1, 2])];
        Self {
            first: Quad::new([0; 3], [1, 1], face, 0).to_bits(),
            bit: step(bit_axis),
            row: step(row_axis),
            layer: step(face.axis()),
            bit_count: if bits_are_wide { wider } else { higher },
            row_count: if bits_are_wide { higher } else { wider },
            material: Quad::new([0; 3], [1, 1], Face::NegX, 1).to_bits(),
            occlusion: Quad::from_bits(0).with_ambient_occlusion(1).to_bits(),
        }
    }
}

/// One voxel along an axis. The quad of one face at the origin, of the first facing and
/// without a material, is all zeros.
const fn step(axis: usize) -> u64 {
    let mut position = [0; 3];
    position[axis] = 1;
    Quad::new(position, [1, 1], Face::NegX, 0).to_bits()
}

const fn sized(size: [u32; 2]) -> u64 {
    Quad::new([0; 3], size, Face::NegX, 0).to_bits()
}

/// Where the bits of a word lie that holds one or more rows of a layer:
/// what a bit adds to the place of a quad and of a voxel.
pub(super) struct Places<W> {
    places: [Place; 65],
    row: PhantomData<W>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// To the bits of a quad.
    pub quad: u32,
    /// To the index of a voxel in the padded chunk.
    pub voxel: u32,
}

impl<W: Row> Places<W> {
    #[inline(always)]
    pub(super) fn new(face: Face, side: usize) -> Self {
        let mut places = [Place::default(); 65];
        for (at, place) in places.iter_mut().enumerate().take(64) {
            *place = Self::place(face, side, at);
        }
        Self { places, row: PhantomData }
    }

    /// What bit `at` of a word adds, 0 to 64; at 64 it is any bit's.
    #[inline(always)]
    pub(super) fn at(&self, face: Face, side: usize, at: u32) -> Place {
        if W::ROWS == 64 {
            // One row is sooner reckoned than looked up.
            Self::place(face, side, at as usize % 64)
        } else {
            self.places[at as usize]
        }
    }

    #[inline(always)]
    fn place(face: Face, side: usize, at: usize) -> Place {
        let steps = QuadSteps::of(face);
        let [bit_stride, row_stride] = axes(face).map(|axis| stride(axis, side));
        let [bit, row] = [at % W::ROWS, at / W::ROWS];
        Place {
            quad: (bit as u64 * steps.bit + row as u64 * steps.row) as u32,
            voxel: (bit * bit_stride + row * row_stride) as u32,
        }
    }
}

/// From one voxel to the next along an axis of a padded chunk.
#[inline(always)]
pub(super) const fn stride(axis: usize, side: usize) -> usize {
    let p = side + 2;
    match axis {
        0 => 1,
        1 => p,
        _ => p * p,
    }
}
