//! Encoding of chunks and materials, for stored and packed worlds.

use twox_hash::XxHash3_64;

pub(crate) mod long;
pub(crate) mod looks;
pub(crate) mod materials;
pub(crate) mod record;
pub(crate) mod zstd;

/// The problem of bytes whose checksum differs from the stored one.
pub(crate) const WRONG_SUM: &str = "its checksum is wrong";

/// Appends a checksum to bytes.
pub(crate) fn sealed(bytes: Vec<u8>) -> Vec<u8> {
    sealed_with(0, bytes)
}

fn sealed_with(seed: u64, mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = XxHash3_64::oneshot_with_seed(seed, &bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The bytes without their checksum; `None` if it is wrong.
pub(crate) fn opened(bytes: &[u8]) -> Option<&[u8]> {
    opened_with(0, bytes)
}

fn opened_with(seed: u64, bytes: &[u8]) -> Option<&[u8]> {
    let (bytes, sum) = bytes.split_last_chunk()?;
    (u64::from_le_bytes(*sum) == XxHash3_64::oneshot_with_seed(seed, bytes)).then_some(bytes)
}
