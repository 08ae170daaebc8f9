//! Creates region files in every format of the game.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

/// An NBT value with its tag.
pub(crate) struct Value(pub(crate) u8, pub(crate) Vec<u8>);

pub(crate) fn byte(n: i8) -> Value {
    Value(1, n.to_be_bytes().to_vec())
}

pub(crate) fn int(n: i32) -> Value {
    Value(3, n.to_be_bytes().to_vec())
}

pub(crate) fn text(text: &str) -> Value {
    Value(8, [&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat())
}

pub(crate) fn bytes(bytes: &[u8]) -> Value {
    Value(7, [&(bytes.len() as i32).to_be_bytes(), bytes].concat())
}

pub(crate) fn ints(ints: &[i32]) -> Value {
    let words = ints.iter().flat_map(|n| n.to_be_bytes());
    Value(11, (ints.len() as i32).to_be_bytes().into_iter().chain(words).collect())
}

pub(crate) fn longs(longs: &[u64]) -> Value {
    let words = longs.iter().flat_map(|n| n.to_be_bytes());
    Value(12, (longs.len() as i32).to_be_bytes().into_iter().chain(words).collect())
}

pub(crate) fn list(values: Vec<Value>) -> Value {
    let kind = values.first().map_or(0, |value| value.0);
    let mut bytes = vec![kind];
    bytes.extend((values.len() as i32).to_be_bytes());
    bytes.extend(values.into_iter().flat_map(|value| value.1));
    Value(9, bytes)
}

pub(crate) fn compound(entries: Vec<(&str, Value)>) -> Value {
    let mut bytes = Vec::new();
    for (name, Value(kind, value)) in entries {
        bytes.push(kind);
        bytes.extend(text(name).1);
        bytes.extend(value);
    }
    bytes.push(0);
    Value(10, bytes)
}

/// Creates an NBT tree of these entries.
pub(crate) fn tree(entries: Vec<(&str, Value)>) -> Vec<u8> {
    [vec![10, 0, 0], compound(entries).1].concat()
}

/// Formats in which versions of the game wrote sections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    /// Versions 1.2 to 1.12.
    Numbers,
    /// Versions 1.13 to 1.15.
    Spanning,
    /// Versions 1.16 and 1.17.
    Apart,
    /// Versions since 1.18.
    Flat,
}

/// Creates a section whose voxel `i` (X, then Z, then Y) is `palette[at(i)]`.
pub(crate) fn section(
    format: Format,
    y: i8,
    palette: &[&str],
    at: impl Fn(usize) -> usize,
) -> Value {
    let names = palette.iter().map(|name| {
        let properties = compound(vec![("facing", text("north"))]);
        compound(vec![("Properties", properties), ("Name", text(name))])
    });
    let names = list(names.collect());
    let bits = (1..).find(|&bits| palette.len() <= 1 << bits).unwrap_or(1).max(4);
    let numbers: Vec<u64> = (0..4096).map(|i| at(i) as u64).collect();
    match format {
        Format::Numbers => unreachable!("numbers have no names"),
        Format::Spanning => compound(vec![
            ("Palette", names),
            ("BlockStates", longs(&spanning(&numbers, bits))),
            ("Y", byte(y)),
        ]),
        Format::Apart => compound(vec![
            ("Y", byte(y)),
            ("BlockStates", longs(&apart(&numbers, bits))),
            ("Palette", names),
        ]),
        Format::Flat if palette.len() == 1 => {
            compound(vec![("block_states", compound(vec![("palette", names)])), ("Y", byte(y))])
        }
        Format::Flat => {
            let states =
                compound(vec![("data", longs(&apart(&numbers, bits))), ("palette", names)]);
            compound(vec![
                ("Y", byte(y)),
                ("block_states", states),
                ("SkyLight", bytes(&[255; 2048])),
            ])
        }
    }
}

