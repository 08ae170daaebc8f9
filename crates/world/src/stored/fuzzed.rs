use drystone_voxel::{Chunk, ChunkPos};

use super::StoredWorld;
use super::group::{Group, GroupPos, SLOTS};
use super::record;

/// What tests and fuzzers hand any bytes to; not for others.
#[doc(hidden)]
impl StoredWorld {
    /// A chunk's record, as it is kept.
    pub fn write_record(chunk: &Chunk) -> Vec<u8> {
        record::encode(chunk)
    }

    /// The chunk of a record of any bytes, or what is wrong with them.
    ///
    /// # Errors
    /// What does not follow the format.
    pub fn read_record(bytes: &[u8]) -> Result<Chunk, &'static str> {
        record::decode(bytes)
    }

    /// The records of a value of any bytes whose checksums are right for the group of chunk
    /// 0,0,0.
    ///
    /// # Errors
    /// What does not follow the format.
    pub fn read_value(bytes: &[u8]) -> Result<Vec<&[u8]>, &'static str> {
        let group = Group::parse(GroupPos::of(ChunkPos::new(0, 0, 0)).0, bytes)?;
        Ok((0..SLOTS).filter_map(|slot| group.record(slot)?.ok()).collect())
    }

    /// The value of these records, in that group.
    pub fn write_value(records: &[Vec<u8>]) -> Option<Vec<u8>> {
        let records = std::array::from_fn(|slot| records.get(slot).cloned());
        Group::replaced(GroupPos::of(ChunkPos::new(0, 0, 0)).0, None, &records)
    }
}
