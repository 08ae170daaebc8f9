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
        let extents = self.masks.grid.extents;
        let is_cube = |side: usize| extents == [side; 3];
        if is_cube(W::ROWS) {
            self.run_with_extents::<I>([W::ROWS; 3]);
        } else if is_cube(W::ROWS - 2) {
            self.run_with_extents::<I>([W::ROWS - 2; 3]);
        } else {
            self.run_with_extents::<I>(extents);
        }
    }
}

impl<W: Row> TransposeMasks<'_, '_, W> {
    /// Transposes the masks for extents that may be constants.
    #[inline(always)]
    fn run_with_extents<I: Instructions>(self, extents: [usize; 3]) {
        let Self { masks, shaded } = self;
        let [nx, ny, nz] = extents;
        let Masks { has_translucent, exposed, layers: [of_x, of_y, of_z], .. } = masks;
        // One mask at a time keeps the written rows of each layer in the L1 cache.
        transpose_slices::<W, I>(of_z.opaque, of_x.opaque, extents, u64::MAX);
        transpose_slices::<W, I>(of_z.across, of_x.along, extents, *exposed);
        transpose_slices::<W, I>(of_z.before, of_x.across, extents, *exposed);
        if !of_z.cut_out.is_empty() {
            transpose_slices::<W, I>(of_z.cut_out, of_x.cut_out, extents, u64::MAX);
        }
        for z in 0..nz as isize {
            transpose_ends(of_z, of_x, z, [nx, ny]);
        }
        if *has_translucent {
            transpose_slices::<W, I>(of_z.clear, of_x.clear, extents, u64::MAX);
            // Equality matters only for translucent voxels.
            for z in (0..nz).filter(|&z| any(Layers::rows(of_z.clear, z)) != W::ZERO) {
                let z = z as isize;
                transpose_slice::<W, I>(of_z.along, of_x.before, z, [nx, ny]);
                of_x.before[word_index::<W>(z, nx as isize)] = column(of_z.ends, 2, z, ny);
            }
        }
        if shaded {
            for z in [-1, nz as isize] {
                transpose_slice::<W, I>(of_z.opaque, of_x.opaque, z, [nx, ny]);
                transpose_ends(of_z, of_x, z, [nx, ny]);
            }
            fill_ends(of_z, of_x, of_y, extents);
        }
    }
}

/// Transposes the slices of a mask whose bit is set, without the halo.
#[inline(always)]
fn transpose_slices<W: Row, I: Instructions>(
    from: &[W],
    to: &mut [W],
    [nx, ny, nz]: [usize; 3],
    slices: u64,
) {
    for z in (0..nz).filter(|z| slices >> z & 1 != 0) {
        transpose_slice::<W, I>(from, to, z as isize, [nx, ny]);
    }
}

/// Transposes one slice of a mask.
#[inline(always)]
fn transpose_slice<W: Row, I: Instructions>(
    from: &[W],
    to: &mut [W],
    z: isize,
    [nx, ny]: [usize; 2],
) {
    let mut rows = W::EMPTY;
    rows.as_mut().copy_from_slice(&from[word_index::<W>(0, z)..][..W::ROWS]);
    // The row after the last belongs to the halo.
    if let Some(halo) = rows.as_mut().get_mut(ny) {
        *halo = W::ZERO;
    }
    let to = &mut to[word_index::<W>(z, 0)..][..stride::<W>() * (nx - 1) + 1];
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
fn transpose_ends<W: Row>(
    from: &Layers<'_, W>,
    to: &mut Layers<'_, W>,
    z: isize,
    [nx, ny]: [usize; 2],
) {
    for (x, bit) in [(-1, 0), (nx as isize, 1)] {
        to.opaque[word_index::<W>(z, x)] = column(from.ends, bit, z, ny);
    }
}

/// Returns one bit of the ends of each row of a slice.
#[inline(always)]
fn column<W: Row>(ends: &[W], bit: usize, z: isize, row_count: usize) -> W {
    let ends = ends[word_index::<W>(0, z)..][..row_count].iter().enumerate();
    ends.fold(W::ZERO, |column, (y, &ends)| column | (ends >> bit & W::from_bits(1)) << y)
}

/// Fills the ends of the rows of ±X and ±Y: from the halo rows of ±Z, and from the ends of ±Z.
#[inline(always)]
fn fill_ends<W: Row>(
    of_z: &Layers<'_, W>,
    of_x: &mut Layers<'_, W>,
    of_y: &mut Layers<'_, W>,
    [nx, ny, nz]: [usize; 3],
) {
    let one = W::from_bits(1);
    for z in -1..=nz as isize {
        let [low, high] = [-1, ny as isize].map(|y| word_index::<W>(y, z));
        for x in 0..nx {
            let [low, high] = [low, high].map(|row| of_z.opaque[row] >> x & one);
            of_x.ends[word_index::<W>(z, x as isize)] = low | high << 1;
        }
        for (x, bit) in [(-1, 0), (nx as isize, 1)] {
            let [low, high] = [low, high].map(|row| of_z.ends[row] >> bit & one);
            of_x.ends[word_index::<W>(z, x)] = low | high << 1;
        }
        for y in -1..=ny as isize {
            of_y.ends[word_index::<W>(z, y)] = of_z.ends[word_index::<W>(y, z)];
        }
    }
}
