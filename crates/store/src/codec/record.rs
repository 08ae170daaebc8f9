use std::cell::RefCell;
use std::cmp::Reverse;

use drystone_voxel::{Chunk, Material, StorageKind};
use hashbrown::HashMap;

use super::zstd::Zstd;

/// Bodies up to this length, in bytes, are not worth compressing.
const PLAIN_BYTES: usize = 48;
/// Longest body, in bytes: one material and one run per voxel.
pub(crate) const MAX_BODY_BYTES: usize = 7 + VOXELS * (2 + 1 + 2 + 1);
/// Longest record, in bytes. Incompressible bodies are written uncompressed.
pub(crate) const MAX_RECORD_BYTES: usize = 1 + MAX_BODY_BYTES;
const VOXELS: usize = (Chunk::SIDE as usize).pow(3);

/// First byte of a record.
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
/// First byte of a body, if it is no number of bits.
const UNIFORM: u8 = 0;
const BRICKS: u8 = 254;
const RUNS: u8 = 255;
/// Layout of a run's byte: a short length in the low bits, the index of the material above. [`FAR`]
/// means that the index is in a list of its own.
const LEN_BITS: u32 = 5;
const LEN_MASK: u32 = (1 << LEN_BITS) - 1;
const FAR: u8 = u8::MAX >> LEN_BITS;

/// Compression state and buffer of one thread.
struct Packer {
    zstd: Zstd,
    body: Vec<u8>,
}

thread_local! {
    static PACKER: RefCell<Packer> = RefCell::new(Packer::new());
}

impl Packer {
    fn new() -> Self {
        Self { zstd: Zstd::new(), body: Vec::with_capacity(MAX_BODY_BYTES) }
    }
}

/// Encodes a chunk as a record. [`StoredWorld`](super::StoredWorld) documents the format.
///
/// # Cost
/// Below 3 ms for a chunk of terrain, including generating the chunk and its LOD chunks.
pub(crate) fn encode(chunk: &Chunk) -> Vec<u8> {
    PACKER.with_borrow_mut(|Packer { zstd, body }| {
        body.clear();
        write_body(chunk, body);
        if body.len() > PLAIN_BYTES
            && let Some(packed) = zstd.pack(body)
        {
            return [&[ZSTD], packed.as_slice()].concat();
        }
        [&[PLAIN], body.as_slice()].concat()
    })
}

/// Decodes a chunk from arbitrary bytes, or returns what is wrong with them.
///
/// # Cost
/// About 15 µs for a chunk of terrain. Memory: the longest body, once per thread.
pub(crate) fn decode(record: &[u8]) -> Result<Chunk, &'static str> {
    match record.split_first() {
        Some((&PLAIN, body)) => read_body(body),
        Some((&ZSTD, packed)) => PACKER.with_borrow_mut(|Packer { zstd, body }| {
            body.clear();
            zstd.unpack(packed, body).ok_or("the compressed data is damaged")?;
            read_body(body)
        }),
        Some(_) => Err("a record of an unknown kind"),
        None => Err("an empty record"),
    }
}

/// Appends the body of a record.
pub(crate) fn write_body(chunk: &Chunk, body: &mut Vec<u8>) {
    let mut chunk = chunk.snapshot();
    chunk.compact();
    body.push(BRICKS);
    if chunk.write_bricks(body) {
        return;
    }
    body.clear();
    let runs = runs_of(&chunk);
    let (materials, numbers) = by_frequency(&runs);
    body.push(match chunk.storage() {
        StorageKind::Uniform => UNIFORM,
        StorageKind::Palette { bits } => bits as u8,
        StorageKind::Bricks => BRICKS,
        StorageKind::Runs => RUNS,
    });
    body.extend(((materials.len() - 1) as u16).to_le_bytes());
    body.extend(materials.iter().flat_map(|material| material.0.to_le_bytes()));
    body.extend(((runs.len() - 1) as u16).to_le_bytes());
    let number = |material| numbers.get(&material).copied().unwrap_or_default();
    body.extend(runs.iter().map(|&(len, material)| {
        let len = if len <= LEN_MASK { len as u8 } else { 0 };
        (number(material).min(FAR.into()) as u8) << LEN_BITS | len
    }));
    let far = runs.iter().map(|&(_, it)| number(it)).filter(|&number| number >= FAR.into());
    let far: Vec<u16> = far.collect();
    body.extend((far.len() as u16).to_le_bytes());
    body.extend(far.iter().flat_map(|number| number.to_le_bytes()));
    let long = runs.iter().filter(|(len, _)| *len > LEN_MASK);
    long.for_each(|&(len, _)| put_length(len, body));
}

/// The runs of a chunk. Runs continue over the ends of rows.
fn runs_of(chunk: &Chunk) -> Vec<(u32, Material)> {
    let mut runs: Vec<(u32, Material)> = Vec::new();
    chunk.for_each_row(|_, _, row| {
        for run in row.chunk_by(PartialEq::eq) {
            match runs.last_mut() {
                Some(last) if last.1 == run[0] => last.0 += run.len() as u32,
                _ => runs.push((run.len() as u32, run[0])),
            }
        }
    });
    runs
}

/// The materials, sorted by number of runs, and the index of each.
fn by_frequency(runs: &[(u32, Material)]) -> (Vec<Material>, HashMap<Material, u16>) {
    let mut counts: HashMap<Material, u32> = HashMap::new();
    runs.iter().for_each(|&(_, material)| *counts.entry(material).or_default() += 1);
    let mut materials: Vec<Material> = counts.keys().copied().collect();
    materials.sort_unstable_by_key(|it| (Reverse(counts.get(it).copied()), *it));
    let numbers = materials.iter().zip(0..).map(|(&material, number)| (material, number)).collect();
    (materials, numbers)
}

