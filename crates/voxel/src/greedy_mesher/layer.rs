use drystone_mesh::Quad;

const MAX_SIDE: usize = Quad::MAX_SIDE as usize;

/// One layer of one facing, as rows of bits: what the merging works on.
///
/// A quad grows first along its row of bits, then row by row. Both are questions to masks
/// only: `along` and `across` say where a voxel is of the same material as the one
/// before, so no material is looked at until a quad is finished.
///
/// ```text
///  visible   1 1 1 0 1 1      starts   1 . . . 1 .     quads   a a a . b c
///            1 1 1 0 1 1               1 . . . 1 1             a a a . b c
///  along     . 1 1 . . 0      (b and c differ in material)
/// ```
pub(super) struct Layer {
    /// Bit `b` of row `r`: that face is visible and in no quad yet.
    pub visible: [u64; MAX_SIDE],
    /// Bit `b` of row `r`: same material as bit `b − 1` of the row.
    pub along: [u64; MAX_SIDE],
    /// Bit `b` of row `r`: same material as bit `b` of row `r − 1`.
    pub across: [u64; MAX_SIDE],
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
        Self { visible: [0; MAX_SIDE], along: [0; MAX_SIDE], across: [0; MAX_SIDE] }
    }

    /// Loads the first `side` rows: the visible faces, and along and across where there
    /// are any. False, and nothing to merge, if there are none.
    #[inline]
    pub(super) fn load(
        &mut self,
        side: usize,
        visible: impl Fn(usize) -> u64,
        same: impl Fn(usize) -> [u64; 2],
    ) -> bool {
        let mut any = 0;
        for (row, bits) in self.visible.iter_mut().enumerate().take(side) {
            *bits = visible(row);
            any |= *bits;
        }
        if any != 0 {
            let masks = self.along.iter_mut().zip(&mut self.across);
            for (row, (along, across)) in masks.enumerate().take(side) {
                [*along, *across] = same(row);
            }
        }
        any != 0
    }

    /// Cuts the visible faces of the first `side` rows into patches of one material and
    /// gives each to `emit`. Leaves the rows as they are not to be used again.
    #[inline]
    pub(super) fn merge(&mut self, side: usize, mut emit: impl FnMut(Patch)) {
        let side = side.min(MAX_SIDE);
        for row in 0..side {
            let visible = self.visible[row];
            let joined = visible & visible << 1 & self.along[row];
            let mut starts = visible & !joined;
            while starts != 0 {
                let bit = starts.trailing_zeros();
                starts &= starts - 1;
                let bit_count = 1 + (joined >> bit >> 1).trailing_ones();
                let run = u64::MAX >> (u64::BITS - bit_count) << bit;
                let row_count = 1 + self.take_rows_below(row, run, side);
                emit(Patch { row: row as u32, bit, row_count, bit_count });
            }
        }
    }

    /// Takes `run` out of the rows below `row` for as long as it continues there, and
    /// returns how many rows that were.
    #[inline]
    fn take_rows_below(&mut self, row: usize, run: u64, side: usize) -> u32 {
        let mut below = row + 1;
        while below < side && self.visible[below] & self.across[below] & run == run {
            self.visible[below] &= !run;
            below += 1;
        }
        (below - row - 1) as u32
    }
}
