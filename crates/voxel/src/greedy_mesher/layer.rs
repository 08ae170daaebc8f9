use super::ambient_occlusion::Outside;
use super::row::Row;
use crate::simd::{Instructions, Joins, occupied_rows};

/// Layer of one face direction as rows of bits: the input of merging.
///
/// A quad grows first along its row of bits, then row by row. Both steps read only masks, which
/// store where a voxel has the same material as the previous one. Materials are read only for
/// finished quads.
///
/// ```text
///  visible   1 1 1 0 1 1      starts   1 . . . 1 .     quads   a a a . b c
///            1 1 1 0 1 1               1 . . . 1 1             a a a . b c
///  along     . 1 1 . . 0      (b and c differ in material)
/// ```
///
/// Faces that cannot join any of their four neighbours are found for all rows at once and stored
/// separately. Each becomes a quad without a data-dependent branch.
pub(super) struct Layer<W: Row>(Joins<W>);

/// Rectangle of faces in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub row: u32,
    pub bit: u32,
    pub row_count: u32,
    pub bit_count: u32,
}

impl<W: Row> Layer<W> {
    /// Creates a layer from its visible faces. `along` marks faces with the material of the
    /// previous face in their row, `across` those with the material of the face in the previous
    /// row. `outside` is required for ambient occlusion.
    #[inline(always)]
    pub(super) fn new<I: Instructions>(
        visible: &W::Slice,
        along: &[W],
        across: &[W],
        outside: Option<&Outside<'_, W>>,
    ) -> Self {
        // One bounds check for all rows.
        let [along, across] = [along, across].map(|rows| &rows[..W::ROWS]);
        let flat = outside.map(Outside::flat);
        if let Some(joins) = I::join(visible, [along, across], flat.as_ref()) {
            return Self(joins);
        }
        let mut layer = Self(Joins { visible: *visible, ..Joins::EMPTY });
        for row in 0..W::ROWS {
            layer.0.joined[row] = visible[row] & visible[row] << 1 & along[row];
        }
        for row in 1..W::ROWS {
            layer.0.continued[row] = visible[row - 1] & visible[row] & across[row];
        }
        if let Some(flat) = &flat {
            layer.separate_occlusion(flat);
        }
        layer.extract_single();
        layer
    }

    /// Returns the faces that cannot join any other.
    #[inline(always)]
    pub(super) fn single_faces(&self) -> &W::Slice {
        &self.0.single
    }

    /// Restricts joins to faces with equal shading.
    #[inline(always)]
    fn separate_occlusion(&mut self, [along, across]: &[W::Slice; 2]) {
        let Joins { joined, continued, .. } = &mut self.0;
        for row in 0..W::ROWS {
            joined[row] = joined[row] & along[row] & along[row] << 1;
        }
        for row in 1..W::ROWS {
            continued[row] = continued[row] & across[row - 1] & across[row];
        }
    }

    #[inline(always)]
    fn extract_single(&mut self) {
        let Joins { visible, joined, continued, single, occupied } = &mut self.0;
        let mut joins = *continued;
        for row in 1..W::ROWS {
            joins[row - 1] = joins[row - 1] | continued[row];
        }
        for row in 0..W::ROWS {
            let joins = joins[row] | joined[row] | joined[row] >> 1;
            single[row] = visible[row] & !joins;
            visible[row] = visible[row] & joins;
        }
        *occupied = occupied_rows(visible.as_ref());
    }

    /// Returns a mask of the rows with single faces, if these are fewer than half of `side` rows.
    /// Used only for rows of 64 bits, since words of several rows are rarely empty.
    #[inline(always)]
    pub(super) fn few_single_rows(&self, side: usize) -> Option<u64> {
        if W::ROWS < 64 {
            return None;
        }
        let rows = occupied_rows(self.0.single.as_ref());
        (2 * (rows.count_ones() as usize) < side).then_some(rows)
    }

    /// Returns the single faces of the rows that fill one word, starting at `row`.
    #[inline(always)]
    pub(super) fn single(&self, row: usize) -> u64 {
        let rows = self.0.single.as_ref()[row..][..64 / W::ROWS].iter().enumerate();
        rows.fold(0, |word, (i, bits)| word | bits.bits() << (W::ROWS * i))
    }

