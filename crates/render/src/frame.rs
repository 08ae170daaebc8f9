use bytemuck::{Pod, Zeroable};
use drystone_mesh::Face;
use glam::Vec3;

use crate::{Atmosphere, Camera, Projection};

/// Shader data that is the same for every mesh of one picture. The software rasteriser reads the
/// same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Frame {
    /// Matrix from positions relative to the camera to clip space, column by column.
    pub clip_from_relative: [[f32; 4]; 4],
    /// The camera's voxel; `w` unused.
    pub camera_voxel: [i32; 4],
    /// The camera's position in its voxel, 0 to 1; `w`: the light lost per level of ambient
    /// occlusion.
    pub camera_fraction: [f32; 4],
    /// Ray through the picture's middle; `w`: cosine of the angle at which the sun's disc ends.
    pub ray_forward: [f32; 4],
    /// Added to the ray at the right edge; `w`: haze start.
    pub ray_right: [f32; 4],
    /// Added to the ray at the upper edge; `w`: 1 / (haze end − haze start), or 0.
    pub ray_up: [f32; 4],
    /// Sky straight up; `w`: haze density.
    pub zenith: [f32; 4],
    /// Sky at the horizon; `w`: outward move of a quad's corners, in voxels per unit of clip `w`,
    /// for a face seen straight on (see [`Frame::SEAM_PIXELS`]).
    pub horizon: [f32; 4],
    /// Colour below the horizon; `w`: 1 for parallel rays (orthographic), else 0.
    pub ground: [f32; 4],
    /// Unit vector towards the sun; `w`: reach of the wire frame's lines into their face, in
    /// pixels, or 0 for no lines.
    pub sun_direction: [f32; 4],
    /// The sun's colour; `w`: the maximum factor of a corner's move (see
    /// [`Frame::SEAM_STRETCH_MAX`]).
    pub sun: [f32; 4],
    /// Ambient light on an upward surface, from which the light on arbitrary normals is computed;
    /// `w`: the part of a colour that its level's tint hides.
    pub ambient: [f32; 4],
    /// Light on each face direction, in the order of [`Face::ALL`]; `w` unused.
    pub face_light: [[f32; 4]; Face::COUNT],
}

const _: () = assert!(size_of::<Frame>().is_multiple_of(16));

impl Frame {
    /// Outward move of opaque quads' edges over their neighbours, in pixels. Greedy merging makes
    /// T-junctions, where corners meet a long edge. Rasterisers round the two sides differently,
    /// and the sky shines through single pixels. They snap to 1/256 of a pixel, so the two sides
    /// part by at most √2 of those steps. Each edge moves by two of them, which is not visible.
    ///
    /// Edges move within their face's plane. At flat angles less of the move is left on screen. So
    /// it is stretched by 1 / sin of the angle between the face and the plane through the camera
    /// and the edge. That angle is the same all along an edge, and the move grows with clip `w`,
    /// which is linear along it. Therefore edges stay straight, and two quads that share part of an
    /// edge move by the same amount there.
    pub const SEAM_PIXELS: f32 = 2.0 / 256.0;

    /// Maximum factor of a corner's move. Down to an angle of 1 in this, edges move by all of
    /// [`Frame::SEAM_PIXELS`]. Both sides of a seam move, so it stays closed down to about 1 in
    /// 182, where √2 of the four steps remain. On flatter faces, which lie within a few rows of
    /// their horizon, single pixels may open. The factor must be bounded: where edges meet at a
    /// sharp angle in the picture, a corner moves much farther than they do, by up to half a pixel
    /// along each.
    pub const SEAM_STRETCH_MAX: f32 = 64.0;

    /// Hues of levels, starting with level 0 and repeating after eight: red, green and blue, four
    /// bits for each level, lowest first.
    pub const TINTS: [u32; 3] = [0x7fe3_02ff, 0x4f36_edc3, 0x1fef_e303];

    /// Part of a colour that the tint hides.
    pub const TINT: f32 = 0.65;

    /// Reach of wire frame lines from the edges of quads and triangles, in pixels. Lines fade out
    /// over the last pixel.
    pub const WIRE_PIXELS: f32 = 1.25;

    /// Whether the picture depends on the level of meshes.
    #[cfg(any(feature = "soft", test))]
    pub(crate) fn shows_levels(&self) -> bool {
        self.quad_style() != QuadStyle::Plain || self.ambient[3] != 0.0
    }

    /// The work that pixels of quads need.
    pub(crate) fn quad_style(&self) -> QuadStyle {
        if self.sun_direction[3] != 0.0 {
            QuadStyle::Wired
        } else if self.is_shaded() {
            QuadStyle::Shaded
        } else {
            QuadStyle::Plain
        }
    }

    /// Whether ambient occlusion is on.
    pub fn is_shaded(&self) -> bool {
        self.camera_fraction[3] != 0.0
    }

    /// Creates the shader data for `camera` on `width × height` pixels.
    pub fn new(camera: &Camera, atmosphere: &Atmosphere, width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1) as f32, height.max(1) as f32);
        let aspect = width / height;
        let (camera_voxel, camera_fraction) = camera.split_position();
        let [right, up, forward] = camera.basis();
        let [half_width, half_height] = camera.half_extents(aspect);
        let haze_depth = atmosphere.haze_end - atmosphere.haze_start;
        let haze_rate = if haze_depth > 0.0 { haze_depth.recip() } else { 0.0 };
        // Voxels that a pixel spans per unit of clip w, and whether rays are parallel.
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

/// The work that pixels of quads need. Each style includes the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuadStyle {
    /// Colour and haze.
    Plain,
    /// Ambient occlusion.
    Shaded,
    /// Wire frame lines.
    Wired,
}
