/// Turns a square of 16, 32 or 64 bits a side over its diagonal: bit `x` of row `y` goes to
/// bit `y` of row `x`. Up to 32, the low and the high halves of the rows are two squares,
/// turned at once.
///
/// The square is cut into four; the upper right and the lower left quarter change places,
/// then each quarter is turned in the same way, all quarters of one size at once: a 64²
/// square takes six rounds over the rows (Hacker's Delight, 7-3).
///
/// ```text
///  a b     a c      rounds of width 32, 16, 8, 4, 2, 1;
///  c d  ►  b d      a smaller square starts at its own half
/// ```
#[inline(always)]
pub(super) fn transpose<const ROWS: usize>(rows: &mut [u64; ROWS]) {
    if ROWS > 32 {
        exchange::<32>(rows);
    }
    if ROWS > 16 {
        exchange::<16>(rows);
    }
    exchange::<8>(rows);
    exchange::<4>(rows);
    exchange::<2>(rows);
    exchange::<1>(rows);
}

/// One round: squares of twice `WIDTH` exchange two of their quarters.
#[inline(always)]
fn exchange<const WIDTH: usize>(rows: &mut [u64]) {
    // The low `WIDTH` bits of every 2 × `WIDTH`.
    let low = const { u64::MAX / ((1 << WIDTH) + 1) };
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

    fn random<const ROWS: usize>() -> [u64; ROWS] {
        let mut seed = ROWS as u64;
        core::array::from_fn(|_| {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            seed ^ seed >> 29
        })
    }

    fn check<const ROWS: usize>() {
        let before = random::<ROWS>();
        let mut after = before;
        transpose(&mut after);
        // All squares that the words hold side by side.
        for square in (0..64).step_by(ROWS.max(32)) {
            for (y, row) in before.into_iter().enumerate() {
                for (x, turned) in after.into_iter().enumerate() {
                    let bits = [row >> (square + x) & 1, turned >> (square + y) & 1];
                    assert_eq!(bits[0], bits[1], "{ROWS} rows, square {square}, {x} {y}");
                }
            }
        }
    }

    #[test]
    fn every_bit_changes_places() {
        check::<16>();
        check::<32>();
        check::<64>();
    }
}