/// Creates a section of block numbers and variants.
pub(crate) fn numbered(y: i8, at: impl Fn(usize) -> (u16, u8)) -> Value {
    let half = |of: &dyn Fn(usize) -> u8| -> Vec<u8> {
        (0..2048).map(|i| of(2 * i) | of(2 * i + 1) << 4).collect()
    };
    compound(vec![
        ("Blocks", bytes(&(0..4096).map(|i| at(i).0 as u8).collect::<Vec<_>>())),
        ("Add", bytes(&half(&|i| (at(i).0 >> 8) as u8))),
        ("Data", bytes(&half(&|i| at(i).1))),
        ("Y", byte(y)),
    ])
}

/// Packs numbers bit after bit, across words.
fn spanning(numbers: &[u64], bits: usize) -> Vec<u64> {
    let mut words = vec![0; numbers.len() * bits / 64];
    for (i, number) in numbers.iter().enumerate() {
        for bit in 0..bits {
            words[(i * bits + bit) / 64] |= (number >> bit & 1) << ((i * bits + bit) % 64);
        }
    }
    words
}

/// Packs as many whole numbers into each word as fit.
pub(crate) fn apart(numbers: &[u64], bits: usize) -> Vec<u64> {
    let word = |some: &[u64]| some.iter().rev().fold(0, |word, number| word << bits | number);
    numbers.chunks(64 / bits).map(word).collect()
}

/// Creates a column of these sections.
pub(crate) fn column(format: Format, sections: Vec<Value>) -> Vec<u8> {
    let sections = list(sections);
    match format {
        Format::Flat => {
            tree(vec![("DataVersion", int(3700)), ("sections", sections), ("xPos", int(0))])
        }
        _ => {
            let level =
                compound(vec![("xPos", int(0)), ("Sections", sections), ("Status", text("full"))]);
            tree(vec![("Level", level), ("DataVersion", int(1976))])
        }
    }
}

/// Compresses data with the method of this number in region files.
pub(crate) fn pack(method: u8, data: &[u8]) -> Vec<u8> {
    match method & 0x7f {
        1 => {
            let mut packer = GzEncoder::new(Vec::new(), Compression::default());
            packer.write_all(data).unwrap();
            packer.finish().unwrap()
        }
        2 => {
            let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
            packer.write_all(data).unwrap();
            packer.finish().unwrap()
        }
        4 => lz4(data),
        _ => data.to_vec(),
    }
}

/// Creates a stream of the game's Java library, in which every other block is uncompressed.
fn lz4(data: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut block = |kind: u8, packed: &[u8], raw: &[u8]| {
        let checksum = match raw {
            [] => 0,
            _ => twox_hash::XxHash32::oneshot(0x9747_b28c, raw) & 0x0fff_ffff,
        };
        stream.extend(b"LZ4Block");
        stream.push(kind | 6);
        for number in [packed.len() as u32, raw.len() as u32, checksum] {
            stream.extend(number.to_le_bytes());
        }
        stream.extend(packed);
    };
    for (i, raw) in data.chunks(1500).enumerate() {
        match i % 2 {
            0 => block(0x20, &lz4_flex::block::compress(raw), raw),
            _ => block(0x10, raw, raw),
        }
    }
    block(0x10, &[], &[]);
    stream
}

/// Creates a region of columns from their positions, compression methods and data.
pub(crate) fn region(columns: &[([usize; 2], u8, &[u8])]) -> Vec<u8> {
    let mut file = vec![0; 8192];
    for &([x, z], method, data) in columns {
        let packed = if method & 0x80 == 0 { pack(method, data) } else { Vec::new() };
        let sector = file.len() / 4096;
        file.extend((packed.len() as u32 + 1).to_be_bytes());
        file.push(method);
        file.extend(packed);
        file.resize(file.len().next_multiple_of(4096), 0);
        let entry = (sector << 8 | (file.len() / 4096 - sector)) as u32;
        file[4 * (x + 32 * z)..][..4].copy_from_slice(&entry.to_be_bytes());
    }
    file
}
