use super::super::row::{Row, stride};
use super::super::row_bits::bits_where_all_equal;
use super::{Grid, Masks, word_index};
use crate::Material;
use crate::simd::Instructions;

/// Rows of a slice to compare with the voxels before them.
#[derive(Clone, Copy)]
pub(super) struct Rows<W: Row> {
    /// Not zero in rows to compare.
    rows: W::HaloRows,
    count: usize,
}

impl<W: Row> Masks<'_, W> {
    /// Returns the rows of slice `z` that have exposed voxels. If any voxel is translucent, also the row of
    /// the halo after the last, in which only translucent voxels matter.
    #[inline(always)]
    pub(super) fn rows_to_compare(
        &mut self,
        grid: Grid,
        exposed: &W::Slice,
        has_translucent: bool,
        z: usize,
    ) -> Rows<W> {
        let [_, ny, _] = grid.extents;
        let any = exposed.as_ref()[..ny].iter().fold(W::ZERO, |any, &row| any | row);
        self.exposed |= u64::from(any != W::ZERO) << z;
        let mut rows = W::EMPTY_HALO_ROWS;
        for y in 0..W::ROWS {
            rows[y] = exposed[y];
        }
        rows[ny] = self.layers[2].clear[word_index::<W>(ny as isize, z as isize)];
        Rows { rows, count: ny + usize::from(has_translucent) }
    }

    /// Returns the rows of the slice of the halo after the last that have translucent voxels.
    #[inline(always)]
    pub(super) fn rows_behind(&self, grid: Grid) -> Rows<W> {
        let [_, ny, nz] = grid.extents;
        let clear = &self.layers[2].clear[word_index::<W>(0, nz as isize)..][..ny];
        let mut rows = W::EMPTY_HALO_ROWS;
        for (y, &clear) in clear.iter().enumerate() {
            rows[y] = clear;
        }
        Rows { rows, count: ny }
    }

    /// Compares rows of slice `z` with the voxels, rows and slices before. Keys are given in halves; without
    /// the high ones they have 16 bits. With `BY_CLASS`, keys do not tell whether a voxel is translucent.
    #[inline(always)]
    pub(super) fn compare<const BY_CLASS: bool, I: Instructions>(
        &mut self,
        grid: Grid,
        (low, high): (&[Material], Option<&[Material]>),
        Rows { rows, count }: Rows<W>,
        z: usize,
    ) {
        let [nx, ..] = grid.extents;
        let [row, slice] = [grid.stride(1), grid.stride(2)];
        let [_, of_y, of_z] = &mut self.layers;
        // One bounds check for all rows.
        let at = word_index::<W>(0, z as isize);
        let rows = &rows.as_ref()[..count];
        let (clear, ends) = (&of_z.clear[at - 1..][..count + 1], &of_z.ends[at..][..count]);
        let clear_before = &of_z.clear[at - stride::<W>()..][..count];
        let (along, across) = (&mut of_z.along[at..][..count], &mut of_z.across[at..][..count]);
        let before = &mut of_z.before[at..][..count];
        let at = word_index::<W>(z as isize, 0);
        let [along_y, across_y] = [&mut of_y.along, &mut of_y.across]
            .map(|mask| mask[at..].iter_mut().step_by(stride::<W>()));
        for (y, (along_y, across_y)) in along_y.zip(across_y).enumerate().take(count) {
            if rows[y] == W::ZERO {
                before[y] = W::ZERO;
                continue;
            }
            let first = slice * (z + 1) + row * (y + 1) + 1;
            let others = [first - 1, first - row, first - slice];
            let mut same = bits_where_all_equal::<W, I>(low, first, others, nx);
            if let Some(high) = high {
                let high = bits_where_all_equal::<W, I>(high, first, others, nx);
                same = [same[0] & high[0], same[1] & high[1], same[2] & high[2]];
            }
            if BY_CLASS {
                // Voxels of equal keys are equal only if both are translucent, or neither is.
                let here = clear[y + 1];
                let previous = here << 1 | ends[y] >> 3 & W::from_bits(1);
                let clear = [previous, clear[y], clear_before[y]];
                same = [0, 1, 2].map(|axis| same[axis] & !(here ^ clear[axis]));
            }
            [along[y], across[y], before[y]] = same;
            (*along_y, *across_y) = (same[0], same[2]);
        }
    }
}

#[cfg(test)]
mod tests {
    use drystone_memory::{Linear, Region};

    use super::super::super::row::Memory;
    use super::*;
    use crate::{MaterialTable, PaddedChunk};

    #[test]
    fn a_buried_chunk_has_no_exposed_voxels() {
        let mut table = MaterialTable::new();
        for name in ["a", "b"] {
            table.insert(name, [9, 9, 9, 255]).unwrap();
        }
        let chunk = PaddedChunk::from_fn(30, |[x, ..]| Material(1 + x as u16 % 2));
        let (mut memory, scratch) = (Memory::default(), Linear::new(Region::new(&mut [])));
        let words = u32::words(&mut memory);
        let masks = Masks::<u32>::new(&chunk, &table, false, &scratch, words).unwrap();
        assert_eq!(masks.exposed, 0);
    }
}
