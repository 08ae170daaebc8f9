use core::fmt::Debug;
use core::ops::{BitAnd, BitOr, BitXor, IndexMut, Not, Shl, Shr};

use super::memory::{Memory, Words};
use crate::Material;
use crate::simd::Instructions;

/// A row of voxels as bits: a word of 16, 32 or 64.
///
/// Slices have as many rows as rows have bits, so that loops over them are of a length that
/// the compiler knows. The narrower the word, the more of them go through one instruction.
pub(super) trait Row:
    Copy
    + Debug
    + PartialEq
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
    + 'static
{
    /// Bits in a row, and rows in a slice.
    const ROWS: usize;
    const ZERO: Self;

    /// Where masks of such rows lie.
    fn words(memory: &mut Memory) -> &mut Words<Self>;

    /// A slice of rows.
    type Slice: Copy + IndexMut<usize, Output = Self> + AsRef<[Self]> + AsMut<[Self]>;

    /// No bit in any row.
    const EMPTY: Self::Slice;

    /// As many voxels as bits.
    type Voxels;

    /// The lowest bits.
    fn from_bits(bits: u64) -> Self;

    fn bits(self) -> u64;

    /// The first voxels, where there are enough.
    fn voxels(voxels: &[Material]) -> Option<&Self::Voxels>;

    /// A row of one material.
    fn all(material: Material) -> Self::Voxels;

    /// Bit `i` is set where voxel `i` of both is the same.
    fn equal<I: Instructions>(a: &Self::Voxels, b: &Self::Voxels) -> Self;

    /// A row with the halo's voxels at its ends: bit 0 is the one before.
    type Padded: Copy;

    const NONE_PADDED: Self::Padded;

    /// From a row and what lies at its [ends](super::masks::Layers::ends).
    fn padded(row: Self, ends: Self, side: usize) -> Self::Padded;

    /// The bit at a column of the middle one of three rows in bit 4, its neighbours around it:
    /// in the row before in bits 0 to 2, in the row behind in 6 to 8.
    fn around(rows: &[Self::Padded], column: u32) -> usize;

    /// Turns a slice over its diagonal: bit `x` of row `y` goes to bit `y` of word `step * x`
    /// of `to`. Rows beyond the end of `to` are left out.
    fn turn<I: Instructions>(rows: &Self::Slice, to: &mut [Self], step: usize);
}

macro_rules! row {
    ($word:ty, $padded:ty, $words:ident, $equal:ident, $turn:ident) => {
        impl Row for $word {
            const ROWS: usize = <$word>::BITS as usize;
            const ZERO: Self = 0;

            #[inline(always)]
            fn words(memory: &mut Memory) -> &mut Words<Self> {
                &mut memory.$words
            }

            type Slice = [$word; Self::ROWS];

            const EMPTY: Self::Slice = [0; Self::ROWS];

            type Voxels = [Material; Self::ROWS];

            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as $word
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                self.into()
            }

            #[inline(always)]
            fn voxels(voxels: &[Material]) -> Option<&Self::Voxels> {
                voxels.first_chunk()
            }

            #[inline(always)]
            fn all(material: Material) -> Self::Voxels {
                [material; Self::ROWS]
            }

            #[inline(always)]
            fn equal<I: Instructions>(a: &Self::Voxels, b: &Self::Voxels) -> Self {
                I::$equal(a, b)
            }

            type Padded = $padded;

            const NONE_PADDED: $padded = 0;

            #[inline(always)]
            fn padded(row: Self, ends: Self, side: usize) -> Self::Padded {
                let [row, ends] = [row, ends].map(<$padded>::from);
                ends & 1 | row << 1 | (ends >> 1 & 1) << (side + 1)
            }

            #[inline(always)]
            fn around(rows: &[Self::Padded], column: u32) -> usize {
                let [before, here, behind, ..] = rows else { return 0 };
                let near = |row: &$padded| (row >> column) as usize & 7;
                near(before) | near(here) << 3 | near(behind) << 6
            }

            #[inline(always)]
            fn turn<I: Instructions>(rows: &Self::Slice, to: &mut [Self], step: usize) {
                I::$turn(rows, to, step);
            }
        }
    };
}

row!(u16, u32, narrow, equal_16, turn_16);
row!(u32, u64, middle, equal_32, turn_32);
row!(u64, u128, wide, equal_64, turn_64);

/// A word with a bit for each row that is not zero.
#[inline(always)]
pub(super) fn occupied<W: Row>(rows: &[W]) -> u64 {
    rows.iter().enumerate().fold(0, |bits, (row, &any)| bits | u64::from(any != W::ZERO) << row)
}
