use std::cell::RefCell;

use drystone_voxel::{Chunk, Material};
use twox_hash::XxHash3_64;

use super::key::{GROUP_CHUNKS, GroupKey};
use super::varint;
use crate::codec::record::{self, MAX_BODY_BYTES};
use crate::codec::zstd::Zstd;

/// The eight chunks of a group, by their index in the parent. `None` is air, also in all chunks below it.
pub(crate) type Chunks = [Option<Chunk>; GROUP_CHUNKS];

/// First byte of a record.
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
/// Longest content of a record before compression, in bytes.
const MAX_CONTENT_BYTES: usize = GROUP_CHUNKS * (varint::MAX_U32_BYTES + MAX_BODY_BYTES);
/// Longest record, in bytes. Incompressible content is written uncompressed.
pub(crate) const MAX_RECORD_BYTES: usize = 1 + MAX_CONTENT_BYTES;
/// Compression level. Level 19 makes land 3 % smaller and takes three times the time. A dictionary trained
/// with a quarter of the records makes land 2 % smaller, and all parts of a merged world would need it.
const LEVEL: i32 = 13;

/// An encoded group.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// A bit for each chunk that is present.
    pub(crate) mask: u8,
    pub(crate) content: Content,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// All chunks consist of this material. Such a group has no record.
    Uniform(Material),
    /// The record with all chunks.
    Record(Vec<u8>),
}

/// Compression state and buffer of one thread.
struct Packer {
    zstd: Zstd,
    content: Vec<u8>,
    body: Vec<u8>,
}

thread_local! {
    static PACKER: RefCell<Packer> = RefCell::new(Packer {
        zstd: Zstd::new(),
        content: Vec::with_capacity(MAX_CONTENT_BYTES),
        body: Vec::new(),
    });
}

/// Encodes a group. Returns `None` if it has no chunk. A LOD chunk that is all air is present if a chunk
/// below it is not: thin blocks such as plants are left out of LOD voxels.
///
/// # Cost
/// About 2 ms for a group of terrain. Memory: 1.5 MiB for each thread that encodes or decodes.
pub(crate) fn encode(chunks: &Chunks) -> Option<Encoded> {
    let mask = chunks.iter().rev().fold(0, |mask, chunk| mask << 1 | u8::from(chunk.is_some()));
    let mut present = chunks.iter().flatten();
    let first = present.clone().next()?.uniform();
    if let Some(material) = first
        && present.all(|chunk| chunk.uniform() == first)
    {
        return Some(Encoded { mask, content: Content::Uniform(material) });
    }
    let present = chunks.iter().flatten();
    let record = PACKER.with_borrow_mut(|Packer { zstd, content, body }| {
        content.clear();
        for chunk in present {
            body.clear();
            record::write_body(chunk, body);
            varint::put(body.len() as u128, content);
            content.extend_from_slice(body);
        }
        match zstd.pack_at(LEVEL, content) {
            Some(packed) => [&[ZSTD], packed.as_slice()].concat(),
            None => [&[PLAIN], content.as_slice()].concat(),
        }
    });
    Some(Encoded { mask, content: Content::Record(record) })
}

/// Decodes the record of a group whose chunks in `mask` are not air, or returns the problem of
/// arbitrary bytes.
///
/// # Cost
/// About 0.1 ms for a group of terrain.
pub(crate) fn decode(mask: u8, record: &[u8]) -> Result<Chunks, &'static str> {
    match record.split_first() {
        Some((&PLAIN, content)) => read(mask, content),
        Some((&ZSTD, packed)) => PACKER.with_borrow_mut(|Packer { zstd, content, .. }| {
            content.clear();
            zstd.unpack(packed, content).ok_or("the compressed data is damaged")?;
            read(mask, content)
        }),
        Some(_) => Err("a record of an unknown kind"),
        None => Err("an empty record"),
    }
}

fn read(mask: u8, content: &[u8]) -> Result<Chunks, &'static str> {
    const SHORT: &str = "it ends too early";
    let mut rest = content;
    let mut chunks = [const { None }; GROUP_CHUNKS];
    let present = chunks.iter_mut().enumerate().filter(|(index, _)| mask >> index & 1 != 0);
    for (_, chunk) in present {
        let len = varint::take(&mut rest).and_then(|len| usize::try_from(len).ok()).ok_or(SHORT)?;
        let (body, after) = rest.split_at_checked(len).ok_or(SHORT)?;
        *chunk = Some(record::read_body(body)?);
        rest = after;
    }
    if rest.is_empty() { Ok(chunks) } else { Err("extra bytes after its end") }
}

