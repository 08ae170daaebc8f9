//! Ambient occlusion of a quad's corners. It is carried to the pixels in the spare bits of the
//! quad's second word, because a pixel stores its position but not its quad.

use glam::{IVec3, Vec3A};

/// The eight bits of ambient occlusion of a quad's corners.
const CORNERS: u32 = 0xff << 3;
/// Marks a fine quad, which has no ambient occlusion; see [`Quad`](drystone_mesh::Quad).
const FINE: u32 = 1 << 31;
/// Bits of the face direction and the material.
const FACE_AND_MATERIAL: u32 = 7 | 0xffff << 11;
/// Bits for odd positions of the quad's lowest voxel along its width and, one bit higher, along its
/// height, counted from the camera's voxel.
const IS_ODD: u32 = 27;
/// Bits for quads longer than a voxel, along width and height.
const IS_LONG: u32 = 29;

/// Kind of a pixel that already has its colour. No quad's kind has this bit.
pub(super) const SHADED: u32 = 1 << 31;

/// Data of a quad that its pixels store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PixelKind {
    /// Face direction, ambient occlusion, material, and position of the quad.
    pub(super) word: u32,
    /// Level of the mesh, used with ambient occlusion or a tint.
    pub(super) level: u8,
    /// Parts of its colour that come from the faces beside it, of 255.
    pub(super) shares: [u8; 2],
    /// Bounds of the quad, for lines along its edges; else 0.
    pub(super) bounds: u32,
}

/// A quad's second word as its pixels store it: face direction and material without ambient occlusion. `words` are
/// the quad's. `origin` is its mesh's origin in voxels of the mesh, relative to the camera's voxel.
#[inline]
pub(super) fn pixel_kind(words: [u32; 2], origin: impl Fn() -> [i32; 3]) -> u32 {
    if words[1] & FINE != 0 {
        return words[1] & FACE_AND_MATERIAL;
    }
    match words[1] & CORNERS {
        0 => words[1] & FACE_AND_MATERIAL,
        _ => with_position(words, origin()),
    }
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
/// open to 3. `None` if the quad has no ambient occlusion. `fade` moves it towards its voxel's mean.
#[inline]
pub(super) fn darkness(
    kind: PixelKind,
    camera_voxel: IVec3,
    position: impl Fn() -> Vec3A,
    fade: impl Fn() -> f32,
) -> Option<f32> {
    let PixelKind { word: kind, level, .. } = kind;
    if kind & CORNERS == 0 {
        return None;
    }
    // In voxels of the mesh, relative to the camera's voxel.
    let camera_within = (camera_voxel & ((1 << level) - 1)).as_vec3a();
    let position = (position() + camera_within) * f32::from_bits((127 - u32::from(level)) << 23);
    let fade = fade();
    let [s, t] = [0, 1].map(|i| {
        let odd = (kind >> (IS_ODD + i) & 1) as f32;
        let from_low = position[span_axes(kind)[i as usize]] - odd;
        // In every other voxel: a position slightly below the quad must not count as its end.
        let within = (from_low - 2.0 * (from_low * 0.5 + 0.25).floor()).clamp(0.0, 1.0);
        within * (1.0 - fade) + 0.5 * fade
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
mod tests;
