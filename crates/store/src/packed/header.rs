use drystone_formats::Format;
use drystone_voxel::{ChunkBox, ChunkPos};
use twox_hash::XxHash3_128;

use super::directory::{MAX_ENTRY_BYTES, MAX_PAGE_ENTRIES, PageInfo};
use super::key::{GROUP_CHUNKS, GroupKey};
use super::part::{PackPart, PartInfo};
use super::varint;

/// First bytes of every packed world. As in PNG, they reveal a transfer that changed line ends or the
/// highest bits.
const SIGNATURE: [u8; 8] = Format::PACKED_SIGNATURE;
/// Format version that is written, and the newest that is read.
pub(crate) const VERSION: u32 = 1;
/// Maximum length of the header, in bytes. One read of this length therefore gets all of it.
pub(crate) const MAX_HEADER_BYTES: usize = 64 << 10;
/// Length of signature, version, length and checksum, in bytes.
const PREFIX_BYTES: usize = 8 + 4 + 4 + 16;
/// Maximum number of directory pages. Their descriptions fit into the header, whatever their content.
pub(crate) const MAX_PAGES: usize = 1_500;
/// Longest name, in bytes. A longer one is cut.
const MAX_NAME_BYTES: usize = 1 << 10;
/// Maximum length of the materials before they are read, in bytes.
const MAX_MATERIAL_BYTES: u64 = 64 << 20;

/// Header of a packed world. Its checksum covers the checksums of the directory pages, and they cover the
/// checksums of the records. So it identifies the whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) name: String,
    /// Smallest box around all chunks. `None` if there are none.
    pub(crate) extent: Option<ChunkBox>,
    /// Number of chunks of level 0 that are not air.
    pub(crate) chunk_count: u64,
    /// Length of the materials in the file, and their checksum.
    pub(crate) materials: (u64, u64),
    /// All pages of the directory, sorted by their groups.
    pub(crate) pages: Vec<PageInfo>,
    /// `None` for a whole world.
    pub(crate) part: Option<PartInfo>,
}

/// A header that was read, and what is derived from it.
#[derive(Debug)]
pub(crate) struct ParsedHeader {
    pub(crate) header: Header,
    pub(crate) checksum: u128,
    /// Length of the header in the file, in bytes.
    pub(crate) header_bytes: u64,
    /// Offset of each directory page in the file, and of its first record.
    pub(crate) offsets: Vec<(u64, u64)>,
    /// Length of the file, in bytes.
    pub(crate) file_bytes: u64,
}

/// Reason why a header cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderError {
    /// The bytes are of another format.
    Other,
    /// The file has this newer version.
    Newer(u32),
    Damaged(&'static str),
}

impl Header {
    /// Encodes the header. `pages` has at most [`MAX_PAGES`] elements.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(self.chunk_count.to_le_bytes());
        let corners = self
            .extent
            .map_or([0; 6], |ChunkBox { min, max }| [min.x, min.y, min.z, max.x, max.y, max.z]);
        body.extend(corners.iter().flat_map(|corner| corner.to_le_bytes()));
        let name_len = (0..=self.name.len().min(MAX_NAME_BYTES)).rev();
        let name = name_len.into_iter().find_map(|len| self.name.get(..len)).unwrap_or_default();
        varint::put(name.len() as u128, &mut body);
        body.extend(name.as_bytes());
        varint::put(self.materials.0.into(), &mut body);
        body.extend(self.materials.1.to_le_bytes());
        varint::put(self.pages.len() as u128, &mut body);
        for page in &self.pages {
            body.push(page.first.level);
            varint::put(page.first.rank, &mut body);
            varint::put(page.count.into(), &mut body);
            varint::put(page.page_bytes.into(), &mut body);
            varint::put(page.record_bytes.into(), &mut body);
            body.extend(page.checksum.to_le_bytes());
        }
        if let Some(PartInfo { part, source }) = self.part {
            varint::put(part.index().into(), &mut body);
            varint::put(part.count().into(), &mut body);
            body.extend(source.to_le_bytes());
        }
        let len = (PREFIX_BYTES + body.len()) as u32;
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(len.to_le_bytes());
        bytes.extend(XxHash3_128::oneshot(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }
}

impl ParsedHeader {
    /// Parses arbitrary bytes as the beginning of a packed world. They may be longer than the header.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let damaged = HeaderError::Damaged;
        const SHORT: HeaderError = HeaderError::Damaged("the file ends in its header");
        if !bytes.starts_with(&SIGNATURE) {
            return Err(HeaderError::Other);
        }
        let prefix: &[u8; PREFIX_BYTES] = bytes.first_chunk().ok_or(SHORT)?;
        let word = |at: usize| {
            u32::from_le_bytes([prefix[at], prefix[at + 1], prefix[at + 2], prefix[at + 3]])
        };
        if word(8) > VERSION {
            return Err(HeaderError::Newer(word(8)));
        }
        let len = word(12) as usize;
        if word(8) == 0 || !(PREFIX_BYTES..=MAX_HEADER_BYTES).contains(&len) {
            return Err(damaged("its version or length is wrong"));
        }
        let mut sum = [0; 16];
        sum.copy_from_slice(&prefix[16..]);
        let body = bytes.get(PREFIX_BYTES..len).ok_or(SHORT)?;
        let checksum = u128::from_le_bytes(sum);
        if XxHash3_128::oneshot(body) != checksum {
            return Err(damaged(crate::codec::WRONG_SUM));
        }
        let header = read(body).ok_or(damaged("it ends too early, or a number is too large"))?;
        Self::of(header, checksum, len as u64).map_err(damaged)
    }

