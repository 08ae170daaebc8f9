use super::row::Row;
use super::row_bits::{bits_where, bits_where_equal, low_bits};
use crate::simd::Instructions;
use crate::{Material, MaterialTable};

/// Set of translucent materials.
pub(super) trait Translucent: Copy {
    fn has(self, material: Material) -> bool;

    /// Returns which of the first `side` voxels of a row are translucent. `solid` marks the voxels
    /// that are not air.
    fn bits<W: Row, I: Instructions>(self, row: &[Material], side: usize, solid: W) -> W;
}

/// A few translucent materials, compared one by one.
#[derive(Clone, Copy)]
pub(super) struct Few<const COUNT: usize>(pub [Material; COUNT]);

impl<const COUNT: usize> Translucent for Few<COUNT> {
    #[inline(always)]
    fn has(self, material: Material) -> bool {
        self.0.iter().fold(false, |has, &few| has | (material == few))
    }

    #[inline(always)]
    fn bits<W: Row, I: Instructions>(self, row: &[Material], side: usize, _: W) -> W {
        let mut bits = W::ZERO;
        for few in self.0 {
            bits = bits | bits_where::<W, I>(row, few, side);
        }
        bits
    }
}

impl Translucent for &[Material] {
    #[inline(always)]
    fn has(self, material: Material) -> bool {
        self.contains(&material)
    }

    #[inline(always)]
    fn bits<W: Row, I: Instructions>(self, row: &[Material], side: usize, _: W) -> W {
        let mut bits = W::ZERO;
        for &few in self {
            bits = bits | bits_where::<W, I>(row, few, side);
        }
        bits
    }
}

impl Translucent for &MaterialTable {
    #[inline(always)]
    fn has(self, material: Material) -> bool {
        self.is_translucent(material)
    }

    /// Looks up the first voxel of each run of one material.
    #[inline(always)]
    fn bits<W: Row, I: Instructions>(self, row: &[Material], side: usize, solid: W) -> W {
        // Bit `i`: voxel `i + 1` equals voxel `i`.
        let same = bits_where_equal::<W, I>(row, &row[1..], side - 1).bits();
        let mut starts = solid.bits() & !(same << 1);
        let mut bits = W::ZERO;
        while starts != 0 {
            let start = starts.trailing_zeros();
            starts &= starts - 1;
            if self.is_translucent(row[start as usize]) {
                let length = 1 + (same >> start).trailing_ones() as usize;
                bits = bits | low_bits::<W>(length) << start as usize;
            }
        }
        bits
    }
}
