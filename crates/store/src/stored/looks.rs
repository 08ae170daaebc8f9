//! Face colours, emission, shapes and textures of materials. They are beside the table of materials, so that earlier
//! programs read the file too, and files without them are the same as before.

use std::borrow::Cow;
use std::collections::BTreeMap;

use drystone_voxel::{
    Face, Material, MaterialKind, MaterialTable, MaterialTexture, Shape, ShapeBox, ShapeKind,
};

use super::meta::{opened, sealed};
use super::{WRONG_SUM, packed};

/// Version of the value without shapes and textures, its first byte.
const VERSION: u8 = 1;
/// Version of the value with shapes and without textures.
const SHAPES_VERSION: u8 = 2;
/// Version of a compressed value. What is compressed begins with one of the others.
const PACKED_VERSION: u8 = 3;
/// Version of the value with textures or cut-out materials.
const TEXTURES_VERSION: u8 = 4;
/// Bits of an entry: what follows its number.
const FACES: u8 = 1;
const EMISSION: u8 = 2;
const SHAPE: u8 = 4;
const CUT_OUT: u8 = 8;
const TEXTURES: u8 = 16;
/// Kinds of shapes, by their number in the file.
const KINDS: [ShapeKind; 3] = [ShapeKind::Opaque, ShapeKind::Colored, ShapeKind::Fluid];

const NEWER: &str = "a later version of drystone wrote it";
const INVALID: &str = "it is not a list of face colours, emissions, shapes and textures";

/// Encodes the materials that have face colours, emission, a shape or textures, or are cut out: version,
/// textures, then for each of them its number (2 bytes), a bit for each property, six colours of 3 bytes,
/// emission, shape, textures. A shape is its kind, its number of boxes, and six coordinates for each. The
/// textures of a material are a bit for each face direction that has one, and their numbers (2 bytes
/// each). `None` if there are none.
///
/// The textures of the table are their number (2 bytes), and for each the binary logarithm of its side
/// and its texels. Only the version with textures has them.
pub(super) fn to_bytes(materials: &MaterialTable) -> Option<Vec<u8>> {
    let is_textured =
        !materials.textures().is_empty() || materials.iter().any(|(_, kind)| kind.cut_out);
    let mut bytes = match materials.any_shaped() {
        _ if is_textured => textures_to_bytes(materials),
        true => vec![SHAPES_VERSION],
        false => vec![VERSION],
    };
    for (material, kind) in materials.iter() {
        let mut bits = 0;
        bits |= if kind.faces.is_some() { FACES } else { 0 };
        bits |= if kind.emission != 0 { EMISSION } else { 0 };
        bits |= if kind.shape.is_some() { SHAPE } else { 0 };
        bits |= if kind.cut_out { CUT_OUT } else { 0 };
        let textures = Face::ALL.map(|face| kind.texture(face));
        bits |= if textures != [None; Face::COUNT] { TEXTURES } else { 0 };
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
            if bits & TEXTURES != 0 {
                let faces = (0..).zip(textures).map(|(at, it)| u8::from(it.is_some()) << at);
                bytes.push(faces.sum());
                bytes.extend(textures.iter().flatten().flat_map(|number| number.to_le_bytes()));
            }
        }
    }
    if let Some(packed) = packed::pack(&bytes) {
        bytes = [&[PACKED_VERSION], packed.as_slice()].concat();
    }
    (bytes.len() > 1).then(|| sealed(bytes))
}

/// Encodes the version and the textures of a table.
fn textures_to_bytes(materials: &MaterialTable) -> Vec<u8> {
    let textures = materials.textures();
    let mut bytes = vec![TEXTURES_VERSION];
    bytes.extend((textures.len() as u16).to_le_bytes());
    for texture in textures {
        bytes.push(texture.side().ilog2() as u8);
        bytes.extend(texture.rgba().iter());
    }
    bytes
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
    let mut table = MaterialTable::new();
    let bytes = unpacked(opened(bytes).ok_or(WRONG_SUM)?).ok_or(INVALID)?;
    let mut looks = parse(&bytes, &mut table)?;
    for (material, kind) in materials.iter().skip(1) {
        let kind = match looks.remove(&material) {
            Some(look) => look.of(kind.clone(), &table).ok_or(INVALID)?,
            None => kind.clone(),
        };
        table.insert_kind(kind).ok_or(INVALID)?;
    }
    if looks.is_empty() { Ok(table) } else { Err(INVALID) }
}

/// Properties of a material.
#[derive(Default)]
struct Look {
    faces: Option<[[u8; 3]; Face::COUNT]>,
    emission: u8,
    shape: Option<Shape>,
    is_cut_out: bool,
    textures: [Option<u16>; Face::COUNT],
}

impl Look {
    /// Returns the material with these properties; `None` if a texture is not in the table.
    fn of(self, mut kind: MaterialKind, table: &MaterialTable) -> Option<MaterialKind> {
        (kind.faces, kind.emission, kind.shape) = (self.faces, self.emission, self.shape);
        kind.cut_out = self.is_cut_out;
        table.with_textures(kind, self.textures).ok()
    }
}

