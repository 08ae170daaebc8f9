use alloc::vec::Vec;
use core::marker::PhantomData;

use super::row::Row;
use crate::simd::{Instructions, Work, widest};
use crate::{Material, PaddedChunk, Visibility};

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
    all_equal_one_by_one(voxels, first, others, side)
}

/// Fallback for rows that have too few voxels after them.
#[cold]
#[inline(never)]
fn all_equal_one_by_one<W: Row>(
    voxels: &[Material],
    first: usize,
    others: [usize; 3],
    side: usize,
) -> [W; 3] {
    let row = |first: usize| voxels.get(first..).unwrap_or_default();
    others.map(|other| one_by_one(side, row(first).iter().zip(row(other)).map(|(a, b)| a == b)))
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
        None => one_by_one(side, row.iter().map(move |&voxel| voxel == material)),
    }
}

/// Returns which of the first `side` voxels of a row are not air.
#[inline(always)]
pub(super) fn solid_bits<W: Row, I: Instructions>(row: &[Material], side: usize) -> W {
    !bits_where::<W, I>(row, Material::AIR, side) & low_bits(side)
}

/// Returns which of the first `side` voxels of a row are `wanted` materials. Tests the first voxel of
/// each run of one material. Voxels outside `within` are skipped.
#[inline(always)]
pub(super) fn bits_by_run<W: Row, I: Instructions>(
    row: &[Material],
    side: usize,
    within: W,
    wanted: impl Fn(Material) -> bool,
) -> W {
    // Bit `i`: voxel `i + 1` equals voxel `i`.
    let same = bits_where_equal::<W, I>(row, &row[1..], side - 1).bits();
    let mut starts = within.bits() & !(same << 1);
    let mut bits = W::ZERO;
    while starts != 0 {
        let start = starts.trailing_zeros();
        starts &= starts - 1;
        if wanted(row[start as usize]) {
            let length = 1 + (same >> start).trailing_ones() as usize;
            bits = bits | low_bits::<W>(length) << start as usize;
        }
    }
    bits
}

/// Pushes a word for each row of a chunk, without its halo: which voxels are `wanted` materials.
pub(crate) fn push_rows(
    chunk: &PaddedChunk,
    wanted: impl Fn(Material) -> bool,
    rows: &mut Vec<u64>,
) {
    match chunk.side() {
        ..=16 => widest(RowsWhere::<u16, _> { chunk, wanted, rows, row: PhantomData }),
        17..=32 => widest(RowsWhere::<u32, _> { chunk, wanted, rows, row: PhantomData }),
        _ => widest(RowsWhere::<u64, _> { chunk, wanted, rows, row: PhantomData }),
    }
}

struct RowsWhere<'a, W, F> {
    chunk: &'a PaddedChunk,
    wanted: F,
    rows: &'a mut Vec<u64>,
    row: PhantomData<W>,
}

impl<W: Row, F: Fn(Material) -> bool> Work for RowsWhere<'_, W, F> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self) {
        let side = self.chunk.side() as usize;
        let padded = side + 2;
        for (z, y) in (1..=side).flat_map(|z| (1..=side).map(move |y| (z, y))) {
            let row = &self.chunk.voxels()[1 + padded * (y + padded * z)..];
            let bits = bits_by_run::<W, I>(row, side, low_bits(side), &self.wanted);
            self.rows.push(bits.bits());
        }
    }
}

/// Returns which of the first `side` cells of a row, as bytes, have the given visibility.
#[inline(always)]
pub(super) fn bits_where_class<W: Row, I: Instructions>(
    row: &[u8],
    visibility: Visibility,
    side: usize,
) -> W {
    let class = visibility as u8;
    match W::bytes(row) {
        Some(row) => W::equal_bytes::<I>(row, class) & low_bits(side),
        None => one_by_one(side, row.iter().map(move |&byte| byte == class)),
    }
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
