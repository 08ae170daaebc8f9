use std::ops::Range;

use drystone_voxel::ChunkPos;
use twox_hash::XxHash3_64;

use crate::codec::record::MAX_RECORD_BYTES;

/// Position of a group: 2 × 2 × 2 chunks that are stored as one value, in units of two chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GroupPos([i32; 3]);

/// Number of chunks in a group.
pub(super) const SLOTS: usize = 8;
/// Length of a value's head, in bytes.
const HEAD_BYTES: usize = 2;
/// Length of each chunk's entry in the head, in bytes.
const ENTRY_BYTES: usize = 12;
const FORMAT: u8 = 1;
/// Maximum length of everything before the first record, in bytes.
pub(super) const MAX_HEAD_BYTES: usize = HEAD_BYTES + SLOTS * ENTRY_BYTES;
/// Maximum length of a value, in bytes.
pub(super) const MAX_VALUE_BYTES: usize = MAX_HEAD_BYTES + SLOTS * MAX_RECORD_BYTES;

/// Sort key of a group in the database: X, Z, Y.
pub(super) type Key = [u8; 12];

impl GroupPos {
    /// The group of a chunk, and the chunk's slot in it.
    pub(super) const fn of(chunk: ChunkPos) -> (Self, usize) {
        let ChunkPos { x, y, z } = chunk;
        let slot = x & 1 | (y & 1) << 1 | (z & 1) << 2;
        (Self([x >> 1, y >> 1, z >> 1]), slot as usize)
    }

    /// The chunk in a slot.
    pub(super) const fn chunk(self, slot: usize) -> ChunkPos {
        let [x, y, z] = self.0;
        let slot = slot as i32;
        ChunkPos::new(x << 1 | slot & 1, y << 1 | slot >> 1 & 1, z << 1 | slot >> 2 & 1)
    }

    pub(super) fn key(self) -> Key {
        let [x, y, z] = self.0.map(|c| (c as u32 ^ 1 << 31).to_be_bytes());
        let mut key = [0; 12];
        key[..4].copy_from_slice(&x);
        key[4..8].copy_from_slice(&z);
        key[8..].copy_from_slice(&y);
        key
    }

    pub(super) fn of_key(key: Key) -> Self {
        let at = |n: usize| {
            let bytes = [key[n], key[n + 1], key[n + 2], key[n + 3]];
            (u32::from_be_bytes(bytes) ^ 1 << 31) as i32
        };
        Self([at(0), at(8), at(4)])
    }
}

/// A parsed value: the record of each chunk.
pub(super) struct Group<'a> {
    position: GroupPos,
    entries: [Option<Entry<'a>>; SLOTS],
}

#[derive(Clone, Copy)]
struct Entry<'a> {
    checksum: u64,
    record: &'a [u8],
}

impl<'a> Group<'a> {
    /// Parses a value of arbitrary bytes. Records are verified later, by [`record`](Self::record).
    pub(super) fn parse(position: GroupPos, value: &'a [u8]) -> Result<Self, &'static str> {
        const SHORT: &str = "the value ends too early";
        let (&[format, mask], rest) = value.split_first_chunk().ok_or(SHORT)?;
        if format != FORMAT {
            return Err("the value is of an unknown format");
        }
        let count = mask.count_ones() as usize;
        let (table, mut records) = rest.split_at_checked(count * ENTRY_BYTES).ok_or(SHORT)?;
        let mut entries = [None; SLOTS];
        let slots = (0..SLOTS).filter(|slot| mask >> slot & 1 != 0);
        for (slot, entry) in slots.zip(table.as_chunks::<ENTRY_BYTES>().0) {
            let [a, b, c, d, sum @ ..] = *entry;
            let len = u32::from_le_bytes([a, b, c, d]) as usize;
            let (record, rest) = records.split_at_checked(len).ok_or(SHORT)?;
            entries[slot] = Some(Entry { checksum: u64::from_le_bytes(sum), record });
            records = rest;
        }
        if !records.is_empty() {
            return Err("extra bytes after the value's end");
        }
        Ok(Self { position, entries })
    }

    /// Byte range of a slot's record in the value with this beginning; `None` if it has none.
    pub(super) fn record_range(beginning: &[u8], slot: usize) -> Option<Range<usize>> {
        let (&[_, mask], rest) = beginning.split_first_chunk()?;
        let before = mask & ((1 << slot) - 1);
        let entries = rest.as_chunks::<ENTRY_BYTES>().0;
        let len = |entry: &[u8; ENTRY_BYTES]| {
            u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]) as usize
        };
        let before = entries.get(..before.count_ones() as usize)?;
        let own = entries.get(before.len()).filter(|_| mask >> slot & 1 != 0)?;
        let heads = HEAD_BYTES + mask.count_ones() as usize * ENTRY_BYTES;
        let start = before.iter().fold(heads, |start, entry| start.saturating_add(len(entry)));
        Some(start..start.saturating_add(len(own)))
    }

    /// The verified record of a slot; `None` if the slot is empty.
    pub(super) fn record(&self, slot: usize) -> Option<Result<&'a [u8], &'static str>> {
        let entry = (*self.entries.get(slot)?)?;
        let is_right = entry.checksum == checksum(entry.record, self.position.chunk(slot));
        Some(if is_right { Ok(entry.record) } else { Err("its checksum is wrong") })
    }

    /// Builds a value from `old` and new records. `None` keeps the old record, an empty record
    /// removes it. Returns `None` if no record is left.
    pub(super) fn replaced(
        position: GroupPos,
        old: Option<&Self>,
        new: &[Option<Vec<u8>>; SLOTS],
    ) -> Option<Vec<u8>> {
        let entries: [Option<Entry<'_>>; SLOTS] = std::array::from_fn(|slot| match &new[slot] {
            Some(record) if record.is_empty() => None,
            Some(record) => {
                Some(Entry { checksum: checksum(record, position.chunk(slot)), record })
            }
            None => old.and_then(|old| old.entries[slot]),
        });
        let present = entries.iter().flatten();
        let bytes: usize = present.clone().map(|it| it.record.len() + ENTRY_BYTES).sum();
        let mask = (0..SLOTS).filter(|&slot| entries[slot].is_some());
        let mask: u8 = mask.map(|slot| 1 << slot).sum();
        let mut value = Vec::with_capacity(HEAD_BYTES + bytes);
        value.extend([FORMAT, mask]);
        for entry in present.clone() {
            value.extend((entry.record.len() as u32).to_le_bytes());
            value.extend(entry.checksum.to_le_bytes());
        }
        present.for_each(|entry| value.extend_from_slice(entry.record));
        (mask != 0).then_some(value)
    }
}