/// Decodes the body of a record from arbitrary bytes, or returns what is wrong with them.
pub(crate) fn read_body(body: &[u8]) -> Result<Chunk, &'static str> {
    const SHORT: &str = "it ends too early";
    let (&kind, rest) = body.split_first().ok_or(SHORT)?;
    if kind == BRICKS {
        return Chunk::from_bricks(Chunk::SIDE, rest).ok_or("its bricks do not form a chunk");
    }
    let (material_count, rest) = take_u16(rest).ok_or(SHORT)?;
    let (materials, rest) = rest.split_at_checked(2 * (material_count + 1)).ok_or(SHORT)?;
    let (run_count, rest) = take_u16(rest).ok_or(SHORT)?;
    let (tokens, rest) = rest.split_at_checked(run_count + 1).ok_or(SHORT)?;
    let (far_count, rest) = take_u16(rest).ok_or(SHORT)?;
    let (far, mut lengths) = rest.split_at_checked(2 * far_count).ok_or(SHORT)?;
    let materials: Vec<Material> = words(materials).map(Material).collect();
    let mut far = words(far);
    // `Chunk::from_runs` refuses runs of length 0 and unknown material indices.
    let runs = tokens.iter().map(|&token| {
        let number = usize::from(token >> LEN_BITS);
        let number = match number == usize::from(FAR) {
            true => far.next().map_or(usize::MAX, usize::from),
            false => number,
        };
        match u32::from(token) & LEN_MASK {
            0 => (take_length(&mut lengths).unwrap_or(0), number),
            len => (len, number),
        }
    });
    let storage = match kind {
        UNIFORM => StorageKind::Uniform,
        RUNS => StorageKind::Runs,
        bits => StorageKind::Palette { bits: bits.into() },
    };
    let chunk = Chunk::from_runs(Chunk::SIDE, &materials, runs, storage)
        .ok_or("its runs do not form a chunk")?;
    let is_end = lengths.is_empty() && far.next().is_none();
    if is_end { Ok(chunk) } else { Err("extra bytes after its end") }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.as_chunks().0.iter().map(|&it| u16::from_le_bytes(it))
}

fn take_u16(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (&word, rest) = bytes.split_first_chunk()?;
    Some((u16::from_le_bytes(word).into(), rest))
}

/// Appends a length, seven bits per byte, lowest first. All bytes but the last have bit 7 set.
fn put_length(mut len: u32, body: &mut Vec<u8>) {
    while len > 0x7f {
        body.push(len as u8 | 0x80);
        len >>= 7;
    }
    body.push(len as u8);
}

/// Reads a length of at most three bytes, as written by [`put_length`].
#[inline]
fn take_length(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(first.into());
    }
    let mut len = u32::from(first & 0x7f);
    for shift in [7, 14] {
        let (&next, rest) = bytes.split_first()?;
        *bytes = rest;
        len |= u32::from(next & 0x7f) << shift;
        if next < 0x80 {
            return Some(len);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use drystone_voxel::LocalPos;

    use super::*;

    /// Chunks of every storage kind.
    fn chunks() -> Vec<Chunk> {
        let noise = |kinds: u32| {
            Chunk::from_fn(Chunk::SIDE, |at| {
                let at = u32::from(at.x) * 7 + u32::from(at.y) * 131 + u32::from(at.z) * 911;
                Material((at.wrapping_mul(2_654_435_761) >> 16) as u16 % kinds as u16)
            })
        };
        let layers =
            |count: u8| Chunk::from_fn(Chunk::SIDE, |at| Material(u16::from(at.z / count) * 300));
        let mut edited = layers(3);
        edited.set(LocalPos::new(3, 4, 5), Material(65_535));
        let hills = |kinds: u16| {
            Chunk::from_fn(Chunk::SIDE, |at| {
                let height = 9 + at.x / 5 + at.z / 7 + (at.x ^ at.z) % 3;
                Material(if at.y < height { 1 + u16::from(at.y + at.x / 9) % kinds } else { 0 })
            })
        };
        vec![
            hills(1),
            hills(9),
            Chunk::new(Chunk::SIDE, Material::AIR),
            Chunk::new(Chunk::SIDE, Material(65_535)),
            noise(2),
            noise(3),
            noise(16),
            noise(256),
            noise(257),
            noise(30_000),
            layers(1),
            layers(16),
            edited,
        ]
    }

    #[test]
    fn decoded_chunks_are_equal_and_in_the_smallest_storage() {
        for chunk in chunks() {
            let read = decode(&encode(&chunk)).unwrap();
            read.validate().unwrap();
            let mut smallest = chunk.clone();
            smallest.compact();
            assert_eq!(read, chunk);
            assert_eq!(read.storage(), smallest.storage());
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic_and_extra_bytes_are_refused() {
        for chunk in chunks() {
            let record = encode(&chunk);
            let step = (record.len() / 200).max(1);
            for len in (0..record.len()).step_by(step) {
                assert!(decode(&record[..len]).is_err(), "{len} of {}", record.len());
            }
            for at in (0..record.len()).step_by(step) {
                let mut wrong = record.clone();
                wrong[at] ^= 0x41;
                if let Ok(chunk) = decode(&wrong) {
                    chunk.validate().unwrap();
                }
            }
        }
        let mut long = encode(&Chunk::new(Chunk::SIDE, Material(1)));
        long.push(0);
        assert!(decode(&long).is_err());
        assert!(decode(&[7, 0, 0]).is_err());
    }
}
