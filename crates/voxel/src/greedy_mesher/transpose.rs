/// Turns a square of bits over its diagonal: bit `x` of row `y` goes to bit `y` of row
/// `x`. Rows and bits from `side` on must be zero and stay so.
///
/// The square is cut into four; the upper right and the lower left quarter change places,
/// then each quarter is turned in the same way, all quarters of one size at once: a 64²
/// square takes six rounds over the rows (Hacker's Delight, 7-3).
///
/// ```text
///  a b     a c      rounds of width 32, 16, 8, 4, 2, 1;
///  c d  ►  b d      a smaller square starts at its own half
/// ```
pub(super) fn transpose(rows: &mut [u64; 64], side: usize) {
    let size = side.clamp(1, 64).next_power_of_two();
    let mut width = size / 2;
    while width > 0 {
        // The low `width` bits of every 2 × `width`.
        let low = u64::MAX / ((1 << width) + 1);
        let (blocks, _) = rows.split_at_mut(size);
        for block in blocks.chunks_exact_mut(2 * width) {
            let (upper, lower) = block.split_at_mut(width);
            for (a, c) in upper.iter_mut().zip(lower) {
                let swap = (*a >> width ^ *c) & low;
                *c ^= swap;
                *a ^= swap << width;
            }
        }
        width /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_changes_places_at_every_side() {
        for side in 1..=64 {
            let bits = u64::MAX >> (64 - side);
            let mut seed = side as u64;
            let before: [u64; 64] = core::array::from_fn(|row| {
                seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                if row < side { (seed ^ seed >> 29) & bits } else { 0 }
            });
            let mut after = before;
            transpose(&mut after, side);
            for (y, row) in before.into_iter().enumerate() {
                for (x, turned) in after.into_iter().enumerate() {
                    assert_eq!(row >> x & 1, turned >> y & 1, "side {side}, {x} {y}");
                }
            }
        }
    }
}
