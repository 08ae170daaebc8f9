use core::ops::{BitAnd, BitXor, BitXorAssign, Shl, Shr};

/// Transposes a square of 16, 32 or 64 bits per side: bit `x` of row `y` goes to bit `y` of row
/// `x`.
///
/// The square is divided into quarters. The upper right and the lower left quarter are exchanged,
/// then each quarter is transposed recursively. All quarters of one size are processed together: a
/// 64² square takes six passes over the rows (Hacker's Delight, 7-3).
///
/// ```text
///  a b     a c      passes of width 32, 16, 8, 4, 2, 1;
///  c d  ►  b d      a smaller square starts at half its size
/// ```
#[inline(always)]
pub(crate) fn transpose<W: Square, const ROWS: usize>(rows: &mut [W; ROWS]) {
    if ROWS > 32 {
        exchange::<W, 32>(rows);
    }
    if ROWS > 16 {
        exchange::<W, 16>(rows);
    }
    exchange::<W, 8>(rows);
    exchange::<W, 4>(rows);
    exchange::<W, 2>(rows);
    exchange::<W, 1>(rows);
}

/// Row of a square of bits.
pub(crate) trait Square:
    Copy
    + BitAnd<Output = Self>
    + BitXor<Output = Self>
    + BitXorAssign
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
{
    /// Returns the lowest bits.
    fn truncated(bits: u64) -> Self;
}

macro_rules! square {
    ($($word:ty)*) => {$(
        impl Square for $word {
            #[inline(always)]
            fn truncated(bits: u64) -> Self {
                bits as $word
            }
        }
    )*};
}

square!(u16 u32 u64);

/// One pass: squares of twice `WIDTH` exchange two of their quarters.
#[inline(always)]
fn exchange<W: Square, const WIDTH: usize>(rows: &mut [W]) {
    // Low `WIDTH` bits of each group of 2 × `WIDTH` bits.
    let low = W::truncated(const { u64::MAX / ((1 << WIDTH) + 1) });
    for block in rows.chunks_exact_mut(2 * WIDTH) {
        let (upper, lower) = block.split_at_mut(WIDTH);
        for (a, c) in upper.iter_mut().zip(lower) {
            let swap = (*a >> WIDTH ^ *c) & low;
            *c ^= swap;
            *a ^= swap << WIDTH;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! every_bit_is_transposed {
        ($name:ident, $word:ty, $rows:expr) => {
            #[test]
            fn $name() {
                let mut seed = $rows as u64;
                let before: [$word; $rows] = core::array::from_fn(|_| {
                    seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    (seed ^ seed >> 29) as $word
                });
                let mut after = before;
                transpose(&mut after);
                for (y, row) in before.into_iter().enumerate() {
                    for (x, transposed) in after.into_iter().enumerate() {
                        assert_eq!(row >> x & 1, transposed >> y & 1, "{x} {y}");
                    }
                }
            }
        };
    }

    every_bit_is_transposed!(all_bits_of_16_rows_are_transposed, u16, 16);
    every_bit_is_transposed!(all_bits_of_32_rows_are_transposed, u32, 32);
    every_bit_is_transposed!(all_bits_of_64_rows_are_transposed, u64, 64);
}
