use crate::Material;
use crate::simd::{BLOCK, equal_bits};

/// A word with bit `i` set where voxel `i` of the row is not air. The row is the first
/// `side` of `voxels`, at most `ROWS` of them, which is 16, 32 or 64.
#[inline(always)]
pub(super) fn bits_where_solid<const ROWS: usize>(voxels: &[Material], side: usize) -> u64 {
    let bits = match voxels.first_chunk::<ROWS>() {
        // What follows the row is compared, too: a length that is known is worth more.
        Some(voxels) => !blocks_equal(voxels, &[Material::AIR; ROWS]),
        None => one_by_one(voxels, side, |voxel, _| !voxel.is_air(), voxels),
    };
    bits & low_bits(side)
}

/// A word with bit `i` set where voxel `i` of both rows is the same. The rows are the first
/// `side` of each, at most `ROWS`.
#[inline(always)]
pub(super) fn bits_where_equal<const ROWS: usize>(
    a: &[Material],
    b: &[Material],
    side: usize,
) -> u64 {
    let bits = match (a.first_chunk::<ROWS>(), b.first_chunk::<ROWS>()) {
        (Some(a), Some(b)) => blocks_equal(a, b),
        _ => one_by_one(a, side, |a, b| a == b, b),
    };
    bits & low_bits(side)
}

/// Words with bit `i` set where voxel `i` of the row at `first` is the same as that of each
/// of the `others`, all of them indices into `voxels`.
#[inline(always)]
pub(super) fn bits_where_all_equal<const ROWS: usize>(
    voxels: &[Material],
    first: usize,
    others: [usize; 3],
    side: usize,
) -> [u64; 3] {
    let row = |first: usize| voxels.get(first..).and_then(|row| row.first_chunk::<ROWS>());
    let rows = (row(first), row(others[0]), row(others[1]), row(others[2]));
    if let (Some(row), Some(x), Some(y), Some(z)) = rows {
        return [x, y, z].map(|other| blocks_equal(row, other) & low_bits(side));
    }
    others.map(|other| match (voxels.get(first..), voxels.get(other..)) {
        (Some(row), Some(other)) => bits_where_equal::<ROWS>(row, other, side),
        _ => 0,
    })
}

#[inline(always)]
fn blocks_equal<const ROWS: usize>(a: &[Material; ROWS], b: &[Material; ROWS]) -> u64 {
    let (a, _) = a.as_chunks::<BLOCK>();
    let (b, _) = b.as_chunks::<BLOCK>();
    let blocks = a.iter().zip(b).enumerate();
    blocks.fold(0, |bits, (i, (a, b))| bits | equal_bits(a, b) << (BLOCK * i))
}

/// For the few rows near the end of a chunk that have too little behind them.
#[cold]
fn one_by_one(
    a: &[Material],
    side: usize,
    answer: impl Fn(Material, Material) -> bool,
    b: &[Material],
) -> u64 {
    let pairs = a.iter().zip(b).take(side).enumerate();
    pairs.fold(0, |bits, (i, (&a, &b))| bits | u64::from(answer(a, b)) << i)
}

/// A word with the lowest `count` bits set, up to 64.
#[inline(always)]
pub(super) const fn low_bits(count: usize) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Compares rows that have `behind` voxels behind them.
    fn check<const ROWS: usize>(behind: usize) {
        for side in 1..=ROWS {
            let row = |step: usize| -> Vec<Material> {
                (0..side + behind).map(|i| Material((i * step / 5 % 3) as u16)).collect()
            };
            let (a, b) = (row(7), row(3));
            let equal = bits_where_equal::<ROWS>(&a, &b, side);
            let solid = bits_where_solid::<ROWS>(&a, side);
            for i in 0..64 {
                let inside = i < side;
                assert_eq!(equal >> i & 1 != 0, inside && a[i] == b[i], "{side} {i}");
                assert_eq!(solid >> i & 1 != 0, inside && !a[i].is_air(), "{side} {i}");
            }
        }
    }

    #[test]
    fn words_agree_with_single_voxels_at_every_length() {
        for behind in [0, 1, 15, 64] {
            check::<16>(behind);
            check::<32>(behind);
            check::<64>(behind);
        }
    }
}