    /// Parses a header like [`parse`](Self::parse), but with any checksum.
    pub(super) fn of_body(body: &[u8]) -> Result<Self, &'static str> {
        let header = read(body).ok_or("it ends too early, or a number is too large")?;
        Self::of(header, 0, (PREFIX_BYTES + body.len()) as u64)
    }

    /// Derives the offsets. They follow from lengths alone, so none can be outside of the file.
    fn of(header: Header, checksum: u128, header_bytes: u64) -> Result<Self, &'static str> {
        const TOO_LONG: &str = "its lengths are larger than a file can be";
        let mut place = header_bytes.checked_add(header.materials.0).ok_or(TOO_LONG)?;
        let mut page_offsets = Vec::with_capacity(header.pages.len());
        for page in &header.pages {
            page_offsets.push(place);
            place = place.checked_add(page.page_bytes.into()).ok_or(TOO_LONG)?;
        }
        let mut offsets = Vec::with_capacity(header.pages.len());
        for (page, page_offset) in header.pages.iter().zip(page_offsets) {
            offsets.push((page_offset, place));
            place = place.checked_add(page.record_bytes).ok_or(TOO_LONG)?;
        }
        let are_sorted = header.pages.is_sorted_by(|a, b| a.first < b.first);
        let are_valid = header.pages.iter().all(|page| {
            let max_bytes = 1 + u64::from(page.count) * MAX_ENTRY_BYTES as u64;
            (1..=MAX_PAGE_ENTRIES).contains(&page.count)
                && (1..=max_bytes).contains(&page.page_bytes.into())
                && page.first.is_valid()
        });
        if !are_sorted || !are_valid {
            return Err("its directory pages are not in order");
        }
        if header.materials.0 > MAX_MATERIAL_BYTES {
            return Err("its materials are too long");
        }
        let lowest = header.pages.iter().filter(|page| page.first.level == 0);
        let group_count: u64 = lowest.map(|page| u64::from(page.count)).sum();
        let counts = group_count..=group_count * GROUP_CHUNKS as u64;
        if !counts.contains(&header.chunk_count)
            || header.extent.is_some() != (header.chunk_count > 0)
        {
            return Err("its number of chunks does not fit its directory");
        }
        Ok(Self { header, checksum, header_bytes, offsets, file_bytes: place })
    }

    /// Index of the page that has `key`, if any page has it.
    pub(crate) fn page_of(&self, key: GroupKey) -> Option<usize> {
        let pages = &self.header.pages;
        let index = pages.partition_point(|page| page.first <= key).checked_sub(1)?;
        (pages[index].first.level == key.level).then_some(index)
    }

    /// Range of the materials in the file.
    pub(crate) fn materials_range(&self) -> std::ops::Range<u64> {
        self.header_bytes..self.header_bytes + self.header.materials.0
    }

    /// Range of a directory page in the file.
    pub(crate) fn page_range(&self, index: usize) -> std::ops::Range<u64> {
        let start = self.offsets[index].0;
        start..start + u64::from(self.header.pages[index].page_bytes)
    }

    /// Number of bytes of header, materials and directory. The records follow.
    pub(crate) fn front_bytes(&self) -> u64 {
        self.offsets.first().map_or(self.file_bytes, |(_, records)| *records)
    }
}

fn read(body: &[u8]) -> Option<Header> {
    let mut rest = body;
    let mut fixed = |len: usize| {
        let (taken, after) = rest.split_at_checked(len)?;
        rest = after;
        Some(taken)
    };
    let chunk_count = u64::from_le_bytes(fixed(8)?.try_into().ok()?);
    let corners = fixed(24)?.as_chunks::<4>().0;
    let corner = |n: usize| i32::from_le_bytes(corners[n]);
    let [min, max] = [0, 3].map(|n| ChunkPos::new(corner(n), corner(n + 1), corner(n + 2)));
    let is_box = min.x <= max.x && min.y <= max.y && min.z <= max.z;
    let extent = (chunk_count > 0).then_some(ChunkBox { min, max });
    let name_len = usize::try_from(varint::take(&mut rest)?).ok()?;
    let (name, after) = rest.split_at_checked(name_len).filter(|_| is_box)?;
    rest = after;
    let material_bytes = varint::take(&mut rest)?.try_into().ok()?;
    let (sum, after) = rest.split_first_chunk()?;
    rest = after;
    let materials = (material_bytes, u64::from_le_bytes(*sum));
    let page_count = varint::take(&mut rest).filter(|count| *count <= MAX_PAGES as u128)?;
    let mut pages = Vec::with_capacity(page_count as usize);
    for _ in 0..page_count {
        let (&level, after) = rest.split_first()?;
        rest = after;
        let first = GroupKey { level, rank: varint::take(&mut rest)? };
        let count = varint::take(&mut rest)?.try_into().ok()?;
        let page_bytes = varint::take(&mut rest)?.try_into().ok()?;
        let record_bytes = varint::take(&mut rest)?.try_into().ok()?;
        let (sum, after) = rest.split_first_chunk()?;
        rest = after;
        pages.push(PageInfo {
            first,
            count,
            page_bytes,
            checksum: u64::from_le_bytes(*sum),
            record_bytes,
        });
    }
    let name = std::str::from_utf8(name).ok()?.to_owned();
    let part = if rest.is_empty() { None } else { Some(read_part(&mut rest)?) };
    rest.is_empty().then_some(Header { name, extent, chunk_count, materials, pages, part })
}

fn read_part(rest: &mut &[u8]) -> Option<PartInfo> {
    let index = varint::take(rest)?.try_into().ok()?;
    let part = PackPart::new(index, varint::take(rest)?.try_into().ok()?)?;
    let (source, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(PartInfo { part, source: u64::from_le_bytes(*source) })
}

#[cfg(test)]
mod tests;
