use bytemuck::{Pod, Zeroable};

use crate::draw_data::DrawData;

/// A vertex of a triangle, as shaders read it: 20 bytes.
///
/// ```text
/// word  0 1 2     3             4
/// position  normal        colour
/// 3 × f32   2 × 16 bits,  4 × 8 bits: red, green,
/// octahedral    blue, opacity
/// ```
/// # Examples
/// ```
/// use drystone_render::TriangleVertex;
///
/// let vertex = TriangleVertex::new([1.0, 2.0, 3.0], [0.0, 0.6, 0.8], [200, 60, 40, 255]);
/// let [x, y, z] = vertex.normal();
/// assert!(x.abs() < 1e-4 && (y - 0.6).abs() < 1e-4 && (z - 0.8).abs() < 1e-4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct TriangleVertex {
    /// Position, in the model's units.
    pub position: [f32; 3],
    /// Normal on the octahedron `|x| + |y| + |z| = 1`, unfolded to a square: x in the low 16 bits,
    /// y in the high ones. Each is −1 to 1, stored as −32,767 to 32,767. The largest error is
    /// 0.003°.
    normal: u32,
    /// Colour as shown on screen, opacity last. In a textured mesh, the number of the corner.
    pub color: [u8; 4],
}

const _: () = assert!(size_of::<TriangleVertex>() == 20);

impl TriangleVertex {
    /// Creates a vertex. The normal can have any length. A normal without a direction points up.
    pub fn new(position: [f32; 3], normal: [f32; 3], color: [u8; 4]) -> Self {
        Self { position, normal: packed_normal(normal), color }
    }

    /// Creates a vertex of a [textured](crate::TriangleMesh::is_textured) mesh: the number of its
    /// corner in the [`TextureSet`](crate::TextureSet) replaces the colour.
    pub fn with_corner(position: [f32; 3], normal: [f32; 3], corner: u32) -> Self {
        Self::new(position, normal, corner.to_le_bytes())
    }

    /// The unit normal, as shaders unpack it.
    pub fn normal(&self) -> [f32; 3] {
        let unpacked = |bits: u32| (f32::from(bits as u16 as i16) / 32767.0).max(-1.0);
        let (x, y) = (unpacked(self.normal), unpacked(self.normal >> 16));
        let z = 1.0 - x.abs() - y.abs();
        // The lower half is folded over the edges of the upper half.
        let fold = (-z).max(0.0);
        let x = x - if x >= 0.0 { fold } else { -fold };
        let y = y - if y >= 0.0 { fold } else { -fold };
        glam::Vec3::new(x, y, z).normalize().to_array()
    }
}

/// Packs a normal into two numbers of 16 bits.
fn packed_normal(normal: [f32; 3]) -> u32 {
    let normal = normal.map(f64::from);
    let sum: f64 = normal.iter().map(|n| n.abs()).sum();
    let [x, y, z] = match sum > 0.0 && sum.is_finite() {
        true => normal.map(|n| n / sum),
        false => [0.0, 1.0, 0.0],
    };
    let sign = |n: f64| if n >= 0.0 { 1.0 } else { -1.0 };
    let [x, y] = match z >= 0.0 {
        true => [x, y],
        false => [(1.0 - y.abs()) * sign(x), (1.0 - x.abs()) * sign(y)],
    };
    let packed = |n: f64| u32::from((n * 32767.0).round() as i16 as u16);
    packed(x) | packed(y) << 16
}

/// Position and scale of a triangle mesh, indexed by its slot. It is stored in the table of
/// per-draw data instead of a [`DrawData`]: the bits of the scale replace the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleTransform {
    /// The world's voxel that contains the model's origin, in its lowest corner.
    pub origin: [i32; 3],
    /// Voxels per unit of the model. A power of two adds no rounding.
    pub scale: f32,
}

impl From<TriangleTransform> for DrawData {
    /// The data to be written to the slot.
    fn from(TriangleTransform { origin, scale }: TriangleTransform) -> Self {
        Self { origin, level: scale.to_bits(), extent: 0, sort_rank: 0 }
    }
}

impl TriangleTransform {
    /// The data of a textured mesh: the scale is negative.
    pub(crate) fn textured_slot(self) -> DrawData {
        Self { scale: -self.scale, ..self }.into()
    }

    /// Whether a slot belongs to a textured mesh.
    #[cfg(any(feature = "soft", test))]
    pub(crate) const fn is_textured(data: &DrawData) -> bool {
        f32::from_bits(data.level).is_sign_negative()
    }

    /// Decodes the data of a slot.
    #[cfg(any(feature = "soft", test))]
    pub(crate) const fn of_slot(data: &DrawData) -> Self {
        Self { origin: data.origin, scale: f32::from_bits(data.level).abs() }
    }
}

impl Default for TriangleTransform {
    /// At the world's origin, with one voxel per unit.
    fn default() -> Self {
        Self { origin: [0; 3], scale: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn normals_round_trip(components in prop::array::uniform3(-1.0..1.0f32)) {
            let normal = glam::Vec3::from(components);
            prop_assume!(normal.length() > 1e-3);
            let packed = TriangleVertex::new([0.0; 3], components, [0; 4]);
            let angle = normal.angle_between(packed.normal().into());
            // acos cannot resolve smaller angles in 32 bits.
            prop_assert!(angle < 6e-4, "{normal} {:?}", packed.normal());
            let twice = TriangleVertex::new([0.0; 3], packed.normal(), [0; 4]);
            let cross = normal.normalize().cross(twice.normal().into()).length();
            prop_assert!(cross < 1e-4, "{cross}");
        }
    }

    #[test]
    fn axes_are_exact_and_no_direction_points_up() {
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let mut normal = [0.0; 3];
                normal[axis] = sign;
                let packed = TriangleVertex::new([0.0; 3], normal, [0; 4]);
                assert_eq!(packed.normal().map(|n| n + 0.0), normal);
            }
        }
        for wrong in [[0.0; 3], [f32::NAN; 3], [f32::INFINITY, 0.0, 0.0]] {
            let up = TriangleVertex::new([0.0; 3], wrong, [0; 4]).normal();
            assert_eq!(up.map(|n| n + 0.0), [0.0, 1.0, 0.0]);
        }
    }
}
