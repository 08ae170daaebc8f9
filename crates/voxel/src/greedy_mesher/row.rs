use core::fmt::Debug;
use core::ops::{BitAnd, BitOr, BitXor, IndexMut, Not, Shl, Shr};

use super::memory::{Memory, Words};
use crate::Material;
use crate::simd::Instructions;

/// Row of voxels as bits: a word of 16, 32 or 64 bits.
///
/// A slice has as many rows as a row has bits, so loops over both have constant length. Narrow
/// words allow more rows per vector instruction.
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
    /// Number of bits per row, and of rows per slice.
    const ROWS: usize;
    const ZERO: Self;

    /// Returns the memory for masks of this row length.
    fn words(memory: &mut Memory) -> &mut Words<Self>;

    /// Slice of rows.
    type Slice: Copy + IndexMut<usize, Output = Self> + AsRef<[Self]> + AsMut<[Self]>;

    /// Slice without set bits.
    const EMPTY: Self::Slice;

    /// Array with one voxel per bit.
    type Voxels;

    /// Creates a row from the lowest bits.
    fn from_bits(bits: u64) -> Self;

    fn bits(self) -> u64;

    /// Returns the first voxels, if there are enough.
    fn voxels(voxels: &[Material]) -> Option<&Self::Voxels>;

    /// Returns voxels of one material.
    fn all(material: Material) -> Self::Voxels;

    /// Compares pairs of voxels. Bit `i` is set if voxels `i` are equal.
    fn equal<I: Instructions>(a: &Self::Voxels, b: &Self::Voxels) -> Self;

    /// Row with the halo voxels at its ends; bit 0 is the first halo voxel.
    type Padded: Copy;

    const NONE_PADDED: Self::Padded;

    /// Combines a row with its [ends](super::masks::Layers::ends).
    fn padded(row: Self, ends: Self, side: usize) -> Self::Padded;

    /// Returns the 3 × 3 bits around a column of the middle one of three rows. Bits 0 to 2 are from
    /// the previous row, bits 3 to 5 from the middle row, bits 6 to 8 from the next row.
    fn around(rows: &[Self::Padded], column: u32) -> usize;

    /// Transposes a slice: bit `x` of row `y` goes to bit `y` of word `step * x` of `to`. Rows past
    /// the end of `to` are omitted.
    fn transpose<I: Instructions>(rows: &Self::Slice, to: &mut [Self], step: usize);
}

macro_rules! row {
    ($word:ty, $padded:ty, $words:ident, $equal:ident, $transpose:ident) => {
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
            fn transpose<I: Instructions>(rows: &Self::Slice, to: &mut [Self], step: usize) {
                I::$transpose(rows, to, step);
            }
        }
    };
}

row!(u16, u32, narrow, equal_16, transpose_16);
row!(u32, u64, middle, equal_32, transpose_32);
row!(u64, u128, wide, equal_64, transpose_64);

/// Returns a word with one bit for each row that is not zero.
#[inline(always)]
pub(super) fn occupied<W: Row>(rows: &[W]) -> u64 {
    rows.iter().enumerate().fold(0, |bits, (row, &any)| bits | u64::from(any != W::ZERO) << row)
}
