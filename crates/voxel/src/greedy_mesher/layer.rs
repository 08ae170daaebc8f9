use super::row::{Row, occupied};
use super::shade::Outside;

/// One layer of one facing, as rows of bits: what the merging works on.
///
/// A quad grows first along its row of bits, then row by row. Both are questions to masks
/// only, for these say where a voxel is of the same material as the one before: no
/// material is looked at until a quad is finished.
///
/// ```text
///  visible   1 1 1 0 1 1      starts   1 . . . 1 .     quads   a a a . b c
///            1 1 1 0 1 1               1 . . . 1 1             a a a . b c
///  along     . 1 1 . . 0      (b and c differ in material)
/// ```
///
/// Faces that can join none of their four neighbours are found for all rows at once and
/// set apart: each is a quad by itself, without a branch that depends on it.
pub(super) struct Layer<W: Row> {
    /// Bit `b` of row `r`: that face is visible and in no quad yet.
    visible: W::Slice,
    /// The face can join the one before in its row.
    joined: W::Slice,
    /// The face can join the one in the row before.
    continued: W::Slice,
    /// The face can join none.
    single: W::Slice,
    /// Bit `r`: row `r` has visible faces that are not single.
    occupied: u64,
}

/// A rectangle of faces in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub row: u32,
    pub bit: u32,
    pub row_count: u32,
    pub bit_count: u32,
}

impl<W: Row> Layer<W> {
    /// The layer of these visible faces; `along` says which are of the same material as the
    /// one before in their row, `across` which as the one in the row before. Where it looks at is
    /// asked where shades matter.
    #[inline(always)]
    pub(super) fn new(
        visible: &W::Slice,
        along: &[W],
        across: &[W],
        outside: Option<&Outside<'_, W>>,
    ) -> Self {
        // One check for all rows.
        let [along, across] = [along, across].map(|rows| &rows[..W::ROWS]);
        let mut layer = Self {
            visible: *visible,
            joined: W::EMPTY,
            continued: W::EMPTY,
            single: W::EMPTY,
            occupied: 0,
        };
        for row in 0..W::ROWS {
            layer.joined[row] = visible[row] & visible[row] << 1 & along[row];
        }
        for row in 1..W::ROWS {
            layer.continued[row] = visible[row - 1] & visible[row] & across[row];
        }
        if let Some(outside) = outside {
            layer.keep_shades_apart(outside);
        }
        layer.set_single_apart();
        layer
    }

    /// Lets only faces join that shade alike.
    #[inline(always)]
    fn keep_shades_apart(&mut self, outside: &Outside<'_, W>) {
        let [along, across] = outside.flat();
        for row in 0..W::ROWS {
            self.joined[row] = self.joined[row] & along[row] & along[row] << 1;
        }
        for row in 1..W::ROWS {
            self.continued[row] = self.continued[row] & across[row - 1] & across[row];
        }
    }

    #[inline(always)]
    fn set_single_apart(&mut self) {
        let mut joins = self.continued;
        for row in 1..W::ROWS {
            joins[row - 1] = joins[row - 1] | self.continued[row];
        }
        for row in 0..W::ROWS {
            let joined = self.joined[row];
            let joins = joins[row] | joined | joined >> 1;
            self.single[row] = self.visible[row] & !joins;
            self.visible[row] = self.visible[row] & joins;
        }
        self.occupied = occupied(self.visible.as_ref());
    }

    /// Which rows have faces that can join no other, bit `r` for row `r`, if less than half of
    /// `side` rows have. Asked of rows of 64 bits only: words of several rows are seldom empty.
    #[inline(always)]
    pub(super) fn few_single_rows(&self, side: usize) -> Option<u64> {
        if W::ROWS < 64 {
            return None;
        }
        let rows = occupied(self.single.as_ref());
        (2 * (rows.count_ones() as usize) < side).then_some(rows)
    }

    /// The faces that can join no other, of the rows from `row` on that fill one word.
    #[inline(always)]
    pub(super) fn single(&self, row: usize) -> u64 {
        let rows = self.single.as_ref()[row..][..64 / W::ROWS].iter().enumerate();
        rows.fold(0, |word, (i, bits)| word | bits.bits() << (W::ROWS * i))
    }

    /// Cuts the faces that can join others into patches of one
    /// material and gives each to `emit`. None of them is left.
    #[inline(always)]
    pub(super) fn merge(&mut self, mut emit: impl FnMut(Patch)) {
        while self.occupied != 0 {
            let row = self.occupied.trailing_zeros() as usize;
            self.occupied &= self.occupied - 1;
            let visible = self.visible[row];
            let joined = visible & visible << 1 & self.joined[row];
            let mut starts = (visible & !joined).bits();
            let joined = joined.bits();
            while starts != 0 {
                let bit = starts.trailing_zeros();
                starts &= starts - 1;
                let bit_count = 1 + (joined >> bit >> 1).trailing_ones();
                let run = W::from_bits(u64::MAX >> (u64::BITS - bit_count) << bit);
                // Rows below are taken for as long as the run continues there. Nobody else
                // can have taken them: a quad reaches a row only through the one above.
                let mut below = row + 1;
                while below < W::ROWS && self.continued[below] & run == run {
                    self.visible[below] = self.visible[below] & !run;
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
    use alloc::{vec, vec::Vec};

    /// Rows as drawn, the lowest bit on the left.
    fn bits(drawing: &str) -> u16 {
        drawing.bytes().rev().fold(0, |bits, mark| bits << 1 | u16::from(mark == b'1'))
    }

    /// The patches of sixteen rows, of which the first are given.
    fn patches(visible: &[u16], along: &[u16], across: &[u16]) -> Vec<[u32; 4]> {
        let [visible, along, across] = [visible, along, across].map(|rows| {
            let mut padded = [0; 16];
            padded[..rows.len()].copy_from_slice(rows);
            padded
        });
        merged::<u16>(&visible, &along, &across)
    }

    fn merged<W: Row>(visible: &W::Slice, along: &[W], across: &[W]) -> Vec<[u32; 4]> {
        let mut layer = Layer::<W>::new(visible, along, across, None);
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
    fn the_drawing_comes_out_as_drawn() {
        let visible = [bits("111011"); 2];
        let actual = patches(&visible, &[bits("011000"); 2], &[u16::MAX; 2]);
        assert_eq!(actual, [[0, 0, 2, 3], [0, 4, 2, 1], [0, 5, 2, 1]]);
    }

    #[test]
    fn a_run_goes_down_only_where_all_of_it_continues() {
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
        let layer = Layer::<u16>::new(&visible, &[0; 16], &[0; 16], None);
        assert_eq!(layer.single(4), 1 << 4 | 1 << (16 + 5) | 1 << (32 + 6) | 1 << (48 + 7));
        let mut visible = [0; 32];
        visible.iter_mut().enumerate().for_each(|(row, bits)| *bits = 1 << row);
        let layer = Layer::<u32>::new(&visible, &[0; 32], &[0; 32], None);
        assert_eq!(layer.single(4), 1 << 4 | 1 << (32 + 5));
    }
}
