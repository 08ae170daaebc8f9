use drystone_mesh::Face;

/// Appearance of a material: a colour for each face direction, and the light that it emits.
///
/// # Examples
/// ```
/// use drystone_render::MaterialLook;
///
/// let lava = MaterialLook::new([207, 92, 20, 255]).with_emission(255);
/// assert_eq!(lava.faces, [[207, 92, 20, 255]; 6]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaterialLook {
    /// Colour of each face direction, in the order of [`Face::ALL`]: red, green, blue and opacity.
    pub faces: [[u8; 4]; Face::COUNT],
    /// Part of the colour that is drawn as it is, without the light on its face direction and without
    /// ambient occlusion: 0 for none, 255 for all. Haze hides it like any other colour.
    pub emission: u8,
    /// Image on each face direction, by its number in [`QuadTextures`](crate::QuadTextures). `None` for
    /// plain colour.
    pub textures: [Option<u16>; Face::COUNT],
    /// Whether the textures have holes where their opacity is below one half. Holes close with distance,
    /// where a texel is smaller than half a pixel. Shadows have holes where a texel is larger than a
    /// quarter of a texel of the shadow map. Translucent materials have none.
    pub is_cut_out: bool,
}

impl MaterialLook {
    /// Appearance of materials that are not in the table, which must be visible: magenta.
    pub const MISSING: Self = Self::new([255, 0, 255, 255]);

    /// Creates the appearance of a material with one colour that emits no light.
    pub const fn new(color: [u8; 4]) -> Self {
        let textures = [None; Face::COUNT];
        Self { faces: [color; Face::COUNT], emission: 0, textures, is_cut_out: false }
    }

    /// Sets the colour of each face direction, in the order of [`Face::ALL`].
    #[must_use]
    pub const fn with_faces(mut self, faces: [[u8; 4]; Face::COUNT]) -> Self {
        self.faces = faces;
        self
    }

    /// Sets the part of the colour that is drawn as it is.
    #[must_use]
    pub const fn with_emission(mut self, emission: u8) -> Self {
        self.emission = emission;
        self
    }

    /// Sets the image on each face direction, in the order of [`Face::ALL`].
    #[must_use]
    pub const fn with_textures(mut self, textures: [Option<u16>; Face::COUNT]) -> Self {
        self.textures = textures;
        self
    }

    /// Gives the textures holes where their opacity is below one half.
    #[must_use]
    pub const fn with_cut_out(mut self) -> Self {
        self.is_cut_out = true;
        self
    }
}

impl From<[u8; 4]> for MaterialLook {
    fn from(color: [u8; 4]) -> Self {
        Self::new(color)
    }
}

#[cfg(any(feature = "wgpu", feature = "gl"))]
mod entry {
    use bytemuck::{Pod, Zeroable};
    use drystone_mesh::Face;

    use super::MaterialLook;

    /// Entry of the table of materials as shaders read it.
    #[derive(Clone, Copy, Debug, Pod, Zeroable)]
    #[repr(C)]
    pub(crate) struct MaterialEntry {
        /// Colour of each face direction.
        faces: [[u8; 4]; Face::COUNT],
        /// Part of the colour that is drawn as it is, 0 to 1.
        emission: f32,
        /// Offset of the record of its textures; 0 for none.
        record: u32,
    }

    const _: () = assert!(size_of::<MaterialEntry>() == 32);

    impl MaterialEntry {
        /// Returns the table for shaders. It has at least one entry, as a buffer has: for no materials,
        /// that of materials that are not in the table. `records` are the offsets of the records of
        /// their textures.
        pub(crate) fn table(materials: &[MaterialLook], records: &[u32]) -> Vec<Self> {
            let materials = if materials.is_empty() { &[MaterialLook::MISSING] } else { materials };
            let records = records.iter().copied().chain(std::iter::repeat(0));
            let entry = |(look, record): (&MaterialLook, u32)| Self {
                faces: look.faces,
                emission: f32::from(look.emission) / f32::from(u8::MAX),
                record,
            };
            materials.iter().zip(records).map(entry).collect()
        }
    }
}
#[cfg(any(feature = "wgpu", feature = "gl"))]
pub(crate) use entry::MaterialEntry;
