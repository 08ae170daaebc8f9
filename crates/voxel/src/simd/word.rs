use core::fmt::Debug;
use core::ops::{BitAnd, BitOr, BitXor, IndexMut, Not, Shl, Shr};

/// Row of voxels as bits: a word of 16, 32 or 64 bits.
///
/// A slice has as many rows as a row has bits, so loops over both have constant length. Narrow
/// words allow more rows per vector instruction.
pub(crate) trait Word:
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

    /// Slice of rows.
    type Slice: Copy + IndexMut<usize, Output = Self> + AsRef<[Self]> + AsMut<[Self]>;

    /// Slice without set bits.
    const EMPTY: Self::Slice;

    /// Creates a row from the lowest bits.
    fn from_bits(bits: u64) -> Self;

    fn bits(self) -> u64;
}

macro_rules! word {
    ($($word:ty),*) => {$(
        impl Word for $word {
            const ROWS: usize = <$word>::BITS as usize;
            const ZERO: Self = 0;

            type Slice = [$word; Self::ROWS];

            const EMPTY: Self::Slice = [0; Self::ROWS];

            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as $word
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                self.into()
            }
        }
    )*};
}

word!(u16, u32, u64);
