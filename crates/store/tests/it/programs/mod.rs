//! Reads bytes as chunks of a stored world, for tests and fuzzers. Any input must give valid chunks or
//! an error.

pub(crate) mod packed;

use drystone_store::fuzzed;
use drystone_voxel::{Chunk, MaterialTable};

/// Reads bytes as a record of a stored world, as uncompressed content of one, and as a value of
/// eight chunks. Returns whether any contained a chunk.
pub(crate) fn stored_chunk(bytes: &[u8]) -> bool {
    const PLAIN: u8 = 0;
    let body = [&[PLAIN], bytes].concat();
    let values = fuzzed::read_value(bytes).unwrap_or_default();
    let records = [bytes, &body].into_iter().chain(values);
    records.map(fuzzed::read_record).filter(|read| read.as_ref().is_ok_and(is_whole)).count() > 0
}

/// Reads bytes as the face colours and emission of materials. Returns whether they are valid. Then they
/// are the same after they are written and read again.
pub(crate) fn stored_looks(bytes: &[u8]) -> bool {
    let mut materials = MaterialTable::new();
    (0..300).for_each(|_| _ = materials.insert("", [7; 4]));
    let Ok(read) = fuzzed::read_looks(&materials, bytes) else { return false };
    assert_eq!(read.len(), materials.len());
    let written = fuzzed::write_looks(&read);
    assert!(written.len() <= bytes.len());
    assert!(written.is_empty() || fuzzed::read_looks(&materials, &written) == Ok(read));
    true
}

/// Whether a chunk is valid, stays within its memory limit, and is the same after it is written and
/// read again.
fn is_whole(chunk: &Chunk) -> bool {
    chunk.validate().unwrap();
    assert_eq!(chunk.side(), Chunk::SIDE);
    // Runs of one voxel each, at six bytes.
    assert!(chunk.size_bytes() < 7 * 32 * 32 * 32, "{} bytes", chunk.size_bytes());
    let record = fuzzed::write_record(chunk);
    let again = fuzzed::read_record(&record).unwrap();
    assert!(again == *chunk, "it is another chunk when it is written and read");
    let value = fuzzed::write_value(std::slice::from_ref(&record)).unwrap();
    assert_eq!(fuzzed::read_value(&value), Ok(vec![&record[..]]));
    true
}
