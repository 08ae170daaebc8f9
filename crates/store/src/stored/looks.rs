//! Face colours, emission and shapes of materials. They are beside the table of materials, so that earlier
//! programs read the file too, and files without them are the same as before.

use std::borrow::Cow;
use std::collections::BTreeMap;

use drystone_voxel::{Face, Material, MaterialTable, Shape, ShapeBox, ShapeKind};

use super::meta::{opened, sealed};
use super::{WRONG_SUM, packed};

/// Version of the value without shapes, its first byte.
const VERSION: u8 = 1;
/// Version of the value with shapes.
const SHAPES_VERSION: u8 = 2;
/// Version of a compressed value. What is compressed begins with one of the others.
const PACKED_VERSION: u8 = 3;
/// Bits of an entry: what follows its number.
const FACES: u8 = 1;
const EMISSION: u8 = 2;
const SHAPE: u8 = 4;
/// Kinds of shapes, by their number in the file.
const KINDS: [ShapeKind; 3] = [ShapeKind::Opaque, ShapeKind::Colored, ShapeKind::Fluid];

const NEWER: &str = "a later version of drystone wrote it";
const INVALID: &str = "it is not a list of face colours, emissions and shapes";

/// Encodes the materials that have face colours, emission or a shape: version, then for each of them
/// its number (2 bytes), a bit for each property, six colours of 3 bytes, emission, shape. A shape is its
/// kind, its number of boxes, and six coordinates for each. `None` if there are none.
pub(super) fn to_bytes(materials: &MaterialTable) -> Option<Vec<u8>> {
    let mut bytes = vec![if materials.any_shaped() { SHAPES_VERSION } else { VERSION }];
    for (material, kind) in materials.iter() {
        let mut bits = 0;
        bits |= if kind.faces.is_some() { FACES } else { 0 };
        bits |= if kind.emission != 0 { EMISSION } else { 0 };
        bits |= if kind.shape.is_some() { SHAPE } else { 0 };
        if bits != 0 {
            bytes.extend(material.0.to_le_bytes());
            bytes.push(bits);
            bytes.extend(kind.faces.iter().flatten().flatten());
            bytes.extend(Some(kind.emission).filter(|emission| *emission != 0));
            if let Some(shape) = &kind.shape {
                let kind = KINDS.iter().position(|kind| *kind == shape.kind()).unwrap_or(0);
                bytes.extend([kind as u8, shape.boxes().len() as u8]);
                bytes.extend(shape.boxes().iter().flat_map(|it| [it.min, it.max]).flatten());
            }
        }
    }
    if let Some(packed) = packed::pack(&bytes) {
        bytes = [&[PACKED_VERSION], packed.as_slice()].concat();
    }
    (bytes.len() > 1).then(|| sealed(bytes))
}

/// Decompresses a compressed value; the others stay as they are.
fn unpacked(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    match bytes.split_first() {
        Some((&PACKED_VERSION, packed)) => packed::unpack(packed).map(Cow::Owned),
        _ => Some(bytes.into()),
    }
}

/// Returns the materials with the properties in `bytes`.
///
/// # Errors
/// Bytes that are damaged, that a later version wrote, or that name a material that is not in the
/// table.
pub(super) fn read(materials: &MaterialTable, bytes: &[u8]) -> Result<MaterialTable, &'static str> {
    let mut looks = parse(&unpacked(opened(bytes).ok_or(WRONG_SUM)?).ok_or(INVALID)?)?;
    let mut table = MaterialTable::new();
    for (material, kind) in materials.iter().skip(1) {
        let mut kind = kind.clone();
        if let Some((faces, emission, shape)) = looks.remove(&material) {
            (kind.faces, kind.emission, kind.shape) = (faces, emission, shape);
        }
        table.insert_kind(kind).ok_or(INVALID)?;
    }
    if looks.is_empty() { Ok(table) } else { Err(INVALID) }
}

type Look = (Option<[[u8; 3]; Face::COUNT]>, u8, Option<Shape>);

fn parse(bytes: &[u8]) -> Result<BTreeMap<Material, Look>, &'static str> {
    let (known, mut rest) = match bytes.split_first() {
        Some((&VERSION, rest)) => (FACES | EMISSION, rest),
        Some((&SHAPES_VERSION, rest)) => (FACES | EMISSION | SHAPE, rest),
        Some((0, _)) | None => return Err(INVALID),
        Some(_) => return Err(NEWER),
    };
    let mut looks = BTreeMap::new();
    while !rest.is_empty() {
        let (&[low, high, bits], mut after) = rest.split_first_chunk().ok_or(INVALID)?;
        if bits == 0 || bits & !known != 0 {
            return Err(INVALID);
        }
        let mut look: Look = (None, 0, None);
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
        if bits & SHAPE != 0 {
            let (shape, others) = shape(after).ok_or(INVALID)?;
            (look.2, after) = (Some(shape), others);
        }
        let number = Material(u16::from_le_bytes([low, high]));
        if looks.insert(number, look).is_some() {
            return Err(INVALID);
        }
        rest = after;
    }
    Ok(looks)
}

