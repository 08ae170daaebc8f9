use alloc::{string::String, vec, vec::Vec};

use drystone_mesh::Face;

use crate::{Shape, ShapeKind};

/// Material of a voxel: a number in a [`MaterialTable`]. Zero is air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[repr(transparent)]
pub struct Material(pub u16);

impl Material {
    /// Air: not drawn, and hides nothing behind it.
    pub const AIR: Self = Self(0);

    /// Returns whether the material is air.
    #[inline]
    pub const fn is_air(self) -> bool {
        self.0 == 0
    }
}

/// Properties of a material.
///
/// # Examples
/// ```
/// use drystone_mesh::Face;
/// use drystone_voxel::MaterialKind;
///
/// let [grass, earth] = [[90, 160, 60], [134, 96, 67]];
/// let sides = [earth, earth, earth, earth, grass, earth];
/// let block = MaterialKind::new("grass block", [90, 160, 60, 255]).with_faces(sides);
/// assert_eq!(block.face_color(Face::PosY), [90, 160, 60, 255]);
/// assert_eq!(block.face_color(Face::NegX), [134, 96, 67, 255]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct MaterialKind {
    /// Display name.
    pub name: String,
    /// Display colour in sRGB: red, green, blue and opacity, each 0 to 255. A material with opacity
    /// below 255 is translucent.
    pub color: [u8; 4],
    /// Red, green and blue of each face direction, in the order of [`Face::ALL`]. `None` if each
    /// has those of [`color`](Self::color). The opacity is that of `color`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub faces: Option<[[u8; 3]; Face::COUNT]>,
    /// Part of the colour that shines by itself, independent of light and ambient occlusion: 0 for
    /// none, 255 for all.
    #[cfg_attr(feature = "serde", serde(default))]
    pub emission: u8,
    /// Shape of voxels that are drawn in full detail. `None` if they are cubes.
    #[cfg_attr(feature = "serde", serde(default))]
    pub shape: Option<Shape>,
}

impl MaterialKind {
    /// Creates a material with one colour that emits no light.
    pub fn new(name: impl Into<String>, color: [u8; 4]) -> Self {
        Self { name: name.into(), color, faces: None, emission: 0, shape: None }
    }

    /// Sets a colour for each face direction, in the order of [`Face::ALL`].
    #[must_use]
    pub fn with_faces(mut self, faces: [[u8; 3]; Face::COUNT]) -> Self {
        let [red, green, blue, _] = self.color;
        self.faces = (faces != [[red, green, blue]; Face::COUNT]).then_some(faces);
        self
    }

    /// Sets the part of the colour that shines by itself.
    #[must_use]
    pub const fn with_emission(mut self, emission: u8) -> Self {
        self.emission = emission;
        self
    }

    /// Sets the shape.
    #[must_use]
    pub fn with_shape(mut self, shape: Shape) -> Self {
        self.shape = Some(shape);
        self
    }

    /// Whether the material has a shape that hides what is behind it.
    pub fn is_shape_opaque(&self) -> bool {
        let is_opaque = |shape: &Shape| shape.kind() == ShapeKind::Opaque;
        self.shape.as_ref().is_some_and(|shape| is_opaque(shape) || self.color[3] == u8::MAX)
    }

    /// Whether the material has a shape that a cube does not resemble: one over less than half of the
    /// voxel's floor, or an opaque one whose cube would be translucent.
    fn is_thin(&self) -> bool {
        /// Half of the cells of the floor.
        const HALF: u32 = 128;
        self.shape.as_ref().is_some_and(|shape| {
            let is_cube_clear = shape.kind() == ShapeKind::Opaque && self.color[3] < u8::MAX;
            is_cube_clear || shape.floor_cells() < HALF
        })
    }

    /// Returns the colour of a face direction, with opacity.
    pub const fn face_color(&self, face: Face) -> [u8; 4] {
        match &self.faces {
            Some(faces) => {
                let [red, green, blue] = faces[face.index()];
                [red, green, blue, self.color[3]]
            }
            None => self.color,
        }
    }
}

/// Materials of a world, indexed by number.
///
/// # Examples
/// ```
/// use drystone_voxel::{Material, MaterialTable};
///
/// let mut table = MaterialTable::new();
/// let glass = table.insert("glass", [200, 220, 255, 90]).unwrap();
/// assert!(table.is_translucent(glass) && !table.is_translucent(Material::AIR));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaterialTable {
    kinds: Vec<MaterialKind>,
    /// One bit per material, set if it is translucent. Meshers read it once per voxel.
    translucent: Vec<u64>,
    /// First translucent materials, at most `FEW` + 1.
    first_translucent: Vec<Material>,
    /// One bit per material, set if it has a shape. Empty if none has.
    shaped: Vec<u64>,
    /// One bit per material, set if it is thin. Empty if none has a shape.
    thin: Vec<u64>,
    /// Whether two translucent materials have the same opacity.
    has_bodies: bool,
}

/// Maximum number of materials for which comparisons per voxel are faster than a table lookup.
const FEW: usize = 4;

impl MaterialTable {
    /// Creates a table that contains only air.
    pub fn new() -> Self {
        let air = MaterialKind::new("air", [0; 4]);
        let (translucent, first_translucent) = (vec![0], Vec::new());
        let (shaped, thin, has_bodies) = (Vec::new(), Vec::new(), false);
        Self { kinds: vec![air], translucent, first_translucent, shaped, thin, has_bodies }
    }

