use std::cell::RefCell;
use std::ops::Range;

use drystone_voxel::Material;
use twox_hash::XxHash3_64;

use super::group::MAX_RECORD_BYTES;
use super::key::GroupKey;
use super::varint;
use crate::codec::zstd::Zstd;

/// A group in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: GroupKey,
    /// A bit for each chunk that is present. Never 0.
    pub(crate) mask: u8,
    pub(crate) content: EntryContent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryContent {
    /// All chunks of the mask consist of this material.
    Uniform(Material),
    /// The chunks are in a record of this length and checksum.
    Record { len: u32, checksum: u64 },
}

impl Entry {
    /// Length of the group's record in bytes, 0 if it has none.
    pub(crate) const fn record_bytes(&self) -> u64 {
        match self.content {
            EntryContent::Uniform(_) => 0,
            EntryContent::Record { len, .. } => len as u64,
        }
    }
}

/// Maximum number of groups in a page of the directory. Bounds the memory for a damaged page.
pub(crate) const MAX_PAGE_ENTRIES: u32 = 1 << 16;
/// Longest entry before compression, in bytes: rank, mask, length, checksum.
pub(crate) const MAX_ENTRY_BYTES: usize = 14 + 1 + varint::MAX_U32_BYTES + 8;
/// First byte of a page.
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
/// Compression level.
const LEVEL: i32 = 13;

/// A page of the directory as the header describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageInfo {
    /// First group of the page. All groups of a page are of one level.
    pub(crate) first: GroupKey,
    /// Number of groups.
    pub(crate) count: u32,
    /// Number of bytes of the page in the file.
    pub(crate) page_bytes: u32,
    pub(crate) checksum: u64,
    /// Number of bytes of all records of the page.
    pub(crate) record_bytes: u64,
}

/// Groups of a page, sorted, and where their records are.
#[derive(Debug)]
pub(crate) struct Page {
    entries: Vec<Entry>,
    /// Offset of each entry's record in the file, and the end of the last record.
    offsets: Vec<u64>,
}

impl PageInfo {
    /// Encodes a page and describes it. `entries` are of one level, at least one and at most
    /// [`MAX_PAGE_ENTRIES`]. Returns `None` if they are not sorted.
    ///
    /// A page lists the ranks of all groups, each as its distance from the one before, then all masks, the
    /// lengths of all records (0 without one), the materials of groups without a record, and the checksums
    /// of the others. Similar bytes are therefore together.
    pub(crate) fn encode(entries: &[Entry], zstd: &mut Zstd) -> Option<(Self, Vec<u8>)> {
        let first = entries.first()?.key;
        let mut plain = Vec::new();
        let mut last = first.rank;
        for (index, entry) in entries.iter().enumerate() {
            let step =
                entry.key.rank.checked_sub(last).filter(|step| (*step > 0) == (index > 0))?;
            varint::put(step, &mut plain);
            last = entry.key.rank;
        }
        plain.extend(entries.iter().map(|entry| entry.mask));
        entries.iter().for_each(|entry| varint::put(entry.record_bytes().into(), &mut plain));
        for entry in entries {
            if let EntryContent::Uniform(material) = entry.content {
                plain.extend(material.0.to_le_bytes());
            }
        }
        for entry in entries {
            if let EntryContent::Record { checksum, .. } = entry.content {
                plain.extend(checksum.to_le_bytes());
            }
        }
        let page = match zstd.pack_at(LEVEL, &plain) {
            Some(packed) => [&[ZSTD], packed.as_slice()].concat(),
            None => [&[PLAIN], plain.as_slice()].concat(),
        };
        let info = Self {
            first,
            count: entries.len() as u32,
            page_bytes: page.len() as u32,
            checksum: XxHash3_64::oneshot(&page),
            record_bytes: entries.iter().map(Entry::record_bytes).sum(),
        };
        Some((info, page))
    }

