use core::array::from_fn;

use crate::Material;

/// Voxels that are compared at once: what compilers turn into a few vector instructions.
const BLOCK: usize = 16;

// Both functions go by blocks of 16. What is left over at the end is done with a block
// that overlaps the one before, which sets some bits twice to the same value; only rows
// shorter than a block go voxel by voxel.

/// A word with bit `i` set where voxel `i` of the row is not air. Rows are at most 64 long.
#[inline]
pub(super) fn bits_where_solid(row: &[Material]) -> u64 {
    let block_bits = |block: &[Material; BLOCK]| pack(from_fn(|lane| !block[lane].is_air()));
    let (blocks, rest) = row.as_chunks();
    let mut bits = 0;
    for (i, block) in blocks.iter().enumerate() {
        bits |= block_bits(block) << (BLOCK * i);
    }
    if rest.is_empty() {
        return bits;
    }
    match row.last_chunk() {
        Some(last) => bits | block_bits(last) << (row.len() - BLOCK),
        None => row.iter().rev().fold(0, |bits, voxel| bits << 1 | u64::from(!voxel.is_air())),
    }
}

/// A word with bit `i` set where voxel `i` of both rows is the same. Rows are of one
/// length, at most 64.
#[inline]
pub(super) fn bits_where_equal(a: &[Material], b: &[Material]) -> u64 {
    let block_bits =
        |a: &[Material; BLOCK], b: &[Material; BLOCK]| pack(from_fn(|lane| a[lane] == b[lane]));
    let (blocks_a, rest) = a.as_chunks();
    let (blocks_b, _) = b.as_chunks();
    let mut bits = 0;
    for (i, (a, b)) in blocks_a.iter().zip(blocks_b).enumerate() {
        bits |= block_bits(a, b) << (BLOCK * i);
    }
    if rest.is_empty() {
        return bits;
    }
    match (a.last_chunk(), b.last_chunk()) {
        (Some(last_a), Some(last_b)) => bits | block_bits(last_a, last_b) << (a.len() - BLOCK),
        _ => a.iter().zip(b).rev().fold(0, |bits, (a, b)| bits << 1 | u64::from(a == b)),
    }
}

/// Sixteen answers as bits, the first lowest.
///
/// A plain OR over the lanes: what compilers make into a few vector instructions.
#[inline(always)]
fn pack(answers: [bool; BLOCK]) -> u64 {
    let mut bits = 0;
    for (lane, answer) in answers.into_iter().enumerate() {
        bits |= u16::from(answer) << lane;
    }
    u64::from(bits)
}

/// A word with the lowest `count` bits set, up to 64.
#[inline]
pub(super) const fn low_bits(count: usize) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn words_agree_with_single_voxels_at_every_length() {
        for length in 1..=64 {
            let row = |step: u16| -> Vec<Material> {
                (0..length as u16).map(|i| Material(i * step / 5 % 3)).collect()
            };
            let (a, b) = (row(7), row(3));
            let equal = bits_where_equal(&a, &b);
            let solid = bits_where_solid(&a);
            for i in 0..64 {
                let inside = i < length;
                assert_eq!(equal >> i & 1 != 0, inside && a[i] == b[i], "{length} {i}");
                assert_eq!(solid >> i & 1 != 0, inside && !a[i].is_air(), "{length} {i}");
            }
        }
    }
}
