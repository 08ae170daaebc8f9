//! Face colours and emission of materials. They are beside the table of materials, so that earlier
//! programs read the file too, and files without them are the same as before.

use std::collections::BTreeMap;

use drystone_voxel::{Face, Material, MaterialTable};

use super::WRONG_SUM;
use super::meta::{opened, sealed};

/// Version of the value, its first byte.
const VERSION: u8 = 1;
/// Bits of an entry: what follows its number.
const FACES: u8 = 1;
const EMISSION: u8 = 2;

const NEWER: &str = "a later version of drystone wrote it";
const INVALID: &str = "it is not a list of face colours and emissions";

/// Encodes the materials that have face colours or emission: version, then for each of them its
/// number (2 bytes), a bit for each property, six colours of 3 bytes, emission. `None` if there are
/// none.
pub(super) fn to_bytes(materials: &MaterialTable) -> Option<Vec<u8>> {
    let mut bytes = vec![VERSION];
    for (material, kind) in materials.iter() {
        let mut bits = 0;
        bits |= if kind.faces.is_some() { FACES } else { 0 };
        bits |= if kind.emission != 0 { EMISSION } else { 0 };
        if bits != 0 {
            bytes.extend(material.0.to_le_bytes());
            bytes.push(bits);
            bytes.extend(kind.faces.iter().flatten().flatten());
            bytes.extend(Some(kind.emission).filter(|emission| *emission != 0));
        }
    }
    (bytes.len() > 1).then(|| sealed(bytes))
}

/// Returns the materials with the properties in `bytes`.
///
/// # Errors
/// Bytes that are damaged, that a later version wrote, or that name a material that is not in the
/// table.
pub(super) fn read(materials: &MaterialTable, bytes: &[u8]) -> Result<MaterialTable, &'static str> {
    let mut looks = parse(opened(bytes).ok_or(WRONG_SUM)?)?;
    let mut table = MaterialTable::new();
    for (material, kind) in materials.iter().skip(1) {
        let mut kind = kind.clone();
        if let Some((faces, emission)) = looks.remove(&material) {
            (kind.faces, kind.emission) = (faces, emission);
        }
        table.insert_kind(kind).ok_or(INVALID)?;
    }
    if looks.is_empty() { Ok(table) } else { Err(INVALID) }
}

type Look = (Option<[[u8; 3]; Face::COUNT]>, u8);

fn parse(bytes: &[u8]) -> Result<BTreeMap<Material, Look>, &'static str> {
    let mut rest = match bytes.split_first() {
        Some((&VERSION, rest)) => rest,
        Some((0, _)) | None => return Err(INVALID),
        Some(_) => return Err(NEWER),
    };
    let mut looks = BTreeMap::new();
    while !rest.is_empty() {
        let (&[low, high, bits], mut after) = rest.split_first_chunk().ok_or(INVALID)?;
        if bits == 0 || bits & !(FACES | EMISSION) != 0 {
            return Err(INVALID);
        }
        let mut look: Look = (None, 0);
        if bits & FACES != 0 {
            let (faces, others) =
                after.split_first_chunk::<{ 3 * Face::COUNT }>().ok_or(INVALID)?;
            let mut colors = faces.as_chunks().0.iter();
            look.0 = Some([(); Face::COUNT].map(|()| colors.next().copied().unwrap_or_default()));
            after = others;
        }
        if bits & EMISSION != 0 {
            let (&emission, others) = after.split_first().ok_or(INVALID)?;
            (look.1, after) = (emission, others);
        }
        let number = Material(u16::from_le_bytes([low, high]));
        if looks.insert(number, look).is_some() {
            return Err(INVALID);
        }
        rest = after;
    }
    Ok(looks)
}

#[cfg(test)]
mod tests {
    use drystone_voxel::MaterialKind;

    use super::*;

    fn plain() -> MaterialTable {
        let mut table = MaterialTable::new();
        for name in ["stone", "grass", "lava"] {
            table.insert(name, [1, 2, 3, 200]).unwrap();
        }
        table
    }

    /// Face colours, emission, both, and none.
    fn table() -> MaterialTable {
        let faces: [[u8; 3]; 6] = std::array::from_fn(|face| [face as u8, 90, 7]);
        let mut table = MaterialTable::new();
        let kind = |name| MaterialKind::new(name, [1, 2, 3, 200]);
        for kind in [
            kind("stone"),
            kind("grass").with_faces(faces),
            kind("lava").with_faces(faces).with_emission(255),
        ] {
            table.insert_kind(kind).unwrap();
        }
        table
    }

    #[test]
    fn looks_are_read_back_and_materials_without_them_take_no_bytes() {
        assert_eq!(to_bytes(&plain()), None);
        let bytes = to_bytes(&table()).unwrap();
        assert_eq!(bytes.len(), 1 + 2 * 21 + 1 + 8);
        assert_eq!(read(&plain(), &bytes), Ok(table()));
        // A program that knows no looks may have added materials since.
        let mut grown = plain();
        grown.insert("more", [9; 4]).unwrap();
        assert_eq!(read(&grown, &bytes).unwrap().len(), 5);
    }

    #[test]
    fn damaged_and_newer_looks_are_refused() {
        let bytes = opened(&to_bytes(&table()).unwrap()).unwrap().to_vec();
        let read = |bytes: &[u8]| read(&plain(), &sealed(bytes.to_vec())).map(|_| ());
        assert_eq!(read(&bytes), Ok(()));
        // The end of an entry is a shorter list.
        let ends = [1, 22];
        for len in (0..bytes.len()).filter(|len| !ends.contains(len)) {
            assert_eq!(read(&bytes[..len]), Err(INVALID), "{len}");
        }
        for (at, value, expected) in
            [(0, 0, INVALID), (0, 2, NEWER), (3, 0, INVALID), (3, 4, INVALID), (1, 9, INVALID)]
        {
            let mut changed = bytes.clone();
            changed[at] = value;
            assert_eq!(read(&changed), Err(expected), "{at} {value}");
        }
        assert_eq!(read(&[&bytes[..], &[1]].concat()), Err(INVALID));
        assert_eq!(read(&[&bytes[..], &bytes[1..22]].concat()), Err(INVALID), "listed twice");
        assert_eq!(super::read(&plain(), &bytes), Err(WRONG_SUM));
    }
}
