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
}

impl MaterialLook {
    /// Appearance of materials that are not in the table, which must be visible: magenta.
    pub const MISSING: Self = Self::new([255, 0, 255, 255]);

    /// Creates the appearance of a material with one colour that emits no light.
    pub const fn new(color: [u8; 4]) -> Self {
        Self { faces: [color; Face::COUNT], emission: 0 }
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
        /// Fills 32 bytes, so that an entry lies in one cache line.
        padding: u32,
    }

    const _: () = assert!(size_of::<MaterialEntry>() == 32);

    impl MaterialEntry {
        /// Returns the table for shaders. It has at least one entry, as a buffer has: for no materials,
        /// that of materials that are not in the table.
        pub(crate) fn table(materials: &[MaterialLook]) -> Vec<Self> {
            let materials = if materials.is_empty() { &[MaterialLook::MISSING] } else { materials };
            let entry = |look: &MaterialLook| Self {
                faces: look.faces,
                emission: f32::from(look.emission) / f32::from(u8::MAX),
                padding: 0,
            };
            materials.iter().map(entry).collect()
        }
    }
}
#[cfg(any(feature = "wgpu", feature = "gl"))]
pub(crate) use entry::MaterialEntry;
