//! Checks TIFF tags before the decoder uses them.

use std::io::{Read, Seek, SeekFrom};

use crate::fault::{Fault, GET_AGAIN};

/// Size of a value in bytes, by the number of its type.
const TYPE_BYTES: [u64; 19] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];

/// Checks that all values of the first directory fit into a file of `file_bytes` bytes. The decoder allocates
/// memory for as many values as a tag claims. Invalid directories are left to the decoder.
pub(super) fn check(file: &mut (impl Read + Seek), file_bytes: u64) -> Result<(), Fault> {
    let mut start = [0; 4];
    let is_read = file.rewind().and_then(|()| file.read_exact(&mut start)).is_ok();
    let mut reader = Reader { file, big_endian: start.starts_with(b"MM") };
    let long = is_read && start[2..].contains(&43);
    // Offset of the directory's offset, length of the directory's head and of an entry, and size
    // of a value count and of an offset.
    let (start_at, head, entry, word) = if long { (8, 8_u64, 20, 8) } else { (4, 2, 12, 4) };
    let Some(start) = reader.number(start_at, word) else { return Ok(()) };
    let Some(count) = reader.number(start, head as usize) else { return Ok(()) };
    for index in 0..count.min(u64::from(u16::MAX)) {
        let at = start.saturating_add(head + index * entry);
        let mut next = |from, length| reader.number(at.saturating_add(from), length);
        let tag = [next(0, 2), next(2, 2), next(4, word)];
        let [Some(tag), Some(kind), Some(values)] = tag else { return Ok(()) };
        let size = TYPE_BYTES.get(kind as usize).copied().unwrap_or(0);
        if values.saturating_mul(size.max(1)) > file_bytes {
            let problem = format!("claims {values} values in {file_bytes} bytes");
            return Err(Fault::new(format!("tag {tag}"), problem, GET_AGAIN));
        }
    }
    Ok(())
}

struct Reader<'a, F> {
    file: &'a mut F,
    big_endian: bool,
}

impl<F: Read + Seek> Reader<'_, F> {
    /// The number of `length` bytes, 2 to 8, at `offset`; `None` beyond the end of the file.
    fn number(&mut self, offset: u64, length: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        let bytes = bytes.get_mut(..length)?;
        self.file.seek(SeekFrom::Start(offset)).ok()?;
        self.file.read_exact(bytes).ok()?;
        let push = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if self.big_endian {
            bytes.iter().fold(0, push)
        } else {
            bytes.iter().rev().fold(0, push)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn check(bytes: &[u8]) -> Result<(), Fault> {
        super::check(&mut Cursor::new(bytes), bytes.len() as u64)
    }

    #[test]
    fn impossible_value_counts_are_reported() {
        let tag =
            |count: [u8; 4]| [b"MM\0*\0\0\0\x08\0\x01\x01\x11\0\x04", &count[..], &[0; 8]].concat();
        assert!(check(&tag([0, 0, 0, 6])).is_ok());
        let fault = check(&tag([0, 0, 0, 7])).unwrap_err();
        assert_eq!(
            fault.in_file(crate::format::Format::HeightMap, "a.tif").to_string(),
            "a.tif: tag 273: claims 7 values in 26 bytes; the file is incomplete or damaged: copy or download it again"
        );
        assert!(check(&tag([255; 4])).is_err());
        let long = b"II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x11\x01\x04\0";
        assert!(check(&[&long[..], &[255; 8]].concat()).is_err());
        // Cut off, or offsets beyond the end: reported by the decoder.
        for end in 0..18 {
            assert!(check(&tag([255; 4])[..end]).is_ok());
        }
        assert!(check(b"II*\0\xff\xff\xff\xff").is_ok());
        assert!(check(b"II+\0\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff").is_ok());
    }
}
