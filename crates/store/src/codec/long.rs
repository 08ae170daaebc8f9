//! Compression of long metadata values: length (4 bytes), then the value compressed with `zstd`.
//!
//! The table of Minecraft has ten thousand materials, whose names and shapes take more than a
//! megabyte. They differ little.

use super::zstd::Zstd;

/// Longest value, in bytes, that is not compressed. Programs that know no compressed values read it.
const PLAIN_BYTES: usize = 16 << 10;
/// Longest value, in bytes, that is compressed. So many bytes are allocated for any value that claims
/// to have them.
const MAX_BYTES: usize = 16 << 20;

/// Compresses a long value; `None` if it stays as it is.
pub(crate) fn pack(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() <= PLAIN_BYTES || bytes.len() > MAX_BYTES {
        return None;
    }
    let packed = Zstd::new().pack(bytes)?;
    Some([&(bytes.len() as u32).to_le_bytes(), packed.as_slice()].concat())
}

/// Decompresses what [`pack`] compressed; `None` for other bytes.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    let (len, packed) = bytes.split_first_chunk()?;
    let len = u32::from_le_bytes(*len) as usize;
    if len > MAX_BYTES {
        return None;
    }
    let mut bytes = Vec::with_capacity(len);
    Zstd::new().unpack(packed, &mut bytes)?;
    (bytes.len() == len).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_compressed_and_damaged_ones_refused() {
        let value: Vec<u8> = (0..PLAIN_BYTES as u32 + 1).map(|at| (at / 7) as u8).collect();
        assert_eq!(pack(&value[1..]), None);
        let packed = pack(&value).unwrap();
        assert!(packed.len() < value.len() / 4);
        assert_eq!(unpack(&packed).as_ref(), Some(&value));
        let longest = vec![7; MAX_BYTES];
        assert_eq!(unpack(&pack(&longest).unwrap()).map(|it| it.len()), Some(MAX_BYTES));
        assert_eq!(pack(&[longest, vec![7]].concat()), None);
        for len in [0, 1, 4, 5, packed.len() / 2, packed.len() - 1] {
            assert_eq!(unpack(&packed[..len]), None, "{len}");
        }
        for wrong in [0, value.len() - 1, value.len() + 1, MAX_BYTES + 1, usize::MAX] {
            let claimed = [&(wrong as u32).to_le_bytes(), &packed[4..]].concat();
            assert_eq!(unpack(&claimed), None, "{wrong}");
        }
    }
}
