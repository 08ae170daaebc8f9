use bytemuck::{Pod, Zeroable};

use crate::{Face, FaceSet, Quad};

/// One visible voxel, packed into 8 bytes: an entry of a buffer that is drawn cube by cube.
///
/// ```text
/// word 0   31‥24       │ 23‥18 │ 17‥12 │ 11‥6 │ 5‥0
///          region, low │ faces │ z     │ y    │ x
/// word 1   31‥16       │ 15‥0
///          region, high│ material
/// ```
///
/// `faces` has a bit for each facing that can be seen, in the order of [`Face::ALL`]. An
/// entry without any, as [`Cube::NOTHING`], draws nothing. `region` is where `x y z` count
/// from: a slot of the table of per-draw data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Cube {
    words: [u32; 2],
}

const _: () = assert!(size_of::<Cube>() == size_of::<Quad>());

impl Cube {
    /// An entry that draws nothing: all zeros.
    pub const NOTHING: Self = Self { words: [0; 2] };
    /// One past the largest region.
    pub const MAX_REGIONS: u32 = 1 << 24;

    /// Packs a cube at `position` (0 to 63 each) of a region (below
    /// [`MAX_REGIONS`](Self::MAX_REGIONS)). Bits beyond these bounds are cut off (checked in
    /// debug builds).
    #[inline]
    pub const fn new(position: [u32; 3], faces: FaceSet, material: u16, region: u32) -> Self {
        let [x, y, z] = position;
        debug_assert!(x < 64 && y < 64 && z < 64 && region < Self::MAX_REGIONS);
        let place = x & 63 | (y & 63) << 6 | (z & 63) << 12 | (faces.bits() as u32) << 18;
        Self { words: [place | region << 24, material as u32 | (region >> 8) << 16] }
    }

    /// Its place in its region.
    #[inline]
    pub const fn position(self) -> [u32; 3] {
        [self.words[0] & 63, self.words[0] >> 6 & 63, self.words[0] >> 12 & 63]
    }

    /// The facings that can be seen.
    #[inline]
    pub const fn faces(self) -> FaceSet {
        FaceSet::from_bits((self.words[0] >> 18) as u8)
    }

    /// The material's number.
    #[inline]
    pub const fn material(self) -> u16 {
        self.words[1] as u16
    }

    /// What its place counts from.
    #[inline]
    pub const fn region(self) -> u32 {
        self.words[0] >> 24 | self.words[1] >> 16 << 8
    }

    /// The same cube with other facings to be seen.
    #[inline]
    #[must_use]
    pub const fn with_faces(self, faces: FaceSet) -> Self {
        let [place, kind] = self.words;
        Self { words: [place & !(0x3f << 18) | (faces.bits() as u32) << 18, kind] }
    }

    /// One of its faces, seen or not.
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
    fn every_field_comes_back_at_its_bounds() {
        for position in [[0, 0, 0], [63, 0, 0], [0, 63, 0], [0, 0, 63], [21, 42, 63]] {
            for faces in [0, 1, 0x15, 0x20, 0x3f].map(FaceSet::from_bits) {
                for material in [0, 1, u16::MAX] {
                    for region in [0, 255, 256, Cube::MAX_REGIONS - 1] {
                        let cube = Cube::new(position, faces, material, region);
                        assert_eq!((cube.position(), cube.faces()), (position, faces));
                        assert_eq!((cube.material(), cube.region()), (material, region));
                        let turned = FaceSet::from_bits(!faces.bits());
                        let other = Cube::new(position, turned, material, region);
                        assert_eq!(cube.with_faces(turned), other);
                        let quad = Quad::new(position, [1, 1], Face::PosY, material);
                        assert_eq!(cube.quad(Face::PosY), quad);
                    }
                }
            }
        }
        assert_eq!(Cube::NOTHING.faces(), FaceSet::EMPTY);
    }
}
