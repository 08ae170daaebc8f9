use std::borrow::Cow;

use drystone_voxel::{MaterialKind, MaterialTable};

use super::{long, opened, opened_with, sealed, sealed_with};

/// Seed of the checksum of compressed materials, by which they differ from others.
const PACKED_SEED: u64 = 1;

/// Encodes all materials except air: colour, length of the name, name. Long tables are compressed.
pub(crate) fn to_bytes(materials: &MaterialTable) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (_, kind) in materials.iter().skip(1) {
        bytes.extend(kind.color);
        let name = name_of(&kind.name);
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
    }
    match long::pack(&bytes) {
        Some(packed) => sealed_with(PACKED_SEED, packed),
        None => sealed(bytes),
    }
}

/// The part of a name that is stored.
fn name_of(name: &str) -> &str {
    let max_len = name.len().min(u16::MAX.into());
    (0..=max_len).rev().find_map(|len| name.get(..len)).unwrap_or_default()
}

pub(crate) fn of_bytes(bytes: &[u8]) -> Option<MaterialTable> {
    let unpacked = || long::unpack(opened_with(PACKED_SEED, bytes)?).map(Cow::Owned);
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
pub(crate) fn begins_with(longer: &MaterialTable, shorter: &MaterialTable) -> bool {
    let same = longer.iter().zip(shorter.iter()).all(|((_, a), (_, b))| is_same_kind(a, b));
    same && longer.len() >= shorter.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_back_and_damaged_ones_refused() {
        let mut table = MaterialTable::new();
        for name in ["stone", "", &"long ö".repeat(20_000)] {
            table.insert(name, [1, 2, 3, 200]).unwrap();
        }
        let written = to_bytes(&table);
        let read = of_bytes(&written).unwrap();
        assert!(begins_with(&table, &read) && begins_with(&read, &table));
        assert_eq!(read.len(), 4);
        table.insert("more", [0; 4]).unwrap();
        assert!(begins_with(&table, &read) && !begins_with(&read, &table));
        for at in [0, 20, written.len() - 1] {
            let mut damaged = written.clone();
            damaged[at] ^= 16;
            assert_eq!(of_bytes(&damaged), None);
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
            let bytes = to_bytes(&table);
            assert_eq!(bytes.len() < 16 * count / 4, is_packed, "{count}");
            let read = of_bytes(&bytes).unwrap();
            assert!(begins_with(&table, &read) && read.len() == count + 1);
            for at in [0, bytes.len() / 2, bytes.len() - 1] {
                let mut damaged = bytes.clone();
                damaged[at] ^= 16;
                assert_eq!(of_bytes(&damaged), None);
            }
        }
        let sealed = sealed_with(PACKED_SEED, vec![9; 20]);
        assert_eq!(of_bytes(&sealed), None);
    }
}
