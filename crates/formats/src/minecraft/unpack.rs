//! Decompression of columns.

use std::io::Read;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use twox_hash::XxHash32;

use super::problems::{damaged, unknown};
use crate::fault::Fault;

/// Maximum decompressed size of a column, in bytes. Ordinary columns take a hundredth.
pub(super) const MAX_COLUMN_BYTES: usize = 64 << 20;

/// Decompresses a column into `bytes`, which must be empty. `method` is the region file's number of
/// the compression method. After an error, `bytes` holds the data up to there.
///
/// # Errors
/// An unknown method, damaged data, or more than `limit_bytes` bytes.
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
        _ => Err(unknown(format!("compressed with unknown method {method}"))),
    }
}

fn too_large(limit_bytes: usize) -> Fault {
    damaged(format!("decompresses to more than {limit_bytes} bytes"))
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
        .map_err(|problem| damaged(format!("{name}: {problem}")))?;
    if bytes.len() > limit_bytes { Err(too_large(limit_bytes)) } else { Ok(()) }
}

/// First bytes of each block in the LZ4 stream of the Java library.
const LZ4_MAGIC: &[u8] = b"LZ4Block";
/// Length of a block's header, in bytes: magic, token, two lengths and a checksum.
const LZ4_HEADER_BYTES: usize = 21;
const LZ4_SEED: u32 = 0x9747_b28c;
/// Maximum decompressed size of a block, in bytes.
const LZ4_MAX_BLOCK_BYTES: usize = 32 << 20;
/// Maximum expansion of LZ4: bytes from one byte.
const LZ4_MAX_RATIO: usize = 255;

/// Decompresses the stream format of the game's Java library: blocks with lengths and checksums,
/// and an empty block at the end. The format differs from the LZ4 frame format.
fn lz4_blocks(mut packed: &[u8], limit_bytes: usize, bytes: &mut Vec<u8>) -> Result<(), Fault> {
    loop {
        let Some((header, rest)) = packed.split_at_checked(LZ4_HEADER_BYTES) else {
            return Err(damaged("ends without its last block"));
        };
        if !header.starts_with(LZ4_MAGIC) {
            return Err(damaged("a block does not begin with \"LZ4Block\""));
        }
        let number =
            |at: usize| header[at..].iter().take(4).rev().fold(0, |n, &b| n << 8 | u32::from(b));
        let (packed_length, length) = (number(9) as usize, number(13) as usize);
        if length == 0 {
            return Ok(());
        }
        let Some((block, rest)) = rest.split_at_checked(packed_length) else {
            let left = rest.len();
            let problem = format!("a block of {packed_length} bytes, but {left} remain");
            return Err(damaged(problem));
        };
        if length > LZ4_MAX_BLOCK_BYTES || length > packed_length.saturating_mul(LZ4_MAX_RATIO) {
            return Err(damaged(format!("{packed_length} bytes claim to be {length}")));
        }
        if bytes.len() + length > limit_bytes {
            return Err(too_large(limit_bytes));
        }
        lz4_block(header[8], block, length, bytes)?;
        let start = bytes.len() - length;
        // The library stores 28 bits of the checksum.
        if XxHash32::oneshot(LZ4_SEED, &bytes[start..]) & 0x0fff_ffff != number(17) {
            return Err(damaged("a block's checksum is wrong"));
        }
        packed = rest;
    }
}

/// Decompresses one block to `length` bytes.
fn lz4_block(token: u8, block: &[u8], length: usize, bytes: &mut Vec<u8>) -> Result<(), Fault> {
    let start = bytes.len();
    match token & 0xf0 {
        0x10 if block.len() == length => bytes.extend_from_slice(block),
        0x20 => {
            bytes.resize(start + length, 0);
            match lz4_flex::block::decompress_into(block, &mut bytes[start..]) {
                Ok(written) if written == length => {}
                Ok(written) => {
                    return Err(damaged(format!("a block of {length} bytes has {written}")));
                }
                Err(problem) => return Err(damaged(problem.to_string())),
            }
        }
        _ => return Err(damaged(format!("a block of unknown kind {token}"))),
    }
    Ok(())
}
