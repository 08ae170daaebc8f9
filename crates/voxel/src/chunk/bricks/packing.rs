use alloc::vec::Vec;

use super::MIXED;

/// Numbers of a brick's voxels. Each word is a row of four voxels along X, lowest byte first. Rows
/// are sorted by Y, then by Z.
pub(super) type Rows16 = [u32; 16];

/// Number of words per plane: one per layer.
pub(super) const PLANE_WORDS: usize = 4;

/// Number of bit planes for `count` numbers; `count` must be at least one.
#[inline]
pub(super) const fn planes_of(count: usize) -> usize {
    (usize::BITS - (count - 1).leading_zeros()) as usize
}

/// Number of words of a mixed brick before its planes.
#[inline]
pub(super) const fn numbers_len(count: usize) -> usize {
    (1 + count).div_ceil(2)
}

/// Appends a brick to `words` and returns its head. The first `head_count` words are the heads.
/// Returns `None` if the position does not fit a head.
pub(super) fn push(words: &mut Vec<u16>, head_count: usize, rows: &Rows16) -> Option<u16> {
    let first = rows[0] as u8;
    let splat = u32::from(first) * 0x0101_0101;
    if rows.iter().fold(0, |any, row| any | (row ^ splat)) == 0 {
        return Some(first.into());
    }
    let head = u16::try_from(words.len() - head_count + MIXED).ok()?;
    let (mut list, count) = by_number(rows);
    let list = &mut list[..count];
    list.sort_unstable_by_key(|(number, _)| *number);
    let byte = |n: usize| match n {
        0 => count as u16,
        n => list.get(n - 1).map_or(0, |(number, _)| u16::from(*number)),
    };
    words.extend((0..numbers_len(count)).map(|n| byte(2 * n) | byte(2 * n + 1) << 8));
    for plane in 0..planes_of(count) {
        let with_bit = list.iter().enumerate().filter(|(index, _)| index >> plane & 1 != 0);
        let bits = with_bit.fold(0, |bits, (_, (_, mask))| bits | mask);
        words.extend(words_of(bits));
    }
    Some(head)
}

/// Splits a plane into words.
pub(super) fn words_of(bits: u64) -> [u16; PLANE_WORDS] {
    [0, 16, 32, 48].map(|shift| (bits >> shift) as u16)
}

/// Returns the numbers that occur, each with a mask of its voxels, and their count.
fn by_number(rows: &Rows16) -> ([(u8, u64); 64], usize) {
    let (mut list, mut count, mut rest) = ([(0, 0); 64], 0, u64::MAX);
    while rest != 0 {
        let n = rest.trailing_zeros();
        let number = (rows[n as usize / 4] >> (n % 4 * 8)) as u8;
        let mask = equal(rows, number);
        list[count] = (number, mask);
        (count, rest) = (count + 1, rest & !mask);
    }
    (list, count)
}

/// Returns a mask of the voxels that have this number.
fn equal(rows: &Rows16, number: u8) -> u64 {
    const LOW: u32 = 0x7f7f_7f7f;
    let splat = u32::from(number) * 0x0101_0101;
    rows.iter().rev().fold(0, |mask, row| {
        let other = row ^ splat;
        // Finds the zero bytes as high bits, then gathers these bits.
        let zeros = !(((other & LOW) + LOW) | other | LOW);
        let bits = (zeros >> 7).wrapping_mul(0x0102_0408) >> 24 & 15;
        mask << 4 | u64::from(bits)
    })
}