    /// Decodes arbitrary bytes as this page, whose first record is at `offset` in the file. Returns the
    /// problem of damaged bytes.
    pub(crate) fn decode(&self, page: &[u8], offset: u64) -> Result<Page, &'static str> {
        if XxHash3_64::oneshot(page) != self.checksum {
            return Err(crate::codec::WRONG_SUM);
        }
        self.decode_unchecked(page, offset)
    }

    /// Decodes a page like [`decode`](Self::decode), without its checksum.
    pub(super) fn decode_unchecked(&self, page: &[u8], offset: u64) -> Result<Page, &'static str> {
        thread_local! {
            static ZSTD_STATE: RefCell<Zstd> = RefCell::new(Zstd::new());
        }
        let count = self.count.min(MAX_PAGE_ENTRIES) as usize;
        match page.split_first() {
            Some((&PLAIN, plain)) => self.read(plain, offset),
            Some((&ZSTD, packed)) => {
                let mut plain = Vec::with_capacity(count * MAX_ENTRY_BYTES);
                ZSTD_STATE
                    .with_borrow_mut(|zstd| zstd.unpack(packed, &mut plain))
                    .ok_or("the compressed data is damaged")?;
                self.read(&plain, offset)
            }
            Some(_) => Err("a page of an unknown kind"),
            None => Err("an empty page"),
        }
    }

    fn read(&self, plain: &[u8], offset: u64) -> Result<Page, &'static str> {
        const SHORT: &str = "it ends too early";
        let (level, count) = (self.first.level, self.count as usize);
        // Each entry takes at least three bytes.
        if self.count > MAX_PAGE_ENTRIES || count > plain.len() / 3 {
            return Err(SHORT);
        }
        let mut rest = plain;
        let mut rank = self.first.rank;
        let mut ranks = Vec::with_capacity(count);
        for index in 0..count {
            let step = varint::take(&mut rest).ok_or(SHORT)?;
            if (step == 0) != (index == 0) {
                return Err("its groups are not in order");
            }
            rank = rank
                .checked_add(step)
                .filter(|&rank| GroupKey { level, rank }.is_valid())
                .ok_or("a group is outside")?;
            ranks.push(rank);
        }
        let (masks, after) = rest.split_at_checked(count).ok_or(SHORT)?;
        rest = after;
        let mut lens = Vec::with_capacity(count);
        for _ in 0..count {
            let len = varint::take(&mut rest).and_then(|len| u32::try_from(len).ok());
            lens.push(
                len.filter(|&len| len as usize <= MAX_RECORD_BYTES)
                    .ok_or("a record is too long")?,
            );
        }
        let mut entries = Vec::with_capacity(count);
        let uniform_count = lens.iter().filter(|&&len| len == 0).count();
        let (materials, sums) = rest.split_at_checked(2 * uniform_count).ok_or(SHORT)?;
        let (mut materials, (sums, extra)) =
            (materials.as_chunks::<2>().0.iter(), sums.as_chunks::<8>());
        if sums.len() != count - uniform_count || !extra.is_empty() {
            return Err("it has a wrong length");
        }
        let mut sums = sums.iter();
        let mut offsets = Vec::with_capacity(count + 1);
        let mut end = offset;
        for ((rank, &mask), len) in ranks.into_iter().zip(masks).zip(lens) {
            let content = match len {
                0 => materials
                    .next()
                    .map(|it| EntryContent::Uniform(Material(u16::from_le_bytes(*it)))),
                len => sums
                    .next()
                    .map(|it| EntryContent::Record { len, checksum: u64::from_le_bytes(*it) }),
            };
            let content = content.filter(|_| mask != 0).ok_or("an empty group")?;
            entries.push(Entry { key: GroupKey { level, rank }, mask, content });
            offsets.push(end);
            end = end.saturating_add(len.into());
        }
        offsets.push(end);
        if end - offset != self.record_bytes {
            return Err("its records have another length than the header says");
        }
        Ok(Page { entries, offsets })
    }
}

impl Page {
    /// Returns a group and the range of its record in the file. `None` if all its chunks are air.
    pub(crate) fn find(&self, key: GroupKey) -> Option<(Entry, Range<u64>)> {
        let index = self.entries.binary_search_by_key(&key, |entry| entry.key).ok()?;
        Some((self.entries[index], self.offsets[index]..self.offsets[index + 1]))
    }

    /// The last group.
    pub(crate) fn last(&self) -> Option<GroupKey> {
        self.entries.last().map(|entry| entry.key)
    }

    /// Returns all groups with the ranges of their records in the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Entry, Range<u64>)> {
        let ranges = self.offsets.windows(2).map(|ends| ends[0]..ends[1]);
        self.entries.iter().copied().zip(ranges)
    }

    /// Memory of a group, in bytes.
    pub(crate) const ENTRY_BYTES: usize = size_of::<Entry>() + size_of::<u64>();

    /// Memory of the page, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        self.entries.len() * Self::ENTRY_BYTES
    }
}

#[cfg(test)]
mod tests;