/// Checksum of a record and its chunk's position, which detects a record at the wrong position.
fn checksum(record: &[u8], chunk: ChunkPos) -> u64 {
    let [x, y, z] = [chunk.x, chunk.y, chunk.z].map(|c| u64::from(c as u32));
    let position = (x << 32 | z).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (y + 1).wrapping_mul(0xd6e8_feb8_6659_fd93);
    XxHash3_64::oneshot(record) ^ position
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_slots_are_invertible() {
        for x in [i32::MIN, -3, -1, 0, 1, 6, i32::MAX] {
            for (y, z) in [(0, 5), (-7, i32::MIN), (i32::MAX, -1)] {
                let chunk = ChunkPos::new(x, y, z);
                let (group, slot) = GroupPos::of(chunk);
                assert_eq!(group.chunk(slot), chunk);
                assert_eq!(GroupPos::of_key(group.key()), group);
            }
        }
        let key = |x| GroupPos::of(ChunkPos::new(x, 0, 0)).0.key();
        assert!(key(-2) < key(0) && key(0) < key(2));
    }

    #[test]
    fn records_are_added_and_removed() {
        let position = GroupPos::of(ChunkPos::new(4, -6, 8)).0;
        let mut new: [Option<Vec<u8>>; SLOTS] = [const { None }; SLOTS];
        new[3] = Some(vec![1, 2, 3]);
        new[7] = Some(vec![9; 500]);
        let value = Group::replaced(position, None, &new).unwrap();
        let group = Group::parse(position, &value).unwrap();
        assert_eq!(group.record(3), Some(Ok(&[1, 2, 3][..])));
        assert_eq!(group.record(0), None);
        let elsewhere = Group::parse(GroupPos::of(ChunkPos::new(6, -6, 8)).0, &value).unwrap();
        assert!(elsewhere.record(3).unwrap().is_err(), "at another position");
        new = [const { None }; SLOTS];
        new[3] = Some(Vec::new());
        let value = Group::replaced(position, Some(&group), &new).unwrap();
        let group = Group::parse(position, &value).unwrap();
        assert_eq!((group.record(3), group.record(7)), (None, Some(Ok(&[9; 500][..]))));
        new[7] = Some(Vec::new());
        assert_eq!(Group::replaced(position, Some(&group), &new), None);
    }

    #[test]
    fn every_changed_bit_is_detected() {
        let position = GroupPos::of(ChunkPos::new(0, 0, 0)).0;
        let new = std::array::from_fn(|slot| (slot % 3 != 0).then(|| vec![slot as u8; 5]));
        let value = Group::replaced(position, None, &new).unwrap();
        for bit in 0..value.len() * 8 {
            let mut wrong = value.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let is_whole = Group::parse(position, &wrong).is_ok_and(|group| {
                (0..SLOTS).all(|slot| match (&new[slot], group.record(slot)) {
                    (None, None) => true,
                    (Some(old), Some(Ok(read))) => old == read,
                    _ => false,
                })
            });
            assert!(!is_whole, "bit {bit}");
        }
    }
}