/// Reads the properties of materials, and adds textures to `table`.
fn parse(
    bytes: &[u8],
    table: &mut MaterialTable,
) -> Result<BTreeMap<Material, Look>, &'static str> {
    let (known, mut rest) = match bytes.split_first() {
        Some((&VERSION, rest)) => (FACES | EMISSION, rest),
        Some((&SHAPES_VERSION, rest)) => (FACES | EMISSION | SHAPE, rest),
        Some((&TEXTURES_VERSION, rest)) => {
            let known = FACES | EMISSION | SHAPE | CUT_OUT | TEXTURES;
            (known, textures(rest, table).ok_or(INVALID)?)
        }
        Some((0, _)) | None => return Err(INVALID),
        Some(_) => return Err(NEWER),
    };
    let mut looks = BTreeMap::new();
    while !rest.is_empty() {
        let (&[low, high, bits], mut after) = rest.split_first_chunk().ok_or(INVALID)?;
        if bits == 0 || bits & !known != 0 {
            return Err(INVALID);
        }
        let mut look = Look { is_cut_out: bits & CUT_OUT != 0, ..Look::default() };
        if bits & FACES != 0 {
            let (faces, others) =
                after.split_first_chunk::<{ 3 * Face::COUNT }>().ok_or(INVALID)?;
            let mut colors = faces.as_chunks().0.iter();
            look.faces =
                Some([(); Face::COUNT].map(|()| colors.next().copied().unwrap_or_default()));
            after = others;
        }
        if bits & EMISSION != 0 {
            let (&emission, others) = after.split_first().ok_or(INVALID)?;
            (look.emission, after) = (emission, others);
        }
        if bits & SHAPE != 0 {
            let (shape, others) = shape(after).ok_or(INVALID)?;
            (look.shape, after) = (Some(shape), others);
        }
        if bits & TEXTURES != 0 {
            let (numbers, others) = numbers(after).ok_or(INVALID)?;
            (look.textures, after) = (numbers, others);
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

/// Adds the textures of a table, and returns the bytes after them.
fn textures<'a>(bytes: &'a [u8], table: &mut MaterialTable) -> Option<&'a [u8]> {
    let (count, mut rest) = bytes.split_first_chunk()?;
    for _ in 0..u16::from_le_bytes(*count) {
        let (&bits, after) = rest.split_first()?;
        let side = 1_u32.checked_shl(bits.into()).filter(|it| *it <= MaterialTexture::MAX_SIDE)?;
        let (rgba, others) = after.split_at_checked(4 * side as usize * side as usize)?;
        table.insert_texture(MaterialTexture::new(side, rgba).ok()?).ok()?;
        rest = others;
    }
    Some(rest)
}

/// Reads the numbers of a material's textures, and returns the bytes after them.
fn numbers(bytes: &[u8]) -> Option<([Option<u16>; Face::COUNT], &[u8])> {
    let (&faces, mut rest) = bytes.split_first().filter(|(faces, _)| (1..64).contains(*faces))?;
    let mut numbers = [None; Face::COUNT];
    for (_, number) in (0..).zip(&mut numbers).filter(|(at, _)| faces >> at & 1 != 0) {
        let (low_high, after) = rest.split_first_chunk()?;
        (*number, rest) = (Some(u16::from_le_bytes(*low_high)), after);
    }
    Some((numbers, rest))
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

    /// Textures and cut-out materials have a version of their own, which earlier programs refuse.
    #[test]
    fn textures_are_read_back_and_damaged_ones_refused() {
        let mut expected = MaterialTable::new();
        for (side, texel) in [(2, [9, 8, 7, 255]), (1, [1, 2, 3, 0])] {
            let rgba = [texel; 4][..(side * side) as usize].concat();
            expected.insert_texture(MaterialTexture::new(side, rgba).unwrap()).unwrap();
        }
        let kind = |name| MaterialKind::new(name, [1, 2, 3, 200]);
        let one_face = [None, None, Some(1), None, None, None];
        for (kind, textures) in [
            (kind("stone").with_cut_out(), [Some(0); 6]),
            (kind("grass").with_emission(7), one_face),
            (kind("lava").with_cut_out(), [None; 6]),
        ] {
            expected.insert_kind(expected.with_textures(kind, textures).unwrap()).unwrap();
        }
        let bytes = to_bytes(&expected).unwrap();
        let textures = 1 + 2 + (1 + 16) + (1 + 4);
        let entries = [3 + 1 + 12, 3 + 1 + 1 + 2, 3];
        assert_eq!((bytes[0], bytes.len()), (4, textures + entries.iter().sum::<usize>() + 8));
        assert_eq!(read(&plain(), &bytes), Ok(expected));
        let bytes = opened(&bytes).unwrap().to_vec();
        let read = |bytes: &[u8]| read(&plain(), &sealed(bytes.to_vec())).map(|_| ());
        let ends = [textures, textures + 16, textures + 16 + 7];
        for len in (2..bytes.len()).filter(|len| !ends.contains(len)) {
            assert_eq!(read(&bytes[..len]), Err(INVALID), "{len}");
        }
        // Number of textures, a side, bits of an entry, its faces, the number of a texture.
        for (at, value) in [
            (1, 3),
            (1, 1),
            (3, 9),
            (3, 255),
            (textures + 2, 64),
            (textures + 3, 0),
            (textures + 3, 64),
            (textures + 4, 2),
        ] {
            let mut changed = bytes.clone();
            changed[at] = value;
            assert_eq!(read(&changed), Err(INVALID), "{at} {value}");
        }
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
            [(0, 0, INVALID), (0, 5, NEWER), (3, 0, INVALID), (3, 4, INVALID), (1, 9, INVALID)]
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
