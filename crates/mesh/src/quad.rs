use crate::Face;

/// Axis-aligned rectangle of voxel faces in one chunk, packed into 8 bytes.
///
/// ```text
/// word 0   31 30 │ 29‥24      │ 23‥18     │ 17‥12 │ 11‥6 │ 5‥0
///          spare │ height − 1 │ width − 1 │ z     │ y    │ x
/// word 1   31   │ 30‥27 │ 26‥11    │ 10‥3      │ 2‥0
///          fine │ steps │ material │ occlusion │ face
/// ```
/// Bit 31 of word 1 marks a [fine](Self::fine) quad. Its cells are sixteenths of a voxel instead of
/// voxels, and it has no ambient occlusion and no steps: those bits extend its position.
///
/// `x y z` is the quad's lowest voxel. The face is on that voxel's low side for a negative face
/// direction and on its high side for a positive one. The width runs along the first axis of
/// [`Face::span_axes`], the height along the second. Corner `c` is at `(c & 1, c >> 1)` in width
/// and height for a positive face direction, and at `(c >> 1, c & 1)` for a negative one. One index
/// pattern therefore winds both counter-clockwise seen from outside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
#[repr(C)]
pub struct Quad {
    words: [u32; 2],
}

const _: () = assert!(size_of::<Quad>() == 8);

/// WGSL functions that decode a [`Quad`] in a shader. Prepend the text to a shader that reads quads
/// as an `array<vec2<u32>>`.
///
/// ```text
/// struct QuadCorner {
///     position: vec3<f32>,    // in the grid of the chunk, 0 to 64 each
///     outward: vec3<f32>,     // in the quad's plane: −1 or 1 along width and height; not the normal
///     uv: vec2<f32>,          // in voxels along width and height, from 0
/// }
/// fn quad_corner(quad: vec2<u32>, corner: u32) -> QuadCorner
/// fn quad_normal(quad: vec2<u32>) -> vec3<f32>                // outward unit normal
/// fn quad_material(quad: vec2<u32>) -> u32                    // material, or merge key
/// fn quad_face(quad: vec2<u32>) -> u32                        // index in Face::ALL
/// fn quad_cell(quad: vec2<u32>) -> f32                        // side of its cells in voxels: 1 or 1/16
/// fn quad_position(quad: vec2<u32>) -> vec3<u32>              // lowest cell
/// fn quad_size(quad: vec2<u32>) -> vec2<u32>                  // width and height in cells
/// fn quad_occlusion(quad: vec2<u32>, corner: u32) -> u32      // 0 (open) to 3 (enclosed)
/// fn quad_steps(quad: vec2<u32>) -> vec2<u32>                 // along width and height: 0 to 3
/// ```
/// A vertex shader calls `quad_corner(quads[vertex / 4u], vertex % 4u)`. Front faces are
/// counter-clockwise. All names begin with `quad_` or `Quad`.
pub const QUAD_WGSL: &str = include_str!("quad.wgsl");

impl Quad {
    /// Largest side of a chunk, in voxels, that a quad can address.
    pub const MAX_SIDE: u32 = 64;

    /// Packs a quad: `position` of its lowest voxel (0 to 63 each) and `size` in voxels (1 to 64
    /// each). Bits beyond these bounds are truncated (checked in debug builds).
    #[inline]
    pub const fn new(position: [u32; 3], size: [u32; 2], face: Face, material: u16) -> Self {
        debug_assert!(position[0] < 64 && position[1] < 64 && position[2] < 64);
        debug_assert!(size[0].wrapping_sub(1) < 64 && size[1].wrapping_sub(1) < 64);
        let low = position[0] & 63 | (position[1] & 63) << 6 | (position[2] & 63) << 12;
        let extent = (size[0].wrapping_sub(1) & 63) << 18 | (size[1].wrapping_sub(1) & 63) << 24;
        Self { words: [low | extent, face as u32 | (material as u32) << 11] }
    }

