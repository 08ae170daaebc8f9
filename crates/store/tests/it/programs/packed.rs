//! Reads bytes as parts of a packed world, for tests and fuzzers. Any input must give valid parts or an
//! error.

use drystone_formats::Source;
use drystone_store::{PackedWorld, fuzzed_packed};

/// Reads bytes as the header of a packed world: as the whole file, and as a header with a right checksum.
/// Returns whether either is valid.
pub(crate) fn packed_header(bytes: &[u8]) -> bool {
    let world = PackedWorld::read(Box::new(bytes.to_vec()), "fuzzed.dsw");
    if let Ok(world) = &world {
        assert_eq!(world.file_bytes(), bytes.len() as u64);
        let check = world.verify().unwrap();
        assert!(!check.damage.is_empty() || check.chunks == world.chunk_count());
    }
    let header = fuzzed_packed::read_header(bytes);
    assert!(
        header.as_ref().is_ok_and(|file_bytes| *file_bytes >= bytes.len() as u64)
            || header.is_err()
    );
    world.is_ok() || header.is_ok()
}

/// Reads bytes as a page of the directory. The first three say how many groups the header claims, and the
/// next four how long their records are. Returns whether the page is valid.
pub(crate) fn packed_directory(bytes: &[u8]) -> bool {
    let Some((claims, page)) = bytes.split_first_chunk::<7>() else { return false };
    let [a, b, c, record_bytes @ ..] = *claims;
    let count = u32::from_le_bytes([a, b, c, 0]);
    let record_bytes = u64::from(u32::from_le_bytes(record_bytes));
    let read = fuzzed_packed::read_page(count, record_bytes, page);
    assert!(read.is_err() || read == Ok((count as usize, record_bytes)));
    read.is_ok()
}

/// Reads bytes as the mask and the record of a group. Returns whether they are valid. Then the chunks are the
/// same after they are written and read again.
pub(crate) fn packed_record(bytes: &[u8]) -> bool {
    let Some((&mask, record)) = bytes.split_first() else { return false };
    let plain = [&[0], record].concat();
    let read = [record, &plain].map(|record| fuzzed_packed::read_group(mask, record));
    for chunks in read.iter().flatten() {
        chunks.iter().flatten().for_each(|chunk| chunk.validate().unwrap());
        let present = chunks.each_ref().map(Option::is_some);
        assert_eq!(present, std::array::from_fn(|at| mask >> at & 1 != 0));
        if let Some((mask, record)) = fuzzed_packed::write_group(chunks) {
            let again = fuzzed_packed::read_group(mask, &record).unwrap();
            assert!(again == *chunks, "other chunks when they are written and read");
        }
    }
    read.iter().any(Result::is_ok)
}
