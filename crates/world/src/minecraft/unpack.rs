//! Compressed columns.

use std::io::Read;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use twox_hash::XxHash32;

use super::fault::Fault;

/// The most that a column may unpack to. Columns of ordinary worlds take a hundredth.
pub(super) const MAX_COLUMN_BYTES: usize = 64 << 20;

/// Appends the bytes of a column to `bytes`, which is empty. Region files number the ways of
/// compression by `method`. After an error, `bytes` holds what was unpacked until then.
///
/// # Errors
/// An unknown number, damaged data, or more than `limit_bytes`.
pub(super) fn unpack(
    method: u8,
    packed: &[u8],
    limit_bytes: usize,
    bytes: &mut Vec<u8>,
) -> Result<(), Fault> {
    match method {
        1 => read_all("gzip", MultiGzDecoder::new(packed), packed, limit_bytes, bytes),
        2 => read_all("zlib", ZlibDecoder::new(packed), packed, limit_bytes, bytes),
        3 if packed.len() > limit_bytes => Err(too_large(limit_bytes)),
        3 => {
            bytes.extend_from_slice(packed);
            Ok(())
        }
        4 => lz4_blocks(packed, limit_bytes, bytes).map_err(|fault| fault.within("LZ4")),
        _ => Err(Fault::unknown(format!("compressed in an unknown way, {method}"))),
    }
}

fn too_large(limit_bytes: usize) -> Fault {
    Fault::damaged(format!("unpacks to more than {limit_bytes} bytes"))
}

fn read_all(
    name: &str,
    decoder: impl Read,
    packed: &[u8],
    limit_bytes: usize,
    bytes: &mut Vec<u8>,
) -> Result<(), Fault> {
    bytes.reserve(packed.len().saturating_mul(8).min(limit_bytes));
    decoder
        .take(limit_bytes as u64 + 1)
        .read_to_end(bytes)
        .map_err(|problem| Fault::damaged(format!("{name}: {problem}")))?;
    if bytes.len() > limit_bytes { Err(too_large(limit_bytes)) } else { Ok(()) }
}

/// What each block of the Java library's LZ4 stream begins with.
const LZ4_MAGIC: &[u8] = b"LZ4Block";
/// The magic, a token, two lengths and a checksum.
const LZ4_HEADER_BYTES: usize = 21;
const LZ4_SEED: u32 = 0x9747_b28c;
/// Blocks hold 32 MiB at most.
const LZ4_MAX_BLOCK_BYTES: usize = 32 << 20;
/// LZ4 makes at most 255 bytes of one.
const LZ4_MAX_RATIO: usize = 255;

/// The stream that the game's Java library writes: blocks, each with lengths and a checksum,
/// and an empty one at the end. (It is not the LZ4 frame format.)
fn lz4_blocks(mut packed: &[u8], limit_bytes: usize, bytes: &mut Vec<u8>) -> Result<(), Fault> {
    loop {
        let Some((header, rest)) = packed.split_at_checked(LZ4_HEADER_BYTES) else {
            return Err(Fault::damaged("ends without its last block"));
        };
        if !header.starts_with(LZ4_MAGIC) {
            return Err(Fault::damaged("a block does not begin with \"LZ4Block\""));
        }
        let number =
            |at: usize| header[at..].iter().take(4).rev().fold(0, |n, &b| n << 8 | u32::from(b));
        let (packed_length, length) = (number(9) as usize, number(13) as usize);
        if length == 0 {
            return Ok(());
        }
        let Some((block, rest)) = rest.split_at_checked(packed_length) else {
            let left = rest.len();
            return Err(Fault::damaged(format!("a block of {packed_length} bytes, {left} left")));
        };
        if length > LZ4_MAX_BLOCK_BYTES || length > packed_length.saturating_mul(LZ4_MAX_RATIO) {
            return Err(Fault::damaged(format!("{packed_length} bytes claim to be {length}")));
        }
        if bytes.len() + length > limit_bytes {
            return Err(too_large(limit_bytes));
        }
        lz4_block(header[8], block, length, bytes)?;
        let start = bytes.len() - length;
        // The library keeps 28 bits.
        if XxHash32::oneshot(LZ4_SEED, &bytes[start..]) & 0x0fff_ffff != number(17) {
            return Err(Fault::damaged("a block's checksum does not fit"));
        }
        packed = rest;
    }
}

/// Appends one block of `length` bytes.
fn lz4_block(token: u8, block: &[u8], length: usize, bytes: &mut Vec<u8>) -> Result<(), Fault> {
    let start = bytes.len();
    match token & 0xf0 {
        0x10 if block.len() == length => bytes.extend_from_slice(block),
        0x20 => {
            bytes.resize(start + length, 0);
            match lz4_flex::block::decompress_into(block, &mut bytes[start..]) {
                Ok(written) if written == length => {}
                Ok(written) => {
                    return Err(Fault::damaged(format!("a block of {length} bytes has {written}")));
                }
                Err(problem) => return Err(Fault::damaged(problem.to_string())),
            }
        }
        _ => return Err(Fault::damaged(format!("a block of an unknown kind, {token}"))),
    }
    Ok(())
}