    /// Packs a quad of sixteenths of a voxel: `position` of its lowest sixteenth (0 to 1,023 each) and
    /// `size` in sixteenths (1 to 64 each). It has no ambient occlusion. Bits beyond these bounds are
    /// truncated (checked in debug builds).
    ///
    /// ```text
    /// word 0   as in other quads, with the low six bits of the position
    /// word 1   31 │ 30‥27    │ 26‥11    │ 10‥7   │ 6‥3    │ 2‥0
    ///          1  │ z / 64   │ material │ y / 64 │ x / 64 │ face
    /// ```
    ///
    /// # Examples
    /// ```
    /// use drystone_mesh::{Face, Quad};
    ///
    /// // The top of a slab in the voxel at (20, 0, 3).
    /// let top = Quad::fine([20 * 16, 7, 3 * 16], [16, 16], Face::PosY, 9);
    /// assert_eq!(top.positions()[0], [20.0, 0.5, 3.0]);
    /// assert!(top.is_fine() && !Quad::new([20, 0, 3], [1, 1], Face::PosY, 9).is_fine());
    /// ```
    #[inline]
    pub const fn fine(position: [u32; 3], size: [u32; 2], face: Face, material: u16) -> Self {
        debug_assert!(position[0] < 1024 && position[1] < 1024 && position[2] < 1024);
        let [x, y, z] = position;
        let words = Self::new([x & 63, y & 63, z & 63], size, face, material).words;
        let blocks = (x >> 6 & 15) << 3 | (y >> 6 & 15) << 7 | (z >> 6 & 15) << 27;
        Self { words: [words[0], words[1] | blocks | Self::FINE_BIT] }
    }

    /// Marks a fine quad in word 1.
    const FINE_BIT: u32 = 1 << 31;

    /// Number of cells of a fine quad along the side of a voxel.
    pub const FINE_CELLS: u32 = 16;

    /// Whether the quad's cells are sixteenths of a voxel.
    #[inline]
    pub const fn is_fine(self) -> bool {
        self.words[1] & Self::FINE_BIT != 0
    }

    /// Side of the quad's cells in voxels: 1, or 1/16 for a [fine](Self::fine) quad.
    #[inline]
    pub const fn cell(self) -> f32 {
        if self.is_fine() { 1.0 / Self::FINE_CELLS as f32 } else { 1.0 }
    }

