use std::cell::RefCell;
use std::cmp::Reverse;

use drystone_voxel::{Chunk, Material, StorageKind};
use hashbrown::HashMap;

use super::zstd::Zstd;

/// Records this short gain nothing from being packed.
const PLAIN_BYTES: usize = 48;
/// The longest body: as many materials and runs as voxels.
const MAX_BODY_BYTES: usize = 7 + VOXELS * (2 + 1 + 2 + 1);
/// The longest record: what does not get shorter, or cannot be packed, is written as it is.
pub(super) const MAX_RECORD_BYTES: usize = 1 + MAX_BODY_BYTES;
const VOXELS: usize = (Chunk::SIDE as usize).pow(3);

/// The first byte of a record.
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
/// The first byte of a body, where it is not a number of bits.
const UNIFORM: u8 = 0;
const BRICKS: u8 = 254;
const RUNS: u8 = 255;
/// What a run's byte holds: its length, where it is short, in the low bits, and above them its
/// number, or that this one is too high for it.
const LEN_BITS: u32 = 5;
const LEN_MASK: u32 = (1 << LEN_BITS) - 1;
const FAR: u8 = u8::MAX >> LEN_BITS;

/// What packs and unpacks records, one for each thread.
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

/// Writes a chunk down, as the module's documentation lays out.
///
/// # Cost
/// Below 3 ms for a chunk of terrain (making it, and its larger voxels, included).
pub(super) fn encode(chunk: &Chunk) -> Vec<u8> {
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

/// Reads a chunk of any bytes, or says what is wrong with them.
///
/// # Cost
/// Some 15 µs for a chunk of terrain. Memory: what the longest body takes, once a thread.
pub(super) fn decode(record: &[u8]) -> Result<Chunk, &'static str> {
    match record.split_first() {
        Some((&PLAIN, body)) => read_body(body),
        Some((&ZSTD, packed)) => PACKER.with_borrow_mut(|Packer { zstd, body }| {
            body.clear();
            zstd.unpack(packed, body).ok_or("what is packed does not unpack")?;
            read_body(body)
        }),
        Some(_) => Err("a record of an unknown kind"),
        None => Err("an empty record"),
    }
}

fn write_body(chunk: &Chunk, body: &mut Vec<u8>) {
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

/// The chunk's runs, over the ends of rows.
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

/// The materials, those of most runs first, and the number of each.
fn by_frequency(runs: &[(u32, Material)]) -> (Vec<Material>, HashMap<Material, u16>) {
    let mut counts: HashMap<Material, u32> = HashMap::new();
    runs.iter().for_each(|&(_, material)| *counts.entry(material).or_default() += 1);
    let mut materials: Vec<Material> = counts.keys().copied().collect();
    materials.sort_unstable_by_key(|it| (Reverse(counts.get(it).copied()), *it));
    let numbers = materials.iter().zip(0..).map(|(&material, number)| (material, number)).collect();
    (materials, numbers)
}

fn read_body(body: &[u8]) -> Result<Chunk, &'static str> {
    const SHORT: &str = "it ends too early";
    let (&kind, rest) = body.split_first().ok_or(SHORT)?;
    if kind == BRICKS {
        return Chunk::from_bricks(Chunk::SIDE, rest).ok_or("its bricks are not those of a chunk");
    }
    let (material_count, rest) = take_u16(rest).ok_or(SHORT)?;
    let (materials, rest) = rest.split_at_checked(2 * (material_count + 1)).ok_or(SHORT)?;
    let (run_count, rest) = take_u16(rest).ok_or(SHORT)?;
    let (tokens, rest) = rest.split_at_checked(run_count + 1).ok_or(SHORT)?;
    let (far_count, rest) = take_u16(rest).ok_or(SHORT)?;
    let (far, mut lengths) = rest.split_at_checked(2 * far_count).ok_or(SHORT)?;
    let materials: Vec<Material> = words(materials).map(Material).collect();
    let mut far = words(far);
    // A run of no length is refused, and so is a number that no material has.
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
        .ok_or("its runs are not those of a chunk")?;
    let is_end = lengths.is_empty() && far.next().is_none();
    if is_end { Ok(chunk) } else { Err("there is something behind its end") }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    bytes.as_chunks().0.iter().map(|&it| u16::from_le_bytes(it))
}

fn take_u16(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (&word, rest) = bytes.split_first_chunk()?;
    Some((u16::from_le_bytes(word).into(), rest))
}

/// Seven bits a byte, the lowest first; all but the last have their highest bit set.
fn put_length(mut len: u32, body: &mut Vec<u8>) {
    while len > 0x7f {
        body.push(len as u8 | 0x80);
        len >>= 7;
    }
    body.push(len as u8);
}

/// The same read back, of at most three bytes.
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
    use super::*;
    use drystone_voxel::LocalPos;

    /// Chunks of every storage.
    fn chunks() -> Vec<Chunk> {
        let noise = |kinds: u32| {
            Chunk::from_fn(Chunk::SIDE, |at| {
                let place = u32::from(at.x) * 7 + u32::from(at.y) * 131 + u32::from(at.z) * 911;
                Material((place.wrapping_mul(2_654_435_761) >> 16) as u16 % kinds as u16)
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
    fn what_was_written_is_read_in_the_smallest_storage() {
        for chunk in chunks() {
            let read = decode(&encode(&chunk)).unwrap();
            read.check().unwrap();
            let mut smallest = chunk.clone();
            smallest.compact();
            assert_eq!(read, chunk);
            assert_eq!(read.storage(), smallest.storage());
        }
    }

    #[test]
    fn no_bytes_panic_and_the_ends_are_kept() {
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
                    chunk.check().unwrap();
                }
            }
        }
        let mut long = encode(&Chunk::new(Chunk::SIDE, Material(1)));
        long.push(0);
        assert!(decode(&long).is_err());
        assert!(decode(&[7, 0, 0]).is_err());
    }
}
