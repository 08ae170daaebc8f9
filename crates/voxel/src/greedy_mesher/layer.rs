use super::row_masks::occupied;
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
pub(super) struct Layer<const ROWS: usize> {
    /// Bit `b` of row `r`: that face is visible and in no quad yet.
    visible: [u64; ROWS],
    /// The face can join the one before in its row.
    joined: [u64; ROWS],
    /// The face can join the one in the row before.
    continued: [u64; ROWS],
    /// The face can join none.
    single: [u64; ROWS],
    /// Bit `r`: row `r` has visible faces that are not single.
    occupied: u64,
}

/// Where a layer's rows of bits lie: row `r` at `r * step` of each slice.
pub(super) struct Lines<'a> {
    /// The face is visible.
    pub visible: &'a [u64],
    /// Same material as the bit before.
    pub along: &'a [u64],
    /// Same material as the same bit of the row before.
    pub across: &'a [u64],
    pub step: usize,
}

/// A rectangle of faces in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub row: u32,
    pub bit: u32,
    pub row_count: u32,
    pub bit_count: u32,
}

impl<const ROWS: usize> Layer<ROWS> {
    /// The layer of these rows, of which there are `ROWS`; where it looks at is asked where
    /// shades matter.
    #[inline(always)]
    pub(super) fn new(lines: &Lines<'_>, outside: Option<&Outside<'_>>) -> Self {
        let step = lines.step;
        // One check for all rows.
        let [visible, along, across] =
            [lines.visible, lines.along, lines.across].map(|rows| &rows[..(ROWS - 1) * step + 1]);
        let mut layer = Self {
            visible: [0; ROWS],
            joined: [0; ROWS],
            continued: [0; ROWS],
            single: [0; ROWS],
            occupied: 0,
        };
        for row in 0..ROWS {
            layer.visible[row] = visible[row * step];
        }
        for row in 0..ROWS {
            let visible = layer.visible[row];
            layer.joined[row] = visible & visible << 1 & along[row * step];
        }
        for row in 1..ROWS {
            let both = layer.visible[row - 1] & layer.visible[row];
            layer.continued[row] = both & across[row * step];
        }
        if let Some(outside) = outside {
            layer.keep_shades_apart(outside);
        }
        layer.set_single_apart();
        layer
    }

    /// Lets only faces join that shade alike.
    #[inline(always)]
    fn keep_shades_apart(&mut self, outside: &Outside<'_>) {
        let mut before = 0;
        for row in 0..ROWS {
            let [along, across] = outside.flat(row);
            self.joined[row] &= along & along << 1;
            self.continued[row] &= across & before;
            before = across;
        }
    }

    #[inline(always)]
    fn set_single_apart(&mut self) {
        let mut joins = self.continued;
        for row in 1..ROWS {
            joins[row - 1] |= self.continued[row];
        }
        for (row, &joined) in self.joined.iter().enumerate() {
            let joins = joins[row] | joined | joined >> 1;
            self.single[row] = self.visible[row] & !joins;
            self.visible[row] &= joins;
        }
        self.occupied = occupied(&self.visible);
    }

    /// The faces that can join no other, of `count` rows from `row` on in one word of as
    /// many parts.
    #[inline(always)]
    pub(super) fn single(&self, row: usize, count: usize) -> u64 {
        let rows = self.single[row..][..count].iter().enumerate();
        rows.fold(0, |word, (i, bits)| word | bits << (64 / count * i))
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
            let mut starts = visible & !joined;
            while starts != 0 {
                let bit = starts.trailing_zeros();
                starts &= starts - 1;
                let bit_count = 1 + (joined >> bit >> 1).trailing_ones();
                let run = u64::MAX >> (u64::BITS - bit_count) << bit;
                // Rows below are taken for as long as the run continues there. Nobody else
                // can have taken them: a quad reaches a row only through the one above.
                let mut below = row + 1;
                while below < ROWS && self.continued[below] & run == run {
                    self.visible[below] &= !run;
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
    fn bits(drawing: &str) -> u64 {
        drawing.bytes().rev().fold(0, |bits, mark| bits << 1 | u64::from(mark == b'1'))
    }

    /// The patches of sixteen rows, of which the first are given.
    fn patches(visible: &[u64], along: &[u64], across: &[u64]) -> Vec<[u32; 4]> {
        let [visible, along, across] = [visible, along, across].map(|rows| {
            let mut padded = [0; 16];
            padded[..rows.len()].copy_from_slice(rows);
            padded
        });
        merged(&Lines { visible: &visible, along: &along, across: &across, step: 1 })
    }

    fn merged(lines: &Lines<'_>) -> Vec<[u32; 4]> {
        let mut layer = Layer::<16>::new(lines, None);
        let mut patches = vec![];
        layer.merge(|p| patches.push([p.row, p.bit, p.row_count, p.bit_count]));
        for row in 0..16 {
            let mut single = layer.single(row, 1);
            while single != 0 {
                patches.push([row as u32, single.trailing_zeros(), 1, 1]);
                single &= single - 1;
            }
        }
        patches.sort_unstable();
        patches
    }

    #[test]
    fn the_drawing_comes_out_as_drawn() {
        let visible = [bits("111011"); 2];
        let actual = patches(&visible, &[bits("011000"); 2], &[u64::MAX; 2]);
        assert_eq!(actual, [[0, 0, 2, 3], [0, 4, 2, 1], [0, 5, 2, 1]]);
    }

    #[test]
    fn a_run_goes_down_only_where_all_of_it_continues() {
        let visible = [bits("0110"), bits("1111"), bits("0100")];
        let actual = patches(&visible, &[u64::MAX; 3], &[u64::MAX; 3]);
        assert_eq!(actual, [[0, 1, 2, 2], [1, 0, 1, 1], [1, 3, 1, 1], [2, 1, 1, 1]]);
        let other_material = [0, bits("1011"), u64::MAX];
        let actual = patches(&visible, &[u64::MAX; 3], &other_material);
        assert_eq!(actual, [[0, 1, 1, 2], [1, 0, 1, 4], [2, 1, 1, 1]]);
    }

    #[test]
    fn a_full_layer_is_one_patch() {
        let full = [u64::MAX; 16 * 3];
        let lines = Lines { visible: &full, along: &full, across: &full, step: 3 };
        assert_eq!(merged(&lines), [[0, 0, 16, 64]]);
    }

    #[test]
    fn single_faces_of_four_rows_share_a_word() {
        let mut visible = [0; 16];
        visible.iter_mut().enumerate().for_each(|(row, bits)| *bits = 1 << row);
        let lines = Lines { visible: &visible, along: &[0; 16], across: &[0; 16], step: 1 };
        let layer = Layer::<16>::new(&lines, None);
        assert_eq!(layer.single(4, 4), 1 << 4 | 1 << (16 + 5) | 1 << (32 + 6) | 1 << (48 + 7));
        assert_eq!(layer.single(4, 2), 1 << 4 | 1 << (32 + 5));
    }
}