    /// Returns the quad of these bits: word 0 in the low half, word 1 in the high half. Fields do
    /// not overlap, so a mesher can add the bits of partial quads.
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        Self { words: [bits as u32, (bits >> 32) as u32] }
    }

    /// Returns the quad's bits, for [`from_bits`](Self::from_bits).
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.words[0] as u64 | (self.words[1] as u64) << 32
    }

    /// Returns a quad with the same face direction, material, ambient occlusion and steps over another
    /// rectangle, within the bounds of [`new`](Self::new). The quad must not be [fine](Self::fine).
    #[inline]
    #[must_use]
    pub const fn with_rectangle(self, position: [u32; 3], size: [u32; 2]) -> Self {
        Self { words: [Self::new(position, size, Face::NegX, 0).words[0], self.words[1]] }
    }

    /// Position of the quad's lowest voxel; that of its lowest sixteenth of a voxel if the quad is
    /// [fine](Self::fine).
    #[inline]
    pub const fn position(self) -> [u32; 3] {
        let low = [self.words[0] & 63, self.words[0] >> 6 & 63, self.words[0] >> 12 & 63];
        if !self.is_fine() {
            return low;
        }
        let blocks = [self.words[1] >> 3 & 15, self.words[1] >> 7 & 15, self.words[1] >> 27 & 15];
        [low[0] | blocks[0] << 6, low[1] | blocks[1] << 6, low[2] | blocks[2] << 6]
    }

    /// Width and height in voxels; in sixteenths of a voxel if the quad is [fine](Self::fine).
    #[inline]
    pub const fn size(self) -> [u32; 2] {
        [(self.words[0] >> 18 & 63) + 1, (self.words[0] >> 24 & 63) + 1]
    }

    /// Face direction, or `None` if the bits are invalid, which never happens for quads of
    /// [`Quad::new`].
    #[inline]
    pub const fn face(self) -> Option<Face> {
        Face::from_index((self.words[1] & 7) as usize)
    }

    /// Returns a copy with ambient occlusion; a [fine](Self::fine) quad has none and is returned as it
    /// is. The value has two bits for corner `c` at bit `2 * c`, from 0 (open)
    /// to 3 (enclosed). Values are interpolated between the corners along width and height. An edge
    /// longer than one voxel has the value of its low end along its whole length.
    #[inline]
    #[must_use]
    pub const fn with_ambient_occlusion(self, occlusion: u8) -> Self {
        if self.is_fine() {
            return self;
        }
        let shade = (occlusion as u32) << 3;
        Self { words: [self.words[0], self.words[1] & !(0xff << 3) | shade] }
    }

    /// Ambient occlusion of the corners, in the format of
    /// [`with_ambient_occlusion`](Self::with_ambient_occlusion).
    #[inline]
    pub const fn ambient_occlusion(self) -> u8 {
        if self.is_fine() { 0 } else { (self.words[1] >> 3) as u8 }
    }

    /// Returns a copy with steps; a [fine](Self::fine) quad is returned as it is. The first value is
    /// for the two edges at the ends of the width, the second for those at the ends of the height:
    /// which part of them ends the surface, in thirds. 0 means that the surface continues flat beyond
    /// both edges, 3 that it ends at both, 4 and more are truncated.
    #[inline]
    #[must_use]
    pub const fn with_steps(self, [width, height]: [u32; 2]) -> Self {
        if self.is_fine() {
            return self;
        }
        let steps = (width & 3 | (height & 3) << 2) << Self::STEPS_SHIFT;
        Self { words: [self.words[0], self.words[1] & !(15 << Self::STEPS_SHIFT) | steps] }
    }

    /// Steps at the ends of width and height, in the format of [`with_steps`](Self::with_steps). A
    /// [fine](Self::fine) quad is part of a shape, so its surface ends at all edges.
    #[inline]
    pub const fn steps(self) -> [u32; 2] {
        if self.is_fine() {
            return [Self::MAX_STEPS; 2];
        }
        let steps = self.words[1] >> Self::STEPS_SHIFT;
        [steps & 3, steps >> 2 & 3]
    }

    /// Value of [`steps`](Self::steps) where the surface ends at both edges.
    pub const MAX_STEPS: u32 = 3;

    /// Lowest bit of the steps in word 1.
    const STEPS_SHIFT: u32 = 27;

    /// Index of the material.
    #[inline]
    pub const fn material(self) -> u16 {
        (self.words[1] >> 11) as u16
    }

    /// Returns the position of corner `corner & 3` in the chunk's grid, 0 to 64 voxels each; in
    /// sixteenths of a voxel if the quad is [fine](Self::fine). The index pattern numbers the corners.
    #[inline]
    pub fn corner(self, corner: u32) -> [u32; 3] {
        let face = self.face().unwrap_or(Face::NegX);
        let [low, high] = [corner & 1, corner >> 1 & 1];
        let [along_u, along_v] = if face.is_positive() { [low, high] } else { [high, low] };
        let mut point = self.position();
        let [u, v] = face.span_axes();
        point[u] += along_u * self.size()[0];
        point[v] += along_v * self.size()[1];
        point[face.axis()] += u32::from(face.is_positive());
        point
    }

    /// Returns the positions of the four corners in the chunk's grid, in the order of the index
    /// pattern: vertices for programs that do not decode quads in a shader.
    ///
    /// # Examples
    /// ```
    /// use drystone_mesh::{Face, Quad};
    ///
    /// let quad = Quad::new([1, 2, 3], [4, 5], Face::PosY, 9);
    /// // The width of a face in direction +Y runs along z, the height along x.
    /// assert_eq!(quad.positions()[0], [1.0, 3.0, 3.0]);
    /// assert_eq!(quad.positions()[3], [6.0, 3.0, 7.0]);
    /// assert_eq!(quad.uv()[3], [4.0, 5.0]);
    /// ```
    #[inline]
    pub fn positions(self) -> [[f32; 3]; 4] {
        [0, 1, 2, 3].map(|corner| self.corner(corner).map(|at| at as f32 * self.cell()))
    }

    /// Returns the texture coordinates of the four corners, in the order of the index pattern, in
    /// voxels along width and height: a texture that repeats covers each voxel once.
    #[inline]
    pub fn uv(self) -> [[f32; 2]; 4] {
        let [width, height] = self.size();
        let is_positive = self.face().is_some_and(Face::is_positive);
        [0, 1, 2, 3].map(|corner| {
            let [low, high] = [corner & 1, corner >> 1];
            let [along_u, along_v] = if is_positive { [low, high] } else { [high, low] };
            [along_u * width, along_v * height].map(|cells| cells as f32 * self.cell())
        })
    }
}