/// The chunks of a group without a record.
pub(crate) fn uniform(mask: u8, material: Material) -> Chunks {
    let chunk = Chunk::new(Chunk::SIDE, material);
    std::array::from_fn(|index| (mask >> index & 1 != 0).then(|| chunk.clone()))
}

/// Checksum of a record. It covers the position of the group too, which detects a record at the
/// wrong position.
pub(crate) fn checksum(key: GroupKey, record: &[u8]) -> u64 {
    let seed =
        key.rank as u64 ^ ((key.rank >> 64) as u64).rotate_left(32) ^ u64::from(key.level) << 58;
    XxHash3_64::oneshot_with_seed(seed, record)
}

#[cfg(test)]
mod tests {
    use drystone_voxel::{ChunkPos, LocalPos, NodePos};

    use super::*;

    fn hills(seed: u8) -> Chunk {
        Chunk::from_fn(Chunk::SIDE, |at| {
            let height = seed + at.x / 5 + at.z / 7 + (at.x ^ at.z) % 3;
            Material(if at.y < height { 1 + u16::from(at.y + at.x / 9) % 9 } else { 0 })
        })
    }

    fn noise(kinds: u32) -> Chunk {
        Chunk::from_fn(Chunk::SIDE, |at| {
            let at = u32::from(at.x) * 7 + u32::from(at.y) * 131 + u32::from(at.z) * 911;
            Material((at.wrapping_mul(2_654_435_761) >> 16) as u16 % kinds as u16)
        })
    }

    fn groups() -> Vec<Chunks> {
        let air = || Some(Chunk::new(Chunk::SIDE, Material::AIR));
        let solid = |material| Some(Chunk::new(Chunk::SIDE, Material(material)));
        let mut dot = Chunk::new(Chunk::SIDE, Material::AIR);
        dot.set(LocalPos::new(31, 0, 4), Material(9));
        vec![
            std::array::from_fn(|index| (index % 3 != 0).then(|| hills(index as u8))),
            std::array::from_fn(|_| Some(noise(60_000))),
            [const { None }; GROUP_CHUNKS].map(|_: Option<Chunk>| solid(7)),
            [None, None, None, None, None, None, None, solid(7)],
            [solid(7), solid(8), air(), None, None, None, None, None],
            [None, None, Some(dot), None, air(), None, None, None],
            [None, air(), None, None, air(), None, None, None],
        ]
    }

    #[test]
    fn groups_are_read_back() {
        for chunks in groups() {
            let encoded = encode(&chunks).unwrap();
            let read = match &encoded.content {
                Content::Uniform(material) => uniform(encoded.mask, *material),
                Content::Record(record) => decode(encoded.mask, record).unwrap(),
            };
            for (written, read) in chunks.into_iter().zip(read) {
                assert_eq!(written, read);
            }
        }
        assert_eq!(encode(&[const { None }; GROUP_CHUNKS]), None);
    }

    #[test]
    fn groups_of_one_material_have_no_record() {
        let is_uniform = |chunks| matches!(encode(chunks).unwrap().content, Content::Uniform(_));
        let found: Vec<bool> = groups().iter().map(is_uniform).collect();
        assert_eq!(found, [false, false, true, true, false, false, true]);
    }

    #[test]
    fn damaged_records_are_refused_without_a_panic() {
        for chunks in groups() {
            let Encoded { mask, content: Content::Record(record) } = encode(&chunks).unwrap()
            else {
                continue;
            };
            let step = (record.len() / 60).max(1);
            for at in (0..record.len()).step_by(step) {
                assert!(decode(mask, &record[..at]).is_err(), "{at} of {}", record.len());
                let mut wrong = record.clone();
                wrong[at] ^= 0x41;
                for chunk in decode(mask, &wrong).into_iter().flatten().flatten() {
                    chunk.validate().unwrap();
                }
            }
            assert!(decode(mask ^ 1 << 7, &record).is_err());
            assert!(decode(mask, &[record.as_slice(), &[0]].concat()).is_err());
        }
    }

    #[test]
    fn a_checksum_covers_the_position() {
        let key = |level, x| GroupKey::of(NodePos::new(level, ChunkPos::new(x, 0, 0))).0;
        let sum = |level, x| checksum(key(level, x), &[1, 2, 3]);
        let sums = [sum(0, 0), sum(0, 2), sum(1, 0), sum(0, 1 << 25), sum(0, -2)];
        assert!((0..5).all(|a| (0..a).all(|b| sums[a] != sums[b])));
        assert_eq!(sum(0, 0), sum(0, 1), "of one group");
    }
}