/// Reads a shape, and returns the bytes after it.
fn shape(bytes: &[u8]) -> Option<(Shape, &[u8])> {
    let (&[kind, count], after) = bytes.split_first_chunk()?;
    let (boxes, others) = after.split_at_checked(2 * 3 * usize::from(count))?;
    let corners = boxes.as_chunks::<3>().0.as_chunks::<2>().0;
    let boxes = corners.iter().map(|&[min, max]| ShapeBox { min, max }).collect();
    Some((Shape::new(boxes, *KINDS.get(usize::from(kind))?)?, others))
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

    /// Shapes have a version of their own, which earlier programs refuse.
    #[test]
    fn shapes_are_read_back_and_damaged_ones_refused() {
        let boxes = vec![
            ShapeBox { min: [0; 3], max: [16, 8, 16] },
            ShapeBox { min: [8, 0, 0], max: [8, 16, 16] },
        ];
        let mut expected = MaterialTable::new();
        for (name, kind) in ["stone", "grass", "lava"].into_iter().zip(KINDS) {
            let material = MaterialKind::new(name, [1, 2, 3, 200]).with_emission(7);
            let shape = Shape::new(boxes.clone(), kind).unwrap();
            expected.insert_kind(material.with_shape(shape)).unwrap();
        }
        let bytes = to_bytes(&expected).unwrap();
        let entry = 3 + 1 + 2 + 12;
        assert_eq!((bytes[0], bytes.len()), (2, 1 + 3 * entry + 8));
        assert_eq!(read(&plain(), &bytes), Ok(expected));
        let bytes = opened(&bytes).unwrap().to_vec();
        let read = |bytes: &[u8]| read(&plain(), &sealed(bytes.to_vec())).map(|_| ());
        for len in (2..bytes.len()).filter(|len| (len - 1) % entry != 0) {
            assert_eq!(read(&bytes[..len]), Err(INVALID), "{len}");
        }
        // Version without shapes, kind, number of boxes, a corner.
        for (at, value) in [(0, 1), (5, 3), (6, 0), (6, 3), (7, 17)] {
            let mut changed = bytes.clone();
            changed[at] = value;
            assert_eq!(read(&changed), Err(INVALID), "{at} {value}");
        }
    }

    /// Returns a table of shaped materials with as many boxes as a shape can have.
    fn largest(count: usize) -> MaterialTable {
        let corner = |at: usize| [(at % 16) as u8, (at / 16 % 16) as u8, (at / 256 % 16) as u8];
        let mut table = MaterialTable::new();
        for at in 0..count {
            let min = corner(at);
            let boxes = vec![ShapeBox { min, max: min.map(|it| it + 1) }; Shape::MAX_BOXES];
            let shape = Shape::new(boxes, ShapeKind::Opaque).unwrap();
            let kind = MaterialKind::new("", [1, 2, 3, 255]).with_faces([[at as u8; 3]; 6]);
            table.insert_kind(kind.with_emission(1).with_shape(shape)).unwrap();
        }
        table
    }

    #[test]
    fn long_looks_are_compressed() {
        let plain = |count| {
            let mut table = MaterialTable::new();
            for _ in 0..count {
                table.insert("", [1, 2, 3, 255]).unwrap();
            }
            table
        };
        for (count, version) in [(70, SHAPES_VERSION), (5_000, PACKED_VERSION)] {
            let (table, bytes) = (largest(count), to_bytes(&largest(count)).unwrap());
            assert_eq!(bytes[0], version, "{count}");
            assert_eq!(read(&plain(count), &bytes), Ok(table));
        }
        let bytes = to_bytes(&largest(usize::from(u16::MAX))).unwrap();
        let plain = plain(u16::MAX.into());
        assert!(bytes.len() < 1 << 20, "{}", bytes.len());
        assert_eq!(read(&plain, &bytes).map(|table| table.len()), Ok(1 << 16));
        let value = opened(&bytes).unwrap();
        let read = |bytes: &[u8]| read(&plain, &sealed(bytes.to_vec())).map(|_| ());
        for len in [1, 5, value.len() / 2, value.len() - 1] {
            assert_eq!(read(&value[..len]), Err(INVALID), "{len}");
        }
        // What is compressed is never itself compressed.
        let zeros = vec![PACKED_VERSION; 1 << 16];
        let twice = [&[PACKED_VERSION], packed::pack(&zeros).unwrap().as_slice()].concat();
        assert_eq!(read(&twice), Err(NEWER));
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
            [(0, 0, INVALID), (0, 4, NEWER), (3, 0, INVALID), (3, 4, INVALID), (1, 9, INVALID)]
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
