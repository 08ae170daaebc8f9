use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::super::blocks::Block;
use super::super::numbered::has_duplicates;
use super::packing::{PLANE_WORDS, numbers_len, planes_of, words_of};
use super::{BRICK, Bricks, MAX, MIXED};
use crate::{Chunk, Material};

/// Size of a plane, in bytes.
const PLANE_BYTES: usize = 8;

/// Numbers of a brick as words: the count, then the numbers. A single number has no count.
type Set<'a> = &'a [u16];

impl Bricks {
    /// Iterates over the numbers and the planes of each brick.
    fn sets(&self) -> impl Iterator<Item = (Set<'_>, &[u16])> {
        self.words[..self.count()].iter().map(|head| {
            let Some(_) = usize::from(*head).checked_sub(MIXED) else {
                return (core::slice::from_ref(head), &[][..]);
            };
            let words = self.mixed(usize::from(*head));
            let count = usize::from(words[0] & 0xff);
            let (set, planes) = words.split_at(numbers_len(count));
            (set, &planes[..PLANE_WORDS * planes_of(count)])
        })
    }

    pub(in super::super) fn write(&self, bytes: &mut Vec<u8>) {
        let mut counts: BTreeMap<Set<'_>, usize> = BTreeMap::new();
        self.sets().for_each(|(set, _)| *counts.entry(set).or_default() += 1);
        let mut sets: Vec<(Set<'_>, usize)> = counts.iter().map(|(set, n)| (*set, *n)).collect();
        sets.sort_by_key(|(_, count)| Reverse(*count));
        bytes.push((self.materials.len() - 1) as u8);
        bytes.extend(self.materials.iter().flat_map(|it| it.0.to_le_bytes()));
        bytes.extend(((sets.len() - 1) as u16).to_le_bytes());
        for (set, _) in &sets {
            match set {
                [number] => bytes.extend([1, *number as u8]),
                _ => {
                    let count = 1 + usize::from(set[0] & 0xff);
                    bytes.extend(set.iter().flat_map(|word| word.to_le_bytes()).take(count));
                }
            }
        }
        counts.extend(sets.iter().zip(0..).map(|((set, _), index)| (*set, index)));
        let codes: Vec<usize> = self.sets().map(|(set, _)| counts[set]).collect();
        bytes.extend(codes.iter().map(|code| *code as u8));
        if sets.len() > MAX {
            bytes.extend(codes.iter().map(|code| (code >> 8) as u8));
        }
        for plane in self.sets().flat_map(|(_, planes)| planes.as_chunks::<PLANE_WORDS>().0) {
            let bits = plane.iter().rev().fold(0, |bits, word| bits << 16 | u64::from(*word));
            bytes.extend(to_column_order(bits).to_le_bytes());
        }
    }

    pub(in super::super) fn read(side: usize, bytes: &[u8]) -> Option<(Self, u32)> {
        let count = Self::side_of(side.checked_pow(3)?).map(|side| (side / BRICK).pow(3))?;
        let (&material_count, rest) = bytes.split_first()?;
        let (materials, rest) = rest.split_at_checked(2 * (usize::from(material_count) + 1))?;
        let materials = materials.as_chunks().0.iter();
        let materials: Vec<Material> =
            materials.map(|it| Material(u16::from_le_bytes(*it))).collect();
        let (set_count, mut rest) = rest.split_first_chunk()?;
        let set_count = usize::from(u16::from_le_bytes(*set_count)) + 1;
        if has_duplicates(&materials) || set_count > count {
            return None;
        }
        let mut sets = Vec::with_capacity(set_count);
        for _ in 0..set_count {
            let set;
            (set, rest) = ReadSet::take(rest, &materials)?;
            sets.push(set);
        }
        let (low, rest) = rest.split_at_checked(count)?;
        let (high, rest) = rest.split_at_checked(if set_count > MAX { count } else { 0 })?;
        let set_of = |brick: usize| {
            let high = high.get(brick).map_or(0, |high| usize::from(*high) << 8);
            sets.get(high | usize::from(low[brick]))
        };
        let (mut end, mut plane_count, mut solid_count) = (count, 0, 0);
        let mut heads = [0; (Chunk::MAX_SIDE as usize / BRICK).pow(3)];
        let heads = &mut heads[..count];
        for (brick, head) in heads.iter_mut().enumerate() {
            let set = set_of(brick)?;
            *head = match set.numbers {
                [number] => (*number).into(),
                _ => u16::try_from(end - count + MIXED).ok()?,
            };
            end += set.words_len;
            plane_count += set.plane_count;
            solid_count += if set.air.is_some() { 0 } else { 64 };
        }
        let (planes, behind) = rest.as_chunks::<PLANE_BYTES>();
        if planes.len() != plane_count || !behind.is_empty() {
            return None;
        }
        let mut words = Block::filled(end, 0);
        let (to_heads, mut to) = words.split_at_mut(count);
        to_heads.copy_from_slice(heads);
        let mut planes = planes.iter().map(|plane| to_row_order(u64::from_le_bytes(*plane)));
        for set in (0..count).filter_map(set_of).filter(|set| set.numbers.len() > 1) {
            let brick;
            (brick, to) = to.split_at_mut_checked(set.words_len)?;
            solid_count += set.put(&mut planes, brick)?;
        }
        let bricks = Self { side_log2: side.ilog2(), materials: materials.into(), words };
        Some((bricks, solid_count))
    }
}

/// Materials of bricks, as read from bytes.
struct ReadSet<'a> {
    numbers: &'a [u8],
    /// Count of the numbers, then the numbers.
    bytes: &'a [u8],
    /// Index of air in the numbers, if present.
    air: Option<usize>,
    plane_count: usize,
    /// Number of words per brick, without its head.
    words_len: usize,
}

