use super::super::row::{Row, stride};
use super::{Layers, Masks, word_index};
use crate::simd::{Instructions, Work};

/// Transposes the masks of ±Z, slice by slice, for the face directions along X. In rows along X, a
/// layer of ±X is one bit of each row; after transposing, it consists of whole rows.
pub(super) struct TransposeMasks<'a, 's, W: Row> {
    pub masks: &'a mut Masks<'s, W>,
    /// Whether ambient occlusion is needed, so that the whole halo matters.
    pub shaded: bool,
}

impl<W: Row> Work for TransposeMasks<'_, '_, W> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self) {
        let side = self.masks.side;
        match W::ROWS - side {
            0 => self.run_with_side::<I>(W::ROWS),
            2 => self.run_with_side::<I>(W::ROWS - 2),
            _ => self.run_with_side::<I>(side),
        }
    }
}

impl<W: Row> TransposeMasks<'_, '_, W> {
    /// Transposes the masks for a side that may be a constant.
    #[inline(always)]
    fn run_with_side<I: Instructions>(self, side: usize) {
        let Self { masks, shaded } = self;
        let Masks { has_translucent, exposed, layers: [of_x, of_y, of_z], .. } = masks;
        // One mask at a time keeps the written rows of each layer in the L1 cache.
        transpose_slices::<W, I>(of_z.opaque, of_x.opaque, side, u64::MAX);
        transpose_slices::<W, I>(of_z.across, of_x.along, side, *exposed);
        transpose_slices::<W, I>(of_z.before, of_x.across, side, *exposed);
        for z in 0..side as isize {
            transpose_ends(of_z, of_x, z, side);
        }
        if *has_translucent {
            transpose_slices::<W, I>(of_z.clear, of_x.clear, side, u64::MAX);
            // Equality matters only for translucent voxels.
            for z in (0..side).filter(|&z| any(Layers::rows(of_z.clear, z)) != W::ZERO) {
                let z = z as isize;
                transpose_slice::<W, I>(of_z.along, of_x.before, z, side);
                of_x.before[word_index::<W>(z, side as isize)] = column(of_z.ends, 2, z, side);
            }
        }
        if shaded {
            for z in [-1, side as isize] {
                transpose_slice::<W, I>(of_z.opaque, of_x.opaque, z, side);
                transpose_ends(of_z, of_x, z, side);
            }
            fill_ends(of_z, of_x, of_y, side);
        }
    }
}

/// Transposes the slices of a mask whose bit is set, without the halo.
#[inline(always)]
fn transpose_slices<W: Row, I: Instructions>(from: &[W], to: &mut [W], side: usize, slices: u64) {
    for z in (0..side).filter(|z| slices >> z & 1 != 0) {
        transpose_slice::<W, I>(from, to, z as isize, side);
    }
}

/// Transposes one slice of a mask.
#[inline(always)]
fn transpose_slice<W: Row, I: Instructions>(from: &[W], to: &mut [W], z: isize, side: usize) {
    let mut rows = W::EMPTY;
    rows.as_mut().copy_from_slice(&from[word_index::<W>(0, z)..][..W::ROWS]);
    // The row after the last belongs to the halo.
    if let Some(halo) = rows.as_mut().get_mut(side) {
        *halo = W::ZERO;
    }
    let to = &mut to[word_index::<W>(z, 0)..][..stride::<W>() * (side - 1) + 1];
    if any(rows.as_ref()) == W::ZERO {
        to.iter_mut().step_by(stride::<W>()).for_each(|row| *row = W::ZERO);
    } else {
        W::transpose::<I>(&rows, to, stride::<W>());
    }
}

/// Returns the bits that are set in any of the rows.
#[inline(always)]
fn any<W: Row>(rows: &[W]) -> W {
    rows.iter().fold(W::ZERO, |any, &row| any | row)
}

/// Converts the halo voxels before and after the rows of a slice to rows of two more layers.
#[inline(always)]
fn transpose_ends<W: Row>(from: &Layers<'_, W>, to: &mut Layers<'_, W>, z: isize, side: usize) {
    for (x, bit) in [(-1, 0), (side as isize, 1)] {
        to.opaque[word_index::<W>(z, x)] = column(from.ends, bit, z, side);
    }
}

/// Returns one bit of the ends of each row of a slice.
#[inline(always)]
fn column<W: Row>(ends: &[W], bit: usize, z: isize, side: usize) -> W {
    let ends = ends[word_index::<W>(0, z)..][..side].iter().enumerate();
    ends.fold(W::ZERO, |column, (y, &ends)| column | (ends >> bit & W::from_bits(1)) << y)
}

/// Fills the ends of the rows of ±X and ±Y: from the halo rows of ±Z, and from the ends of ±Z.
#[inline(always)]
fn fill_ends<W: Row>(
    of_z: &Layers<'_, W>,
    of_x: &mut Layers<'_, W>,
    of_y: &mut Layers<'_, W>,
    side: usize,
) {
    let end = side as isize;
    let one = W::from_bits(1);
    for z in -1..=end {
        let [low, high] = [-1, end].map(|y| word_index::<W>(y, z));
        for x in 0..side {
            let [low, high] = [low, high].map(|row| of_z.opaque[row] >> x & one);
            of_x.ends[word_index::<W>(z, x as isize)] = low | high << 1;
        }
        for (x, bit) in [(-1, 0), (end, 1)] {
            let [low, high] = [low, high].map(|row| of_z.ends[row] >> bit & one);
            of_x.ends[word_index::<W>(z, x)] = low | high << 1;
        }
        for y in -1..=end {
            of_y.ends[word_index::<W>(z, y)] = of_z.ends[word_index::<W>(y, z)];
        }
    }
}
