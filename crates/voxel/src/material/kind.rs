use alloc::string::String;

use drystone_mesh::Face;

use super::Material;
use crate::{Shape, ShapeKind};

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
    /// Whether the textures have holes, where their opacity is below one half. Other faces are visible
    /// through the holes. Ignored if the material is translucent.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cut_out: bool,
    /// Number of the texture of each face direction; see [`texture`](Self::texture).
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) textures: [Option<u16>; Face::COUNT],
    /// Fluid that fills the voxel around its shape, such as the water around a plant: the number of a
    /// material whose shape is a [`ShapeKind::Fluid`]. Other numbers have no effect.
    #[cfg_attr(feature = "serde", serde(default))]
    pub fluid: Option<Material>,
}

impl MaterialKind {
    /// Creates a material with one colour that emits no light.
    pub fn new(name: impl Into<String>, color: [u8; 4]) -> Self {
        let (faces, shape, fluid) = (None, None, None);
        let (name, textures) = (name.into(), [None; Face::COUNT]);
        Self { name, color, faces, emission: 0, shape, fluid, cut_out: false, textures }
    }

    /// Creates a placeholder: a material that no voxel has, and that only keeps the numbers of those after it. It
    /// is black, without a name. Its opacity counts for [partial materials](crate::MaterialTable::filled_to).
    pub fn placeholder(opacity: u8) -> Self {
        Self::new("", [0, 0, 0, opacity])
    }

    /// Whether this is a [placeholder](Self::placeholder). Lists of materials leave it out.
    pub fn is_placeholder(&self) -> bool {
        self.name.is_empty() && self.color[..3] == [0; 3]
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

    /// Replaces [`fluid`](Self::fluid).
    #[must_use]
    pub const fn with_fluid(mut self, fluid: Material) -> Self {
        self.fluid = Some(fluid);
        self
    }

    /// Makes the material a cut-out: its textures have holes.
    #[must_use]
    pub const fn with_cut_out(mut self) -> Self {
        self.cut_out = true;
        self
    }

    /// Returns the number of the texture of a face direction in
    /// [`MaterialTable::textures`](super::MaterialTable::textures). `None` for plain colour.
    pub const fn texture(&self, face: Face) -> Option<u16> {
        self.textures[face.index()]
    }

    pub(super) fn is_fluid(&self) -> bool {
        self.shape.as_ref().is_some_and(|shape| shape.kind() == ShapeKind::Fluid)
    }

    /// Whether the material has a shape that hides what is behind it.
    pub fn is_shape_opaque(&self) -> bool {
        let is_opaque = |shape: &Shape| shape.kind() == ShapeKind::Opaque;
        self.shape.as_ref().is_some_and(|shape| is_opaque(shape) || self.color[3] == u8::MAX)
    }

    /// Whether the material has a shape that a cube does not resemble: one over less than half of the
    /// voxel's floor, or an opaque one whose cube would be translucent.
    pub(super) fn is_thin(&self) -> bool {
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
