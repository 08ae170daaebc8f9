//! Entry points for tests and fuzzers. Not part of the public interface.

use drystone_voxel::{Chunk, NodePos};

use super::directory::PageInfo;
use super::group::{self, Content, Encoded};
use super::header::ParsedHeader;
use super::key::GroupKey;

/// Encodes a group as a mask and a record. `None` if it has no record.
pub fn write_group(chunks: &[Option<Chunk>; 8]) -> Option<(u8, Vec<u8>)> {
    match group::encode(chunks)? {
        Encoded { mask, content: Content::Record(record) } => Some((mask, record)),
        Encoded { content: Content::Uniform(_), .. } => None,
    }
}

/// Decodes arbitrary bytes as the record of a group with this mask.
///
/// # Errors
/// Bytes that violate the format.
pub fn read_group(mask: u8, record: &[u8]) -> Result<[Option<Chunk>; 8], &'static str> {
    group::decode(mask, record)
}

/// Parses arbitrary bytes as a header without signature and checksum, and returns the length of the file.
///
/// # Errors
/// Bytes that violate the format.
pub fn read_header(body: &[u8]) -> Result<u64, &'static str> {
    ParsedHeader::of_body(body).map(|parsed| parsed.file_bytes)
}

/// Decodes arbitrary bytes as a directory page of `count` groups, whatever their checksum, and returns the
/// number of its groups and the end of its last record.
///
/// # Errors
/// Bytes that violate the format.
pub fn read_page(count: u32, record_bytes: u64, page: &[u8]) -> Result<(usize, u64), &'static str> {
    let first = GroupKey::of(NodePos::default()).0;
    let page_bytes = page.len() as u32;
    let info = PageInfo { first, count, page_bytes, checksum: 0, record_bytes };
    let page = info.decode_unchecked(page, 0)?;
    Ok((page.iter().count(), page.iter().last().map_or(0, |(_, range)| range.end)))
}
