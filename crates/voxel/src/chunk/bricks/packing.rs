use alloc::vec::Vec;

use super::MIXED;

/// The numbers of a brick's voxels: a row of four along X in each, lowest byte first, by Y,
/// then by Z.
pub(super) type Rows16 = [u32; 16];

/// Words of a plane: a layer each.
pub(super) const PLANE_WORDS: usize = 4;

/// Planes of bits for so many numbers, at least one.
#[inline]
pub(super) const fn planes_of(count: usize) -> usize {
    (usize::BITS - (count - 1).leading_zeros()) as usize
}

/// Words of a mixed brick before its planes.
#[inline]
pub(super) const fn numbers_len(count: usize) -> usize {
    (1 + count).div_ceil(2)
}

/// Puts a brick behind `words`, whose heads are the first `head_count`, and returns its head;
/// `None` where heads do not reach as far.
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
        let with_bit = list.iter().enumerate().filter(|(place, _)| place >> plane & 1 != 0);
        let bits = with_bit.fold(0, |bits, (_, (_, mask))| bits | mask);
        words.extend(words_of(bits));
    }
    Some(head)
}

/// A plane as words.
pub(super) fn words_of(bits: u64) -> [u16; PLANE_WORDS] {
    [0, 16, 32, 48].map(|shift| (bits >> shift) as u16)
}

/// The numbers that occur, and for each where.
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

/// Which voxels are of a number.
fn equal(rows: &Rows16, number: u8) -> u64 {
    const LOW: u32 = 0x7f7f_7f7f;
    let splat = u32::from(number) * 0x0101_0101;
    rows.iter().rev().fold(0, |mask, row| {
        let other = row ^ splat;
        // The highest bit of each byte that is 0, then these bits beside each other.
        let zeros = !(((other & LOW) + LOW) | other | LOW);
        let bits = (zeros >> 7).wrapping_mul(0x0102_0408) >> 24 & 15;
        mask << 4 | u64::from(bits)
    })
}
