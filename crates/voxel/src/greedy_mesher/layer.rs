use drystone_mesh::Quad;

const MAX_SIDE: usize = Quad::MAX_SIDE as usize;

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
pub(super) struct Layer {
    /// Bit `b` of row `r`: that face is visible and in no quad yet.
    visible: [u64; MAX_SIDE],
    /// Bit `r`: row `r` has visible faces.
    occupied: u64,
}

/// Where a layer's rows of bits lie: row `r` at `first + r * step` of each slice.
pub(super) struct Lines<'a> {
    /// The face is visible.
    pub visible: &'a [u64],
    /// Same material as the bit before.
    pub along: &'a [u64],
    /// Same material as the same bit of the row before.
    pub across: &'a [u64],
    pub first: usize,
    pub step: usize,
}

impl Lines<'_> {
    #[inline]
    fn index(&self, row: usize) -> usize {
        self.first + row * self.step
    }
}

/// A rectangle of faces in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub row: u32,
    pub bit: u32,
    pub row_count: u32,
    pub bit_count: u32,
}

impl Layer {
    pub(super) const fn new() -> Self {
        Self { visible: [0; MAX_SIDE], occupied: 0 }
    }

    /// Loads the visible faces of the first `side` rows.
    #[inline]
    pub(super) fn load(&mut self, side: usize, lines: &Lines<'_>) {
        self.occupied = 0;
        for (row, bits) in self.visible.iter_mut().enumerate().take(side) {
            *bits = lines.visible[lines.index(row)];
            self.occupied |= u64::from(*bits != 0) << row;
        }
    }

    /// Cuts the visible faces of the first `side` rows into patches of one material and
    /// gives each to `emit`. No face is left.
    #[inline]
    pub(super) fn merge(&mut self, side: usize, lines: &Lines<'_>, mut emit: impl FnMut(Patch)) {
        let side = side.min(MAX_SIDE);
        while self.occupied != 0 {
            let row = self.occupied.trailing_zeros() as usize;
            self.occupied &= self.occupied - 1;
            let visible = self.visible[row];
            let joined = visible & visible << 1 & lines.along[lines.index(row)];
            let mut starts = visible & !joined;
            while starts != 0 {
                let bit = starts.trailing_zeros();
                starts &= starts - 1;
                let bit_count = 1 + (joined >> bit >> 1).trailing_ones();
                let run = u64::MAX >> (u64::BITS - bit_count) << bit;
                // Rows below are taken for as long as the run continues there.
                let mut below = row + 1;
                while below < side
                    && self.visible[below] & lines.across[lines.index(below)] & run == run
                {
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

    fn patches(side: usize, visible: &[u64], along: &[u64], across: &[u64]) -> Vec<[u32; 4]> {
        let lines = Lines { visible, along, across, first: 0, step: 1 };
        let mut layer = Layer::new();
        // What an earlier layer left must not show.
        layer.visible = [u64::MAX; MAX_SIDE];
        layer.load(side, &lines);
        let mut patches = vec![];
        layer.merge(side, &lines, |p| patches.push([p.row, p.bit, p.row_count, p.bit_count]));
        patches
    }

    #[test]
    fn the_drawing_comes_out_as_drawn() {
        let visible = [bits("111011"); 2];
        let actual = patches(2, &visible, &[bits("011000"); 2], &[u64::MAX; 2]);
        assert_eq!(actual, [[0, 0, 2, 3], [0, 4, 2, 1], [0, 5, 2, 1]]);
    }

    #[test]
    fn a_run_goes_down_only_where_all_of_it_continues() {
        let visible = [bits("0110"), bits("1111"), bits("0100")];
        let actual = patches(3, &visible, &[u64::MAX; 3], &[u64::MAX; 3]);
        assert_eq!(actual, [[0, 1, 2, 2], [1, 0, 1, 1], [1, 3, 1, 1], [2, 1, 1, 1]]);
        let other_material = [0, bits("1011"), u64::MAX];
        let actual = patches(3, &visible, &[u64::MAX; 3], &other_material);
        assert_eq!(actual, [[0, 1, 1, 2], [1, 0, 1, 4], [2, 1, 1, 1]]);
    }

    #[test]
    fn a_full_word_is_one_patch() {
        let full = [u64::MAX; MAX_SIDE];
        assert_eq!(patches(MAX_SIDE, &full, &full, &full), [[0, 0, 64, 64]]);
    }
}