impl core::fmt::Debug for Quad {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Quad")
            .field("face", &self.face())
            .field("position", &self.position())
            .field("size", &self.size())
            .field("material", &self.material())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_are_restored_at_their_bounds() {
        for face in Face::ALL {
            for position in [[0, 0, 0], [63, 0, 0], [0, 63, 0], [0, 0, 63], [21, 42, 63]] {
                for size in [[1, 1], [64, 1], [1, 64], [64, 64]] {
                    for material in [0, 1, u16::MAX] {
                        let quad = Quad::new(position, size, face, material);
                        assert_eq!(quad.position(), position);
                        assert_eq!(quad.size(), size);
                        assert_eq!(quad.face(), Some(face));
                        assert_eq!(quad.material(), material);
                        assert_eq!(Quad::from_bits(quad.to_bits()), quad);
                        let shaded = quad.with_ambient_occlusion(7).with_ambient_occlusion(0xa5);
                        assert_eq!(
                            (shaded.ambient_occlusion(), shaded.material()),
                            (0xa5, material)
                        );
                        assert_eq!(shaded.with_ambient_occlusion(0), quad);
                        let stepped = shaded.with_steps([3, 3]).with_steps([1, 2]);
                        assert_eq!((stepped.steps(), stepped.material()), ([1, 2], material));
                        assert_eq!((shaded.steps(), stepped.with_steps([0; 2])), ([0; 2], shaded));
                        assert!(!stepped.with_steps([7, 7]).is_fine());
                        let other = Quad::new([1, 2, 3], [4, 5], face, material);
                        assert_eq!(other.with_rectangle(position, size), quad);
                    }
                }
            }
        }
    }

    #[test]
    fn all_fields_of_fine_quads_are_restored_at_their_bounds() {
        for face in Face::ALL {
            for position in [[0, 0, 0], [1023, 0, 0], [0, 1023, 0], [0, 0, 1023], [65, 640, 511]] {
                for (size, material) in [([1, 64], 0), ([64, 1], u16::MAX)] {
                    let quad = Quad::fine(position, size, face, material);
                    assert_eq!((quad.position(), quad.size()), (position, size));
                    assert_eq!((quad.face(), quad.material()), (Some(face), material));
                    assert_eq!(quad.with_ambient_occlusion(0xff).with_steps([1, 2]), quad);
                    assert_eq!(quad.steps(), [3, 3]);
                    assert_eq!((quad.ambient_occlusion(), quad.is_fine()), (0, true));
                    let cells = quad.corner(0).map(|at| at as f32);
                    assert_eq!(quad.positions()[0].map(|at| at * 16.0), cells);
                }
            }
        }
        assert_eq!(Quad::fine([0; 3], [8, 8], Face::PosZ, 1).uv()[3], [0.5, 0.5]);
    }

    #[test]
    fn the_bits_of_partial_quads_add_up() {
        let part =
            |position, size, material| Quad::new(position, size, Face::NegX, material).to_bits();
        let sum = part([5, 0, 0], [1, 1], 0)
            + part([0, 6, 0], [1, 1], 0)
            + part([0, 0, 7], [1, 1], 0)
            + part([0; 3], [3, 1], 0)
            + part([0; 3], [1, 9], 0)
            + part([0; 3], [1, 1], 999);
        assert_eq!(Quad::from_bits(sum), Quad::new([5, 6, 7], [3, 9], Face::NegX, 999));
    }

    #[test]
    fn texture_coordinates_count_the_voxels_between_corners() {
        for face in Face::ALL {
            let quad = Quad::new([5, 6, 7], [3, 2], face, 1);
            let (positions, uv) = (quad.positions(), quad.uv());
            let [u, v] = face.span_axes();
            for corner in 0..4 {
                let at = positions[corner];
                assert_eq!(at, quad.corner(corner as u32).map(|x| x as f32), "{face:?}");
                let low = quad.position();
                let from_low = [at[u] - low[u] as f32, at[v] - low[v] as f32];
                assert_eq!(uv[corner], from_low, "{face:?} {corner}");
            }
        }
    }

    #[test]
    fn corners_wind_counter_clockwise_seen_from_outside() {
        for face in Face::ALL {
            let quad = Quad::new([5, 6, 7], [3, 2], face, 1);
            let [a, b, c] = [0, 1, 2].map(|corner| quad.corner(corner).map(|x| x as i32));
            let [ab, ac] = [b, c].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
            let cross = [
                ab[1] * ac[2] - ab[2] * ac[1],
                ab[2] * ac[0] - ab[0] * ac[2],
                ab[0] * ac[1] - ab[1] * ac[0],
            ];
            assert_eq!(cross, face.normal().map(|n| n * 6), "{face:?}");
        }
    }
}
