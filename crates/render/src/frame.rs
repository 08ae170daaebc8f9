use bytemuck::{Pod, Zeroable};
use drystone_mesh::Face;
use glam::Vec3;

use crate::{
    atmosphere::Atmosphere,
    bloom::SHRINK,
    camera::{Camera, Projection},
};

/// Shader data that is the same for every mesh of one picture. The software rasteriser reads the
/// same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Frame {
    /// Matrix from positions relative to the camera to clip space, column by column.
    pub clip_from_relative: [[f32; 4]; 4],
    /// The camera's voxel.
    pub camera_voxel: [i32; 3],
    /// Strength with which the contrast of far faces fades, 0 for none to 1 (see
    /// [`Frame::FADE_UNITS`]).
    pub far_fade: f32,
    /// The camera's position in its voxel, 0 to 1.
    pub camera_fraction: [f32; 3],
    /// Share of the light lost per level of ambient occlusion; 0 if it is off.
    pub occlusion_loss: f32,
    /// Ray through the picture's middle.
    pub ray_forward: [f32; 3],
    /// Cosine of the angle at which the sun's disc ends.
    pub sun_disc_cos: f32,
    /// Added to the ray at the right edge.
    pub ray_right: [f32; 3],
    /// Distance at which haze starts.
    pub haze_start: f32,
    /// Added to the ray at the upper edge.
    pub ray_up: [f32; 3],
    /// 1 / (haze end − haze start), or 0.
    pub haze_rate: f32,
    /// Sky straight up.
    pub zenith: [f32; 3],
    /// Share of the sky in what is farther than the haze's end.
    pub haze_density: f32,
    /// Sky at the horizon.
    pub horizon: [f32; 3],
    /// Outward move of a quad's corners, in voxels per unit of clip `w`, for a face seen straight
    /// on (see [`Frame::SEAM_PIXELS`]).
    pub seam: f32,
    /// Colour below the horizon.
    pub ground: [f32; 3],
    /// 1 for parallel rays (orthographic), else 0.
    pub is_parallel: f32,
    /// Unit vector towards the sun.
    pub sun_direction: [f32; 3],
    /// Reach of the wire frame's lines into their face, in pixels, or 0 for no lines.
    pub wire_pixels: f32,
    /// The sun's colour.
    pub sun: [f32; 3],
    /// Maximum factor of a corner's move (see [`Frame::SEAM_STRETCH_MAX`]).
    pub seam_stretch_max: f32,
    /// Ambient light on an upward surface, from which the light on arbitrary normals is computed.
    pub ambient: [f32; 3],
    /// Part of a colour that its level's tint hides.
    pub level_tint: f32,
    /// Light on each face direction, in the order of [`Face::ALL`]; the last number is unused.
    pub face_light: [[f32; 4]; Face::COUNT],
    /// Colour that is added to the horizon where the sun is.
    pub glow: [f32; 3],
    /// Light on materials that are shown without light (glTF's unlit): 1, or 0 in pictures of emitted
    /// light.
    pub unlit_light: f32,
}

