use crate::{Face, FaceSet, Quad};

/// Visible voxel, packed into 8 bytes: an entry of a buffer that is drawn cube by cube.
///
/// ```text
/// word 0   31‥24       │ 23‥18 │ 17‥12 │ 11‥6 │ 5‥0
///          region, low │ faces │ z     │ y    │ x
/// word 1   31‥16       │ 15‥0
///          region, high│ material
/// ```
///
/// `faces` has a bit for each visible face direction, in the order of [`Face::ALL`]. An entry
/// without faces, such as [`Cube::NOTHING`], draws nothing. `region` is the origin of `x y z`: a
/// slot in the table of per-draw data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct Cube {
    words: [u32; 2],
}

const _: () = assert!(size_of::<Cube>() == size_of::<Quad>());

impl Cube {
    /// Entry that draws nothing: all zeros.
    pub const NOTHING: Self = Self { words: [0; 2] };
    /// Number of regions: one past the largest one.
    pub const MAX_REGIONS: u32 = 1 << 24;

    /// Packs a cube at `position` (0 to 63 each) in a region below
    /// [`MAX_REGIONS`](Self::MAX_REGIONS). Bits beyond these bounds are truncated (checked in debug
    /// builds).
    #[inline]
    pub const fn new(position: [u32; 3], faces: FaceSet, material: u16, region: u32) -> Self {
        let [x, y, z] = position;
        debug_assert!(x < 64 && y < 64 && z < 64 && region < Self::MAX_REGIONS);
        let low = x & 63 | (y & 63) << 6 | (z & 63) << 12 | (faces.bits() as u32) << 18;
        Self { words: [low | region << 24, material as u32 | (region >> 8) << 16] }
    }

    /// Position in the region, in voxels.
    #[inline]
    pub const fn position(self) -> [u32; 3] {
        [self.words[0] & 63, self.words[0] >> 6 & 63, self.words[0] >> 12 & 63]
    }

    /// Visible face directions.
    #[inline]
    pub const fn faces(self) -> FaceSet {
        FaceSet::from_bits((self.words[0] >> 18) as u8)
    }

    /// Index of the material.
    #[inline]
    pub const fn material(self) -> u16 {
        self.words[1] as u16
    }

    /// Region that the position is relative to.
    #[inline]
    pub const fn region(self) -> u32 {
        self.words[0] >> 24 | self.words[1] >> 16 << 8
    }

    /// Returns a copy with other visible face directions.
    #[inline]
    #[must_use]
    pub const fn with_faces(self, faces: FaceSet) -> Self {
        let [low, kind] = self.words;
        Self { words: [low & !(0x3f << 18) | (faces.bits() as u32) << 18, kind] }
    }

    /// Returns the quad of a face, visible or not.
    #[inline]
    pub const fn quad(self, face: Face) -> Quad {
        Quad::new(self.position(), [1, 1], face, self.material())
    }
}

impl core::fmt::Debug for Cube {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cube")
            .field("region", &self.region())
            .field("position", &self.position())
            .field("faces", &self.faces())
            .field("material", &self.material())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_are_restored_at_their_bounds() {
        for position in [[0, 0, 0], [63, 0, 0], [0, 63, 0], [0, 0, 63], [21, 42, 63]] {
            for faces in [0, 1, 0x15, 0x20, 0x3f].map(FaceSet::from_bits) {
                for material in [0, 1, u16::MAX] {
                    for region in [0, 255, 256, Cube::MAX_REGIONS - 1] {
                        let cube = Cube::new(position, faces, material, region);
                        assert_eq!((cube.position(), cube.faces()), (position, faces));
                        assert_eq!((cube.material(), cube.region()), (material, region));
                        let inverted = FaceSet::from_bits(!faces.bits());
                        let other = Cube::new(position, inverted, material, region);
                        assert_eq!(cube.with_faces(inverted), other);
                        let quad = Quad::new(position, [1, 1], Face::PosY, material);
                        assert_eq!(cube.quad(Face::PosY), quad);
                    }
                }
            }
        }
        assert_eq!(Cube::NOTHING.faces(), FaceSet::EMPTY);
    }
}