    /// Adds a material with one colour that emits no light. Returns `None` if all 65,535 numbers are
    /// used.
    pub fn insert(&mut self, name: &str, color: [u8; 4]) -> Option<Material> {
        self.insert_kind(MaterialKind::new(name, color))
    }

    /// Adds a material. Returns `None` if all 65,535 numbers are used.
    pub fn insert_kind(&mut self, kind: MaterialKind) -> Option<Material> {
        let id = u16::try_from(self.kinds.len()).ok()?;
        let (color, word) = (kind.color, usize::from(id) / 64);
        if kind.shape.is_some() {
            self.shaped.resize(word + 1, 0);
            self.thin.resize(word + 1, 0);
            self.shaped[word] |= 1 << (id % 64);
            self.thin[word] |= u64::from(kind.is_thin()) << (id % 64);
        }
        let is_like = |other: &MaterialKind| other.color[3] == color[3];
        self.has_bodies =
            self.has_bodies || (color[3] < u8::MAX && self.kinds.iter().skip(1).any(is_like));
        self.kinds.push(kind);
        if self.translucent.len() <= word {
            self.translucent.push(0);
        }
        self.translucent[word] |= u64::from(color[3] < u8::MAX) << (id % 64);
        if color[3] < u8::MAX && self.first_translucent.len() <= FEW {
            self.first_translucent.push(Material(id));
        }
        Some(Material(id))
    }

    /// Returns the properties of `material`, or `None` if it is not in the table.
    pub fn get(&self, material: Material) -> Option<&MaterialKind> {
        self.kinds.get(usize::from(material.0))
    }

    /// Returns whether `material` is translucent. False for air and for materials not in the table,
    /// which count as opaque.
    #[inline]
    pub fn is_translucent(&self, material: Material) -> bool {
        has_bit(&self.translucent, material)
    }

    /// Returns the shape of `material`, or `None` if its voxels are cubes.
    pub fn shape(&self, material: Material) -> Option<&Shape> {
        self.get(material)?.shape.as_ref()
    }

    /// Returns whether `material` has a shape.
    #[inline]
    pub fn is_shaped(&self, material: Material) -> bool {
        has_bit(&self.shaped, material)
    }

    /// Returns whether `material` has a shape that a cube does not resemble, such as a plant. Where
    /// shapes are not drawn, such voxels are air.
    #[inline]
    pub fn is_thin(&self, material: Material) -> bool {
        has_bit(&self.thin, material)
    }

    /// Returns whether any material has a shape.
    pub fn any_shaped(&self) -> bool {
        !self.shaped.is_empty()
    }

    /// Returns whether two materials form one body, which has no faces inside: they are equal, or
    /// translucent with the same opacity. So water of two colours is one body, and water and ice are
    /// not. False for air.
    pub fn is_one_body(&self, a: Material, b: Material) -> bool {
        let opacity = |material: Material| self.get(material).map(|kind| kind.color[3]);
        !a.is_air()
            && !b.is_air()
            && (a == b || (self.is_translucent(a) && opacity(a) == opacity(b)))
    }

    /// Whether bodies can have several materials.
    pub(crate) const fn has_bodies(&self) -> bool {
        self.has_bodies
    }

    /// Returns whether the table contains a translucent material.
    pub fn any_translucent(&self) -> bool {
        !self.first_translucent.is_empty()
    }

    /// Returns the translucent materials if they are few enough for comparisons instead of a
    /// lookup.
    pub(crate) fn few_translucent(&self) -> Option<&[Material]> {
        (self.first_translucent.len() <= FEW).then_some(&self.first_translucent)
    }

    /// Iterates over all materials by number, air first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Material, &MaterialKind)> {
        self.kinds.iter().enumerate().map(|(id, kind)| (Material(id as u16), kind))
    }

    /// Number of materials, including air.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Returns whether the table contains only air.
    pub fn is_empty(&self) -> bool {
        self.kinds.len() == 1
    }
}

/// Returns the bit of a material; false beyond the end.
#[inline]
fn has_bit(words: &[u64], material: Material) -> bool {
    let word = words.get(usize::from(material.0) / 64).copied().unwrap_or(0);
    word >> (material.0 % 64) & 1 != 0
}

impl Default for MaterialTable {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Face colours that equal the colour are not stored.
    #[test]
    fn each_face_direction_has_its_colour_and_the_common_opacity() {
        let plain = MaterialKind::new("plain", [1, 2, 3, 40]);
        assert!(Face::ALL.into_iter().all(|face| plain.face_color(face) == [1, 2, 3, 40]));
        assert_eq!(plain.clone().with_faces([[1, 2, 3]; 6]), plain);
        let faces: [[u8; 3]; 6] = core::array::from_fn(|face| [face as u8 * 9, 7, 8]);
        let cube = plain.with_faces(faces).with_emission(9);
        for face in Face::ALL {
            assert_eq!(cube.face_color(face), [face.index() as u8 * 9, 7, 8, 40]);
        }
        let mut table = MaterialTable::new();
        let number = table.insert_kind(cube.clone()).unwrap();
        assert!(table.is_translucent(number) && table.get(number) == Some(&cube));
    }

    #[test]
    fn a_full_table_returns_none_and_keeps_its_content() {
        let mut table = MaterialTable::new();
        for id in 1..=u16::MAX {
            assert_eq!(table.insert("", [0, 0, 0, (id % 256) as u8]), Some(Material(id)));
        }
        assert_eq!(table.insert("one more", [0; 4]), None);
        assert_eq!(table.len(), 1 << 16);
        assert!(table.is_translucent(Material(u16::MAX - 1)));
        assert!(!table.is_translucent(Material(u16::MAX)));
    }
}
