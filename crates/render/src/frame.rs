use bytemuck::{Pod, Zeroable};
use drystone_mesh::Face;
use glam::Vec3;

use crate::{Atmosphere, Camera, Projection};

/// All that is the same for every mesh of one picture, as shaders read it. The software
/// rasteriser reads the same bytes, so that there is one truth.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Frame {
    /// From places relative to the eye to clip space, by columns.
    pub clip_from_relative: [[f32; 4]; 4],
    /// The eye's voxel; `w` unused.
    pub camera_voxel: [i32; 4],
    /// The eye's place in its voxel, 0 to 1; `w`: the light that a level of occlusion takes.
    pub camera_fraction: [f32; 4],
    /// The ray through the picture's middle; `w`: the sun's disc ends at this cosine.
    pub ray_forward: [f32; 4],
    /// Added to the ray at the right edge; `w`: haze start.
    pub ray_right: [f32; 4],
    /// Added to the ray at the upper edge; `w`: 1 / (haze end − haze start), or 0.
    pub ray_up: [f32; 4],
    /// Sky straight up; `w`: haze density.
    pub zenith: [f32; 4],
    /// Sky at the horizon; `w`: how far a quad's corners move outwards, in voxels per unit
    /// of clip `w`, when the face is seen straight on (see [`Frame::SEAM_PIXELS`]).
    pub horizon: [f32; 4],
    /// Below the horizon; `w`: 1 when all rays are parallel (orthographic), else 0.
    pub ground: [f32; 4],
    /// Towards the sun, unit length; `w`: how far the wire frame's lines reach into their face,
    /// in pixels, or 0 for no lines.
    pub sun_direction: [f32; 4],
    /// The sun's colour; `w`: the most a corner's move is stretched (see
    /// [`Frame::SEAM_STRETCH_MAX`]).
    pub sun: [f32; 4],
    /// Light on what the sun does not reach and looks up, with which the light on normals
    /// that are no facing's can be told; `w`: how much of a colour its level's tint hides.
    pub ambient: [f32; 4],
    /// Light on each facing, in the order of [`Face::ALL`]; `w` unused.
    pub face_light: [[f32; 4]; Face::COUNT],
}

const _: () = assert!(size_of::<Frame>().is_multiple_of(16));

impl Frame {
    /// By how much of a pixel opaque quads' edges move outwards, over their neighbours.
    /// Where corners meet a long edge (a T-junction, which greedy merging makes),
    /// rasterisers round the two sides apart and the sky shines through single pixels.
    /// They snap to 1/256 of a pixel, so the two sides part by at most √2 of those steps;
    /// each moves by two of them, and no edge moves visibly.
    ///
    /// Edges move within their face's plane, and the flatter that is seen, the less of a
    /// move is left. So it is stretched by 1 / sin of the angle between the face and the
    /// plane through the eye and the edge. That angle is the same all along an edge, and
    /// the move grows with clip `w`, which is linear along it: edges stay straight, and
    /// two quads that share part of one move by the same there.
    pub const SEAM_PIXELS: f32 = 2.0 / 256.0;

    /// The most a move is stretched. Down to an angle of 1 in this, edges move by all of
    /// [`Frame::SEAM_PIXELS`]; since both sides of a seam do, it is shut down to about 1 in
    /// 182, where of the four steps √2 are left; on flatter faces, which lie within a few
    /// rows of their horizon, single pixels may open. It may not be boundless: where edges
    /// meet at a sharp angle in the picture, a corner moves much farther than they do, by
    /// up to half a pixel along each.
    pub const SEAM_STRETCH_MAX: f32 = 64.0;

    /// The hues of levels, from level 0 on and after the eighth again: red, green and blue, four
    /// bits a level, the lowest first.
    pub const TINTS: [u32; 3] = [0x7fe3_02ff, 0x4f36_edc3, 0x1fef_e303];

    /// How much of a colour the tint hides.
    pub const TINT: f32 = 0.65;

    /// How far from the edges of quads and triangles their lines can be seen: as dark as they are
    /// up to a pixel before that.
    pub const WIRE_PIXELS: f32 = 1.25;

    /// Whether it matters of which level a mesh is.
    pub(crate) fn shows_levels(&self) -> bool {
        self.quad_style() != QuadStyle::Plain || self.ambient[3] != 0.0
    }

    /// What has to be done for pixels of quads.
    pub(crate) fn quad_style(&self) -> QuadStyle {
        if self.sun_direction[3] != 0.0 {
            QuadStyle::Wired
        } else if self.is_shaded() {
            QuadStyle::Shaded
        } else {
            QuadStyle::Plain
        }
    }

    /// Whether corners of quads are darkened at all.
    pub fn is_shaded(&self) -> bool {
        self.camera_fraction[3] != 0.0
    }

    /// What shaders need to draw what `camera` sees on `width × height` pixels.
    pub fn new(camera: &Camera, atmosphere: &Atmosphere, width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1) as f32, height.max(1) as f32);
        let aspect = width / height;
        let (camera_voxel, camera_fraction) = camera.split_position();
        let [right, up, forward] = camera.basis();
        let [half_width, half_height] = camera.half_extents(aspect);
        let haze_depth = atmosphere.haze_end - atmosphere.haze_start;
        let haze_rate = if haze_depth > 0.0 { haze_depth.recip() } else { 0.0 };
        // Voxels that a pixel spans, per unit of clip w; whether rays are parallel.
        let (pixel_voxels, is_parallel) = match camera.projection {
            Projection::Perspective { .. } => (2.0 * half_height / height, 0.0),
            Projection::Orthographic { height_voxels } => (height_voxels / height, 1.0),
        };
        let [x, y, z] = camera_voxel;
        Self {
            clip_from_relative: camera.clip_from_relative(aspect).to_cols_array_2d(),
            camera_voxel: [x, y, z, 0],
            camera_fraction: camera_fraction.extend(atmosphere.ambient_occlusion).to_array(),
            // The sun is drawn five times its true size: 2.5° across.
            ray_forward: forward.extend(1.25f32.to_radians().cos()).to_array(),
            ray_right: (right * half_width).extend(atmosphere.haze_start).to_array(),
            ray_up: (up * half_height).extend(haze_rate).to_array(),
            zenith: atmosphere.zenith.extend(atmosphere.haze_density).to_array(),
            horizon: atmosphere.horizon.extend(pixel_voxels * Self::SEAM_PIXELS).to_array(),
            ground: atmosphere.ground.extend(is_parallel).to_array(),
            sun_direction: atmosphere.sun_direction.normalize_or(Vec3::Y).extend(0.0).to_array(),
            sun: atmosphere.sun.extend(Self::SEAM_STRETCH_MAX).to_array(),
            ambient: atmosphere.ambient.extend(0.0).to_array(),
            face_light: Face::ALL.map(|face| {
                let normal = Vec3::from_array(face.normal().map(|c| c as f32));
                atmosphere.light(normal).extend(0.0).to_array()
            }),
        }
    }
}

/// What is done for pixels of quads: each does more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuadStyle {
    /// Their colour, through haze.
    Plain,
    /// Corners are darkened.
    Shaded,
    /// And edges are drawn.
    Wired,
}
