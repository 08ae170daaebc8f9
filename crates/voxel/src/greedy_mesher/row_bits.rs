use super::row::Row;
use crate::Material;
use crate::simd::Instructions;

/// Compares the first `side` voxels of two rows. Bit `i` is set if voxels `i` are equal.
#[inline(always)]
pub(super) fn bits_where_equal<W: Row, I: Instructions>(
    a: &[Material],
    b: &[Material],
    side: usize,
) -> W {
    match (W::voxels(a), W::voxels(b)) {
        // Voxels after the row are compared too, since a constant length is faster.
        (Some(a), Some(b)) => W::equal::<I>(a, b) & low_bits(side),
        _ => one_by_one(side, a.iter().zip(b).map(|(a, b)| a == b)),
    }
}

/// Compares the first `side` voxels of a row with three others. Rows are given by their first
/// voxel.
#[inline(always)]
pub(super) fn bits_where_all_equal<W: Row, I: Instructions>(
    voxels: &[Material],
    first: usize,
    others: [usize; 3],
    side: usize,
) -> [W; 3] {
    let row = |first: usize| voxels.get(first..).and_then(W::voxels);
    let rows = (row(first), row(others[0]), row(others[1]), row(others[2]));
    if let (Some(row), Some(x), Some(y), Some(z)) = rows {
        return [x, y, z].map(|other| W::equal::<I>(row, other) & low_bits(side));
    }
    others.map(|other| match (voxels.get(first..), voxels.get(other..)) {
        (Some(row), Some(other)) => bits_where_equal::<W, I>(row, other, side),
        _ => W::ZERO,
    })
}

/// Returns which of the first `side` voxels of a row have the given material.
#[inline(always)]
pub(super) fn bits_where<W: Row, I: Instructions>(
    row: &[Material],
    material: Material,
    side: usize,
) -> W {
    match W::voxels(row) {
        Some(row) => W::equal::<I>(row, &W::all(material)) & low_bits(side),
        None => one_by_one(side, row.iter().map(|&voxel| voxel == material)),
    }
}

/// Returns which of the first `side` voxels of a row are not air.
#[inline(always)]
pub(super) fn solid_bits<W: Row, I: Instructions>(row: &[Material], side: usize) -> W {
    !bits_where::<W, I>(row, Material::AIR, side) & low_bits(side)
}

/// Fallback for the last rows of a chunk, which have too few voxels after them.
#[cold]
#[inline(never)]
fn one_by_one<W: Row>(side: usize, answers: impl Iterator<Item = bool>) -> W {
    let answers = answers.take(side).enumerate();
    W::from_bits(answers.fold(0, |bits, (i, answer)| bits | u64::from(answer) << i))
}

/// Returns a word with the lowest `count` bits set, at most all bits.
#[inline(always)]
pub(super) fn low_bits<W: Row>(count: usize) -> W {
    if count == 0 { W::ZERO } else { W::from_bits(u64::MAX >> (64 - count)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Work, widest};
    use alloc::vec::Vec;
    use core::marker::PhantomData;

    struct Rows<'a, W>(&'a [Material], &'a [Material], usize, PhantomData<W>);

    impl<W: Row> Work for Rows<'_, W> {
        type Output = [u64; 3];

        fn run<I: Instructions>(self) -> [u64; 3] {
            let Self(a, b, side, _) = self;
            let twos = bits_where::<W, I>(a, Material(2), side);
            [bits_where_equal::<W, I>(a, b, side), solid_bits::<W, I>(a, side), twos].map(W::bits)
        }
    }

    /// Compares rows with `behind` voxels after them.
    fn check<W: Row>(behind: usize) {
        for side in 1..=W::ROWS {
            let row = |step: usize| -> Vec<Material> {
                (0..side + behind).map(|i| Material((i * step / 5 % 4) as u16)).collect()
            };
            let (a, b) = (row(7), row(3));
            let [equal, solid, twos] = widest(Rows::<W>(&a, &b, side, PhantomData));
            for i in 0..64 {
                let inside = i < side;
                assert_eq!(equal >> i & 1 != 0, inside && a[i] == b[i], "{side} {i}");
                assert_eq!(solid >> i & 1 != 0, inside && !a[i].is_air(), "{side} {i}");
                assert_eq!(twos >> i & 1 != 0, inside && a[i].0 == 2, "{side} {i}");
            }
        }
    }

    #[test]
    fn words_agree_with_single_voxels_at_every_length() {
        for behind in [0, 1, 15, 64] {
            check::<u16>(behind);
            check::<u32>(behind);
            check::<u64>(behind);
        }
    }
}