const _: () = assert!(size_of::<Frame>() == 352);

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

    /// Units that a pixel spans where the contrast of far faces begins to fade, and where it has
    /// faded. Steps of terrain are a few pixels long there, and their contrast would be moiré.
    ///
    /// A quad's colour moves towards the mean over the quad and the faces that meet it at a step of
    /// one voxel, weighted by the areas seen and by the part of its edges that are
    /// [steps](drystone_mesh::Quad::steps). So a flat surface has one colour, into whatever quads it is
    /// merged. This keeps the mean brightness of terrain. The distance decides, not the length of the mesh's voxels, so that levels of detail agree.
    /// Within voxels, ambient occlusion moves towards its mean. Translucent quads keep their colour:
    /// narrow ones in a surface of water would show as lines.
    pub const FADE_UNITS: [f32; 2] = [0.25, 1.0];

    /// Lengths of a quad's side in pixels up to which its contrast fades completely, and from which
    /// it does not fade, so that large faces keep their colour at any distance.
    pub const FADE_PIXELS: [f32; 2] = [3.0, 8.0];

    /// Weight of the faces beside an upward or downward face, and of the upward or downward face
    /// beside another, compared to terrain where each voxel is a step that faces the camera. Half
    /// of the steps face away, and treads are longer than a voxel. With these values the mean
    /// brightness of generated terrain, seen from within, changes by less than 1 %.
    pub const FADE_TREAD: f32 = 0.75;
    /// See [`Frame::FADE_TREAD`].
    pub const FADE_RISER: f32 = 1.25;

    /// Hues of levels, starting with level 0 and repeating after eight: red, green and blue, four
    /// bits for each level, lowest first.
    pub const TINTS: [u32; 3] = [0x7fe3_02ff, 0x4f36_edc3, 0x1fef_e303];

    /// Part of a colour that the tint hides.
    pub(crate) const TINT: f32 = 0.65;

    /// Reach of wire frame lines from the edges of quads and triangles, in pixels. Lines fade out
    /// over the last pixel.
    pub(crate) const WIRE_PIXELS: f32 = 1.25;

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
        Self {
            clip_from_relative: camera.clip_from_relative(aspect).to_cols_array_2d(),
            camera_voxel,
            far_fade: 0.0,
            camera_fraction: camera_fraction.to_array(),
            occlusion_loss: atmosphere.ambient_occlusion,
            ray_forward: forward.to_array(),
            // The sun is drawn five times its true size: 2.5° across.
            sun_disc_cos: 1.25f32.to_radians().cos(),
            ray_right: (right * half_width).to_array(),
            haze_start: atmosphere.haze_start,
            ray_up: (up * half_height).to_array(),
            haze_rate,
            zenith: atmosphere.zenith.to_array(),
            haze_density: atmosphere.haze_density,
            horizon: atmosphere.horizon.to_array(),
            seam: pixel_voxels * Self::SEAM_PIXELS,
            ground: atmosphere.ground.to_array(),
            is_parallel,
            sun_direction: atmosphere.sun_direction.normalize_or(Vec3::Y).to_array(),
            wire_pixels: 0.0,
            sun: atmosphere.sun.to_array(),
            seam_stretch_max: Self::SEAM_STRETCH_MAX,
            ambient: atmosphere.ambient.to_array(),
            level_tint: 0.0,
            face_light: Face::ALL.map(|face| {
                let normal = Vec3::from_array(face.normal().map(|c| c as f32));
                atmosphere.light(normal).extend(0.0).to_array()
            }),
            glow: atmosphere.glow.to_array(),
            unlit_light: 1.0,
        }
    }

    /// Returns the data for the picture of emitted light, which is smaller: without any other light, and
    /// without what is drawn over surfaces. Haze hides light as in the picture.
    pub(crate) fn emitted(&self) -> Self {
        Self {
            far_fade: 0.0,
            occlusion_loss: 0.0,
            zenith: [0.0; 3],
            horizon: [0.0; 3],
            seam: self.seam * SHRINK as f32,
            ground: [0.0; 3],
            wire_pixels: 0.0,
            sun: [0.0; 3],
            ambient: [0.0; 3],
            face_light: [[0.0; 4]; Face::COUNT],
            glow: [0.0; 3],
            unlit_light: 0.0,
            ..*self
        }
    }

    /// Whether pixels of quads need more than their quad's kind.
    #[cfg(any(feature = "soft", test))]
    pub(crate) fn shows_details(&self) -> bool {
        self.quad_style() != QuadStyle::Plain || self.level_tint != 0.0
    }

    /// The work that pixels of quads need.
    pub(crate) fn quad_style(&self) -> QuadStyle {
        if self.wire_pixels != 0.0 {
            QuadStyle::Wired
        } else if self.is_shaded() || self.far_fade != 0.0 {
            QuadStyle::Shaded
        } else {
            QuadStyle::Plain
        }
    }

    /// Whether ambient occlusion is on.
    pub fn is_shaded(&self) -> bool {
        self.occlusion_loss != 0.0
    }
}

/// The work that pixels of quads need. Each style includes the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuadStyle {
    /// Colour and haze.
    Plain,
    /// Ambient occlusion, and contrast that fades far from the camera. The shaders of `Plain` have no
    /// branch for either.
    Shaded,
    /// Wire frame lines.
    Wired,
}
