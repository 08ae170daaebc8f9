//! Ambient occlusion of a quad's corners. It is carried to the pixels in the spare bits of the
//! quad's second word, because a pixel stores its position but not its quad.

use glam::{IVec3, Vec3A};

/// The eight bits of ambient occlusion of a quad's corners.
const CORNERS: u32 = 0xff << 3;
/// Bits for odd positions of the quad's lowest voxel along its width and, one bit higher, along its
/// height, counted from the camera's voxel.
const IS_ODD: u32 = 27;
/// Bits for quads longer than a voxel, along width and height.
const IS_LONG: u32 = 29;

/// Data of a quad that its pixels store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PixelKind {
    /// Face direction, ambient occlusion, material, and position of the quad.
    pub(super) word: u32,
    /// Level of the mesh, used with ambient occlusion or a tint.
    pub(super) level: u8,
    /// Bounds of the quad, for lines along its edges; else 0.
    pub(super) bounds: u32,
}

/// A quad's second word as its pixels store it; unchanged without ambient occlusion. `words` are
/// the quad's. `origin` is its mesh's origin in voxels of the mesh, relative to the camera's voxel.
#[inline]
pub(super) fn pixel_kind(words: [u32; 2], origin: impl Fn() -> [i32; 3]) -> u32 {
    if words[1] & CORNERS == 0 { words[1] } else { with_position(words, origin()) }
}

fn with_position([position, kind]: [u32; 2], origin: [i32; 3]) -> u32 {
    let mut word = kind & ((1 << IS_ODD) - 1);
    for (i, axis) in (0..).zip(span_axes(kind)) {
        let low = position >> (6 * axis) & 63;
        word |= ((low ^ origin[axis] as u32) & 1) << (IS_ODD + i);
        let is_long = position >> (18 + 6 * i) & 63 != 0;
        word |= u32::from(is_long) << (IS_LONG + i);
    }
    word
}

/// Darkness of a pixel of that kind at a position relative to the camera's unit, in levels: 0 for
/// open to 3. `None` if the quad has no ambient occlusion.
#[inline]
pub(super) fn darkness(
    kind: PixelKind,
    camera_voxel: IVec3,
    position: impl Fn() -> Vec3A,
) -> Option<f32> {
    let PixelKind { word: kind, level, .. } = kind;
    if kind & CORNERS == 0 {
        return None;
    }
    // In voxels of the mesh, relative to the camera's voxel.
    let camera_within = (camera_voxel & ((1 << level) - 1)).as_vec3a();
    let position = (position() + camera_within) * f32::from_bits((127 - u32::from(level)) << 23);
    let [s, t] = [0, 1].map(|i| {
        let odd = (kind >> (IS_ODD + i) & 1) as f32;
        let from_low = position[span_axes(kind)[i as usize]] - odd;
        // In every other voxel: a position slightly below the quad must not count as its end.
        (from_low - 2.0 * (from_low * 0.5 + 0.25).floor()).clamp(0.0, 1.0)
    });
    let [low, along_u, along_v, both] = slopes(kind);
    Some(low + along_u * s + (along_v + both * s) * t)
}

/// The darkness at the lowest corner, and the increments to the ends of width, of height and of
/// both. An edge longer than a voxel has the ambient occlusion of its low end.
#[inline]
fn slopes(kind: u32) -> [f32; 4] {
    let level = |corner: u32| (kind >> (3 + 2 * corner) & 3) as f32;
    let is_unit = |i: u32| (!kind >> (IS_LONG + i) & 1) as f32;
    let is_positive = kind & 7 >= 3;
    // A negative face swaps the two middle corners.
    let [u, v] = if is_positive { [1, 2] } else { [2, 1] };
    let low = level(0);
    let [along_u, along_v] = [level(u) - low, level(v) - low];
    let both = level(3) - low - along_u - along_v;
    [low, along_u * is_unit(0), along_v * is_unit(1), both * (is_unit(0) * is_unit(1))]
}

#[inline]
pub(super) fn span_axes(kind: u32) -> [usize; 2] {
    // Six and seven are no face directions; the shader takes them for +X and +Y.
    let axis = (kind & 7) as usize % 3;
    [(axis + 1) % 3, (axis + 2) % 3]
}

#[cfg(test)]
mod tests {
    use drystone_mesh::{Face, Quad};

