use super::row::Row;
use super::row_bits::{bits_by_run, bits_where};
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

    #[inline(always)]
    fn bits<W: Row, I: Instructions>(self, row: &[Material], side: usize, solid: W) -> W {
        bits_by_run::<W, I>(row, side, solid, |material| self.is_translucent(material))
    }
}