impl<'a> ReadSet<'a> {
    /// Reads a set; returns it and the remaining bytes.
    fn take(bytes: &'a [u8], materials: &[Material]) -> Option<(Self, &'a [u8])> {
        let count = usize::from(*bytes.first()?);
        let (bytes, rest) = bytes.split_at_checked(1 + count)?;
        let numbers = &bytes[1..];
        let is_right = (1..=64).contains(&count)
            && numbers.windows(2).all(|pair| pair[0] < pair[1])
            && numbers.last().is_some_and(|last| usize::from(*last) < materials.len());
        if !is_right {
            return None;
        }
        let air = numbers.iter().position(|number| materials[usize::from(*number)].is_air());
        let plane_count = if count == 1 { 0 } else { planes_of(count) };
        let words_len = if count == 1 { 0 } else { numbers_len(count) + PLANE_WORDS * plane_count };
        Some((Self { numbers, bytes, air, plane_count, words_len }, rest))
    }

    /// Writes a mixed brick. Returns the number of solid voxels if the set contains air, else 0.
    #[inline]
    fn put(&self, planes: &mut impl Iterator<Item = u64>, words: &mut [u16]) -> Option<u32> {
        let (numbers, to) = words.split_at_mut(numbers_len(self.numbers.len()));
        for (word, pair) in numbers.iter_mut().zip(self.bytes.chunks(2)) {
            *word = u16::from(pair[0]) | pair.get(1).map_or(0, |high| u16::from(*high) << 8);
        }
        // Voxels whose bits so far give an index without a number, and voxels of air.
        let (mut beyond, mut air) = (u64::MAX, u64::MAX);
        for (n, to) in to.as_chunks_mut::<PLANE_WORDS>().0.iter_mut().enumerate() {
            let bits = planes.next()?;
            *to = words_of(bits);
            // From the lowest bit to the highest, which dominates the comparison.
            beyond = match self.numbers.len() >> n & 1 {
                0 => beyond | bits,
                _ => beyond & bits,
            };
            let is_set = self.air.is_some_and(|air| air >> n & 1 != 0);
            air &= if is_set { bits } else { !bits };
        }
        let all_fit = self.numbers.len() == 1 << self.plane_count;
        if !all_fit && beyond != 0 {
            return None;
        }
        Some(if self.air.is_some() { (!air).count_ones() } else { 0 })
    }
}

/// Converts a plane from X fastest, then Y, then Z to Y fastest, then Z, then X. Columns of
/// landscapes are similar, so this order compresses better.
pub(super) fn to_column_order(bits: u64) -> u64 {
    outer(inner(bits))
}

/// Converts a plane back: the inverse of [`to_column_order`].
pub(super) fn to_row_order(bits: u64) -> u64 {
    inner(outer(bits))
}

/// Transposes each 16 bits as a square of 4 × 4 bits.
#[inline]
fn inner(bits: u64) -> u64 {
    let bits = exchange(bits, 3, 0x0a0a_0a0a_0a0a_0a0a);
    exchange(bits, 6, 0x00cc_00cc_00cc_00cc)
}

/// Transposes a square of 4 × 4 groups of four bits.
#[inline]
fn outer(bits: u64) -> u64 {
    let bits = exchange(bits, 12, 0x0000_f0f0_0000_f0f0);
    exchange(bits, 24, 0x0000_0000_ff00_ff00)
}

/// Exchanges the bits of `mask` with those `up` bits above.
#[inline]
const fn exchange(bits: u64, up: u32, mask: u64) -> u64 {
    let other = (bits >> up ^ bits) & mask;
    bits ^ other ^ other << up
}