    use super::{super::vertex::VertexStage, *};
    use crate::{Atmosphere, Camera, DrawData, Frame};

    /// At level 0, with the camera's voxel at the world's origin.
    fn seen(quad: Quad, origin: [i32; 3], position: [f32; 3]) -> Option<f32> {
        let word = pixel_kind(bytemuck::cast(quad), || origin);
        darkness(PixelKind { word, ..PixelKind::default() }, IVec3::ZERO, || position.into())
    }

    #[test]
    fn corners_have_the_ambient_occlusion_of_the_quad_from_both_sides_of_edges() {
        for face in Face::ALL {
            for (origin, low) in [([0; 3], [4, 5, 6]), ([-33, 64, 7], [0, 63, 31])] {
                let quad = Quad::new(low, [1, 1], face, 9).with_ambient_occlusion(0b11_10_01_00);
                for corner in 0..4 {
                    for hair in [-1e-3, 0.0, 1e-3] {
                        let at = |i: usize| (origin[i] + quad.corner(corner)[i] as i32) as f32;
                        let position = [0, 1, 2].map(|i| at(i) + hair);
                        let got = seen(quad, origin, position).unwrap();
                        assert!((got - corner as f32).abs() < 1e-2, "{face:?} {corner} {got}");
                    }
                }
            }
        }
    }

    /// For any camera position within the LOD voxels, and any distance from them.
    #[test]
    fn corners_of_lod_voxels_have_their_ambient_occlusion() {
        let camera = Camera::default();
        for (level, face) in (0..=DrawData::MAX_LEVEL).flat_map(|l| Face::ALL.map(|f| (l, f))) {
            let scale = 1 << level;
            let quad = Quad::new([4, 1, 6], [1, 1], face, 9).with_ambient_occlusion(0b11_10_01_00);
            for viewpoint in [[0; 3], [-1, 5, 77], [scale - 1, -scale - 1, 3 * scale / 2]] {
                let mut frame = Frame::new(&camera, &Atmosphere::default(), 8, 8);
                frame.camera_voxel = [viewpoint[0], viewpoint[1], viewpoint[2], 0];
                let stage = VertexStage::new(&frame, false);
                let origin = [-scale, 2 * scale, 0];
                let position = DrawData { origin, level, extent: 8 << level };
                let kind = stage.pixel_kind(quad, &position);
                for corner in 0..4 {
                    let units = |i: usize| origin[i] + quad.corner(corner)[i] as i32 * scale;
                    let at = || Vec3A::from([0, 1, 2].map(|i| (units(i) - viewpoint[i]) as f32));
                    let got = darkness(kind, IVec3::from(viewpoint), at).unwrap();
                    assert!(
                        (got - corner as f32).abs() < 1e-2,
                        "{level} {face:?} {viewpoint:?}: {got}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_middle_is_the_mean_of_the_corners() {
        for (corners, mean) in [(0b11, 0.75), (0b11_00_00_11, 1.5), (0b00_11_11_00, 1.5)] {
            let quad = Quad::new([3, 3, 3], [1, 1], Face::PosZ, 0).with_ambient_occlusion(corners);
            assert_eq!(seen(quad, [0; 3], [3.5, 3.5, 4.0]), Some(mean));
        }
    }

    #[test]
    fn long_edges_have_the_ambient_occlusion_of_their_low_end() {
        // Dark at the high end of the height.
        let strip =
            Quad::new([3, 3, 3], [9, 1], Face::PosZ, 0).with_ambient_occlusion(0b11_11_00_00);
        for along in [3.0, 3.9, 4.0, 7.3, 12.0] {
            assert_eq!(seen(strip, [0; 3], [along, 3.25, 4.0]), Some(0.75), "{along}");
        }
        let uneven =
            Quad::new([3, 3, 3], [9, 9], Face::PosZ, 0).with_ambient_occlusion(0b11_11_11_01);
        assert_eq!(seen(uneven, [0; 3], [7.7, 9.1, 4.0]), Some(1.0));
    }

    #[test]
    fn quads_without_ambient_occlusion_are_unchanged() {
        for bits in [0, !CORNERS] {
            assert_eq!(pixel_kind([u32::MAX, bits], || unreachable!()), bits);
            let kind = PixelKind { word: bits, ..PixelKind::default() };
            assert_eq!(darkness(kind, IVec3::ZERO, || unreachable!()), None);
        }
    }
}
