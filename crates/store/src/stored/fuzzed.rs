//! Entry points for tests and fuzzers. Not part of the public interface.

use drystone_voxel::{Chunk, ChunkPos, MaterialTable};

use super::group::{Group, GroupPos, SLOTS};
use crate::codec::{looks, opened, record, sealed};

/// Encodes a chunk as a record.
pub fn write_record(chunk: &Chunk) -> Vec<u8> {
    record::encode(chunk)
}

/// Decodes a record of arbitrary bytes.
///
/// # Errors
/// Bytes that violate the format.
pub fn read_record(bytes: &[u8]) -> Result<Chunk, &'static str> {
    record::decode(bytes)
}

/// Reads arbitrary bytes, without a checksum, as the face colours and emission of these materials.
///
/// # Errors
/// Bytes that violate the format.
pub fn read_looks(materials: &MaterialTable, bytes: &[u8]) -> Result<MaterialTable, &'static str> {
    looks::read(materials, &sealed(bytes.to_vec()))
}

/// Encodes the face colours and emission of materials, without a checksum; empty if there are none.
pub fn write_looks(materials: &MaterialTable) -> Vec<u8> {
    let bytes = looks::to_bytes(materials).unwrap_or_default();
    opened(&bytes).unwrap_or_default().to_vec()
}

/// Parses a value of arbitrary bytes as the group of chunk 0,0,0. Returns the records with
/// correct checksums.
///
/// # Errors
/// Bytes that violate the format.
pub fn read_value(bytes: &[u8]) -> Result<Vec<&[u8]>, &'static str> {
    let group = Group::parse(GroupPos::of(ChunkPos::new(0, 0, 0)).0, bytes)?;
    Ok((0..SLOTS).filter_map(|slot| group.record(slot)?.ok()).collect())
}

/// Builds the value of the group of chunk 0,0,0 from records.
pub fn write_value(records: &[Vec<u8>]) -> Option<Vec<u8>> {
    let records = std::array::from_fn(|slot| records.get(slot).cloned());
    Group::replaced(GroupPos::of(ChunkPos::new(0, 0, 0)).0, None, &records)
}
