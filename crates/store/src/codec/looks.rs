//! Face colours, emission, shapes, fluids and textures of materials. They are beside the table of materials, so that earlier
//! programs read the file too, and files without them are the same as before.

use std::borrow::Cow;
use std::collections::BTreeMap;

use drystone_voxel::{
    Face, Material, MaterialKind, MaterialTable, MaterialTexture, Shape, ShapeBox, ShapeKind,
};

use super::{WRONG_SUM, long, opened, sealed};

/// Version of the value without shapes and textures, its first byte.
const VERSION: u8 = 1;
/// Version of the value with shapes and without textures.
const SHAPES_VERSION: u8 = 2;
/// Version of a compressed value. What is compressed begins with one of the others.
const PACKED_VERSION: u8 = 3;
/// Version of the value with textures, cut-out materials or fluids around shapes.
const TEXTURES_VERSION: u8 = 4;
/// Bits of an entry: what follows its number.
const FACES: u8 = 1;
const EMISSION: u8 = 2;
const SHAPE: u8 = 4;
const CUT_OUT: u8 = 8;
const TEXTURES: u8 = 16;
const FLUID: u8 = 32;
/// Kinds of shapes, by their number in the file.
const KINDS: [ShapeKind; 3] = [ShapeKind::Opaque, ShapeKind::Colored, ShapeKind::Fluid];

const NEWER: &str = "a later version of drystone wrote it";
const INVALID: &str = "it is not a list of face colours, emissions, shapes, fluids and textures";

/// Encodes the materials that have face colours, emission, a shape, a fluid or textures, or are cut out:
/// version, textures, then for each of them its number (2 bytes), a bit for each property, six colours of
/// 3 bytes, emission, shape, textures, number of the fluid (2 bytes). A shape is its kind, its number of
/// boxes, and six coordinates for each. The textures of a material are a bit for each face direction that
/// has one, and their numbers (2 bytes each). `None` if there are none.
///
/// The textures of the table are their number (2 bytes), and for each the binary logarithm of its side
/// and its texels. Only the version with textures has them.
pub(crate) fn to_bytes(materials: &MaterialTable) -> Option<Vec<u8>> {
    // Others have no effect.
    let has_fluid = |(material, kind): (Material, &MaterialKind)| {
        kind.fluid.is_some() && materials.fluid(material) == kind.fluid
    };
    let is_textured = !materials.textures().is_empty()
        || materials.iter().any(|it| it.1.cut_out || has_fluid(it));
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
        bits |= if has_fluid((material, kind)) { FLUID } else { 0 };
        if bits != 0 {
            bytes.extend(material.0.to_le_bytes());
            bytes.push(bits);
            bytes.extend(kind.faces.iter().flatten().flatten());
            bytes.extend(Some(kind.emission).filter(|emission| *emission != 0));
            let fluid = kind.fluid.filter(|_| bits & FLUID != 0);
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
            bytes.extend(fluid.iter().flat_map(|fluid| fluid.0.to_le_bytes()));
        }
    }
    if let Some(packed) = long::pack(&bytes) {
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
        Some((&PACKED_VERSION, packed)) => long::unpack(packed).map(Cow::Owned),
        _ => Some(bytes.into()),
    }
}

/// Returns the materials with the properties in `bytes`.
///
/// # Errors
/// Bytes that are damaged, that a later version wrote, or that name a material that is not in the
/// table.
pub(crate) fn read(materials: &MaterialTable, bytes: &[u8]) -> Result<MaterialTable, &'static str> {
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
    let has_fluid = |(material, kind): (Material, &MaterialKind)| {
        kind.fluid.is_none() || table.fluid(material) == kind.fluid
    };
    if looks.is_empty() && table.iter().all(has_fluid) { Ok(table) } else { Err(INVALID) }
}

/// Properties of a material.
#[derive(Default)]
struct Look {
    faces: Option<[[u8; 3]; Face::COUNT]>,
    emission: u8,
    shape: Option<Shape>,
    is_cut_out: bool,
    textures: [Option<u16>; Face::COUNT],
    fluid: Option<Material>,
}

impl Look {
    /// Returns the material with these properties; `None` if a texture is not in the table.
    fn of(self, mut kind: MaterialKind, table: &MaterialTable) -> Option<MaterialKind> {
        (kind.faces, kind.emission) = (self.faces, self.emission);
        (kind.shape, kind.fluid) = (self.shape, self.fluid);
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
            let known = FACES | EMISSION | SHAPE | CUT_OUT | TEXTURES | FLUID;
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
        if bits & FLUID != 0 {
            let (&number, others) = after.split_first_chunk().ok_or(INVALID)?;
            (look.fluid, after) = (Some(Material(u16::from_le_bytes(number))), others);
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
mod tests;
