use std::borrow::Cow;

use drystone_voxel::{MaterialKind, MaterialTable};
use twox_hash::XxHash3_64;

use super::packed;

/// Metadata of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Version of the format, see [`VERSION`].
    pub(super) version: u32,
    /// Number of commits since the file was created.
    pub(super) revision: u64,
    pub(super) chunk_count: u64,
    /// Number of regions in the index.
    pub(super) region_count: u64,
    pub(super) name: String,
}

/// Format version that is written, and the newest that is read. Version 1 has no LOD data. Version 2 has
/// LOD data in other tables, in which translucent voxels are not filled up to a height, and no
/// compressed table of materials. Programs that support only earlier versions would leave outdated LOD
/// data.
pub(super) const VERSION: u32 = 3;
/// Seed of the checksum of compressed materials, by which they differ from others.
const PACKED_SEED: u64 = 1;

const FIXED_BYTES: usize = 4 + 8 + 8 + 8;

impl Head {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.version.to_le_bytes().to_vec();
        for word in [self.revision, self.chunk_count, self.region_count] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend_from_slice(self.name.as_bytes());
        sealed(bytes)
    }

    /// Reads only the version, since the rest may differ in newer versions.
    pub(super) fn version_of(bytes: &[u8]) -> Option<u32> {
        opened(bytes)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (fixed, name) = opened(bytes)?.split_at_checked(FIXED_BYTES)?;
        let (version, words) = fixed.split_first_chunk()?;
        let words: Vec<u64> =
            words.as_chunks().0.iter().map(|&it| u64::from_le_bytes(it)).collect();
        let &[revision, chunk_count, region_count] = words.as_slice() else { return None };
        let name = String::from_utf8(name.to_vec()).ok()?;
        let version = u32::from_le_bytes(*version);
        Some(Self { version, revision, chunk_count, region_count, name })
    }
}

/// Encodes all materials except air: colour, length of the name, name. Long tables are compressed.
pub(super) fn materials_to_bytes(materials: &MaterialTable) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (_, kind) in materials.iter().skip(1) {
        bytes.extend(kind.color);
        let name = name_of(&kind.name);
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
    }
    match packed::pack(&bytes) {
        Some(packed) => sealed_with(PACKED_SEED, packed),
        None => sealed(bytes),
    }
}

/// The part of a name that is stored.
fn name_of(name: &str) -> &str {
    let max_len = name.len().min(u16::MAX.into());
    (0..=max_len).rev().find_map(|len| name.get(..len)).unwrap_or_default()
}

pub(super) fn materials_of_bytes(bytes: &[u8]) -> Option<MaterialTable> {
    let unpacked = || packed::unpack(opened_with(PACKED_SEED, bytes)?).map(Cow::Owned);
    let bytes = opened(bytes).map(Cow::Borrowed).or_else(unpacked)?;
    let mut rest = &*bytes;
    let mut materials = MaterialTable::new();
    while !rest.is_empty() {
        let (color, after) = rest.split_first_chunk()?;
        let (len, after) = after.split_first_chunk()?;
        let (name, after) = after.split_at_checked(u16::from_le_bytes(*len).into())?;
        materials.insert(std::str::from_utf8(name).ok()?, *color)?;
        rest = after;
    }
    Some(materials)
}

/// Whether both materials are equal when stored: long names are cut.
pub(crate) fn is_same_kind(a: &MaterialKind, b: &MaterialKind) -> bool {
    a.color == b.color && name_of(&a.name) == name_of(&b.name)
}

/// Whether `longer` begins with all materials of `shorter`, so that numbers keep their meaning.
pub(super) fn begins_with(longer: &MaterialTable, shorter: &MaterialTable) -> bool {
    let same = longer.iter().zip(shorter.iter()).all(|((_, a), (_, b))| is_same_kind(a, b));
    same && longer.len() >= shorter.len()
}

/// Appends a checksum to bytes.
pub(super) fn sealed(bytes: Vec<u8>) -> Vec<u8> {
    sealed_with(0, bytes)
}

fn sealed_with(seed: u64, mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = XxHash3_64::oneshot_with_seed(seed, &bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The bytes without their checksum; `None` if it is wrong.
pub(super) fn opened(bytes: &[u8]) -> Option<&[u8]> {
    opened_with(0, bytes)
}

fn opened_with(seed: u64, bytes: &[u8]) -> Option<&[u8]> {
    let (bytes, sum) = bytes.split_last_chunk()?;
    (u64::from_le_bytes(*sum) == XxHash3_64::oneshot_with_seed(seed, bytes)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_materials_are_read_back_and_damaged_ones_refused() {
        let head = Head {
            version: VERSION,
            revision: 1 << 40,
            chunk_count: 77,
            region_count: 3,
            name: "höhle".into(),
        };
        let bytes = head.to_bytes();
        assert_eq!(Head::of_bytes(&bytes), Some(head));
        assert_eq!(Head::version_of(&bytes), Some(VERSION));
        let mut table = MaterialTable::new();
        for name in ["stone", "", &"long ö".repeat(20_000)] {
            table.insert(name, [1, 2, 3, 200]).unwrap();
        }
        let written = materials_to_bytes(&table);
        let read = materials_of_bytes(&written).unwrap();
        assert!(begins_with(&table, &read) && begins_with(&read, &table));
        assert_eq!(read.len(), 4);
        table.insert("more", [0; 4]).unwrap();
        assert!(begins_with(&table, &read) && !begins_with(&read, &table));
        for at in [0, 20, bytes.len() - 1] {
            let (mut head, mut materials) = (bytes.clone(), written.clone());
            (head[at], materials[at]) = (head[at] ^ 16, materials[at] ^ 16);
            assert_eq!(Head::of_bytes(&head), None);
            assert_eq!(materials_of_bytes(&materials), None);
        }
        assert_eq!(opened(&[1, 2]), None);
    }

    #[test]
    fn long_tables_are_compressed() {
        for (count, is_packed) in [(900, false), (1_100, true), (65_535, true)] {
            let mut table = MaterialTable::new();
            for at in 0..count {
                table.insert(&format!("stone {at:4}"), [1, 2, 3, at as u8]).unwrap();
            }
            let bytes = materials_to_bytes(&table);
            assert_eq!(bytes.len() < 16 * count / 4, is_packed, "{count}");
            let read = materials_of_bytes(&bytes).unwrap();
            assert!(begins_with(&table, &read) && read.len() == count + 1);
            for at in [0, bytes.len() / 2, bytes.len() - 1] {
                let mut damaged = bytes.clone();
                damaged[at] ^= 16;
                assert_eq!(materials_of_bytes(&damaged), None);
            }
        }
        let sealed = sealed_with(PACKED_SEED, vec![9; 20]);
        assert_eq!(materials_of_bytes(&sealed), None);
    }
}