    /// Divides the faces that can join others into patches of one material, and passes each to
    /// `emit`. Removes these faces from the layer.
    #[inline(always)]
    pub(super) fn merge(&mut self, mut emit: impl FnMut(Patch)) {
        let layer = &mut self.0;
        while layer.occupied != 0 {
            let row = layer.occupied.trailing_zeros() as usize;
            layer.occupied &= layer.occupied - 1;
            let visible = layer.visible[row];
            let joined = visible & visible << 1 & layer.joined[row];
            let mut starts = (visible & !joined).bits();
            let joined = joined.bits();
            while starts != 0 {
                let bit = starts.trailing_zeros();
                starts &= starts - 1;
                let bit_count = 1 + (joined >> bit >> 1).trailing_ones();
                let run = W::from_bits(u64::MAX >> (u64::BITS - bit_count) << bit);
                // Adds following rows while the whole run continues there. They cannot be part of
                // another quad, because a quad reaches a row only through the one above.
                let mut below = row + 1;
                while below < W::ROWS && layer.continued[below] & run == run {
                    layer.visible[below] = layer.visible[below] & !run;
                    below += 1;
                }
                emit(Patch { row: row as u32, bit, row_count: (below - row) as u32, bit_count });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;
    use alloc::{vec, vec::Vec};

    /// Converts a drawing to a row; the leftmost character is the lowest bit.
    fn bits(drawing: &str) -> u16 {
        drawing.bytes().rev().fold(0, |bits, mark| bits << 1 | u16::from(mark == b'1'))
    }

    /// Returns the patches of sixteen rows; missing rows are empty.
    fn patches(visible: &[u16], along: &[u16], across: &[u16]) -> Vec<[u32; 4]> {
        let [visible, along, across] = [visible, along, across].map(|rows| {
            let mut padded = [0; 16];
            padded[..rows.len()].copy_from_slice(rows);
            padded
        });
        merged::<u16>(&visible, &along, &across)
    }

    fn merged<W: Row>(visible: &W::Slice, along: &[W], across: &[W]) -> Vec<[u32; 4]> {
        let mut layer = Layer::<W>::new::<Portable>(visible, along, across, None);
        let mut patches = vec![];
        layer.merge(|p| patches.push([p.row, p.bit, p.row_count, p.bit_count]));
        for row in (0..W::ROWS).step_by(64 / W::ROWS) {
            let mut single = layer.single(row);
            while single != 0 {
                let at = single.trailing_zeros() as usize;
                patches.push([(row + at / W::ROWS) as u32, (at % W::ROWS) as u32, 1, 1]);
                single &= single - 1;
            }
        }
        patches.sort_unstable();
        patches
    }

    #[test]
    fn the_example_drawing_is_merged_as_drawn() {
        let visible = [bits("111011"); 2];
        let actual = patches(&visible, &[bits("011000"); 2], &[u16::MAX; 2]);
        assert_eq!(actual, [[0, 0, 2, 3], [0, 4, 2, 1], [0, 5, 2, 1]]);
    }

    #[test]
    fn a_run_extends_only_to_rows_where_all_of_it_continues() {
        let visible = [bits("0110"), bits("1111"), bits("0100")];
        let actual = patches(&visible, &[u16::MAX; 3], &[u16::MAX; 3]);
        assert_eq!(actual, [[0, 1, 2, 2], [1, 0, 1, 1], [1, 3, 1, 1], [2, 1, 1, 1]]);
        let other_material = [0, bits("1011"), u16::MAX];
        let actual = patches(&visible, &[u16::MAX; 3], &other_material);
        assert_eq!(actual, [[0, 1, 1, 2], [1, 0, 1, 4], [2, 1, 1, 1]]);
    }

    #[test]
    fn a_full_layer_is_one_patch() {
        let full = [u64::MAX; 64];
        assert_eq!(merged::<u64>(&full, &full, &full), [[0, 0, 64, 64]]);
        let full = [u32::MAX; 32];
        assert_eq!(merged::<u32>(&full, &full, &full), [[0, 0, 32, 32]]);
        let full = [u16::MAX; 16];
        assert_eq!(merged::<u16>(&full, &full, &full), [[0, 0, 16, 16]]);
    }

    #[test]
    fn single_faces_of_several_rows_share_a_word() {
        let mut visible = [0; 16];
        visible.iter_mut().enumerate().for_each(|(row, bits)| *bits = 1 << row);
        let layer = Layer::<u16>::new::<Portable>(&visible, &[0; 16], &[0; 16], None);
        assert_eq!(layer.single(4), 1 << 4 | 1 << (16 + 5) | 1 << (32 + 6) | 1 << (48 + 7));
        let mut visible = [0; 32];
        visible.iter_mut().enumerate().for_each(|(row, bits)| *bits = 1 << row);
        let layer = Layer::<u32>::new::<Portable>(&visible, &[0; 32], &[0; 32], None);
        assert_eq!(layer.single(4), 1 << 4 | 1 << (32 + 5));
    }
}
