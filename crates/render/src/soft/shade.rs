//! The fragment stage: the colour of a pixel, from what lies there and how deep.
//!
//! A GPU carries each corner's place along and interpolates it. Here a pixel keeps only
//! its depth and its quad's facing, occlusion, material and level, 9 bytes: where it lies follows from its
//! place in the picture and its depth, so that what is hidden in the end is never shaded.

use glam::{DMat4, IVec3, Mat4, Vec3A, Vec4};

use super::occlusion::{PixelKind, darkness};
use super::sky::{Sky, mix, smooth, xyz};
use super::triangles::{Facet, Lamp};
use super::wire::Wire;
use crate::Frame;

/// What a material without a colour is drawn in: it must be seen.
const MISSING: Vec4 = Vec4::new(1.0, 0.0, 1.0, 1.0);
/// Below this a distance is not divided by.
const MIN_DISTANCE: f32 = 1e-6;

pub(super) struct Shader<'a> {
    sky: Sky,
    palette: &'a [Vec4],
    face_light: [Vec3A; 6],
    relative_from_clip: Mat4,
    camera_voxel: IVec3,
    camera_fraction: Vec3A,
    /// The light that a level of occlusion takes.
    occlusion: f32,
    /// How much of a colour its level's tint hides.
    tint: f32,
    /// The lines along quads' edges, where they are drawn.
    wire: Option<Wire>,
    haze_start: f32,
    haze_rate: f32,
    haze_density: f32,
    /// A pixel's width and height where the picture is −1 to 1, y up.
    pixel_steps: [f32; 2],
}

impl<'a> Shader<'a> {
    pub(super) fn new(frame: &Frame, palette: &'a [Vec4], [width, height]: [u32; 2]) -> Self {
        let clip_from_relative = Mat4::from_cols_array_2d(&frame.clip_from_relative);
        let relative_from_clip: DMat4 = clip_from_relative.as_dmat4().inverse();
        Self {
            sky: Sky::new(frame),
            palette,
            face_light: frame.face_light.map(xyz),
            relative_from_clip: relative_from_clip.as_mat4(),
            camera_voxel: IVec3::from_slice(&frame.camera_voxel),
            camera_fraction: xyz(frame.camera_fraction),
            occlusion: frame.camera_fraction[3],
            tint: frame.ambient[3],
            wire: Wire::new(frame),
            haze_start: frame.ray_right[3],
            haze_rate: frame.ray_up[3],
            haze_density: frame.zenith[3],
            pixel_steps: [2.0 / width as f32, -2.0 / height as f32],
        }
    }

    /// Whether any haze can be seen.
    fn is_hazy(&self) -> bool {
        self.haze_density != 0.0 && self.haze_rate != 0.0
    }

    /// The sky at a pixel.
    #[inline]
    pub(super) fn sky(&self, x: usize, y: usize) -> Vec4 {
        let [x, y] = self.picture_place(x, y);
        self.sky.behind(x, y).extend(1.0)
    }

    /// What a quad of this kind looks like at a pixel.
    #[inline]
    pub(super) fn surface(&self, x: usize, y: usize, depth: f32, kind: PixelKind) -> Vec4 {
        let lit = self.lit(kind);
        let place = || self.relative(x, y, depth) + self.camera_fraction;
        let shaded = match darkness(kind, self.camera_voxel, place) {
            Some(dark) if self.occlusion != 0.0 => {
                let light = 1.0 - dark * self.occlusion;
                (Vec3A::from_vec4(lit) * light).extend(lit.w)
            }
            _ => lit,
        };
        let seen = match &self.wire {
            Some(wire) => wire.over(shaded, kind, self.relative(x, y, depth)),
            None => shaded,
        };
        self.hazed(x, y, depth, seen)
    }

    /// What a triangle looks like at a pixel.
    #[inline]
    pub(super) fn facet(&self, [x, y]: [usize; 2], depth: f32, facet: &Facet, lamp: &Lamp) -> Vec4 {
        let shares = facet.shares(self.picture_place(x, y));
        let lit = facet.lit(shares, lamp);
        let seen = match &self.wire {
            Some(wire) => wire.over_triangle(lit, facet.edges(shares), self.relative(x, y, depth)),
            None => lit,
        };
        self.hazed(x, y, depth, seen)
    }

    /// What is lit like this looks like at a pixel, behind the haze that is before it.
    #[inline]
    fn hazed(&self, x: usize, y: usize, depth: f32, lit: Vec4) -> Vec4 {
        if self.is_hazy() { self.hazy(lit, self.relative(x, y, depth)) } else { lit }
    }

    /// Where a pixel of this depth lies, relative to the eye.
    #[inline]
    fn relative(&self, x: usize, y: usize, depth: f32) -> Vec3A {
        let [x, y] = self.picture_place(x, y);
        let place = self.relative_from_clip * Vec4::new(x, y, depth, 1.0);
        Vec3A::from_vec4(place) * place.w.recip()
    }

    /// A colour as seen from the eye through haze.
    #[inline]
    fn hazy(&self, lit: Vec4, relative: Vec3A) -> Vec4 {
        let distance = relative.length();
        let part = ((distance - self.haze_start) * self.haze_rate).clamp(0.0, 1.0);
        if part == 0.0 {
            return lit;
        }
        let haze = self.haze_density * smooth(part);
        let sky = self.sky.toward(relative / distance.max(MIN_DISTANCE));
        mix(Vec3A::from_vec4(lit), sky, haze).extend(lit.w)
    }

    /// A material's colour, and its level's, in the light that its facing gets.
    #[inline]
    fn lit(&self, PixelKind { word, level, .. }: PixelKind) -> Vec4 {
        let material = (word >> 11 & 0xffff) as usize;
        let color = self.palette.get(material).copied().unwrap_or(MISSING);
        let light = self.face_light[(word & 7).min(5) as usize];
        let mut own = Vec3A::from_vec4(color);
        if self.tint != 0.0 {
            own = mix(own, level_tint(level), self.tint);
        }
        (own * light).min(Vec3A::ONE).extend(color.w)
    }

    /// A pixel's centre where the picture is −1 to 1, y up.
    #[inline]
    fn picture_place(&self, x: usize, y: usize) -> [f32; 2] {
        let [across, down] = self.pixel_steps;
        [(x as f32 + 0.5) * across - 1.0, (y as f32 + 0.5) * down + 1.0]
    }
}

/// The hue of a level.
#[inline]
fn level_tint(level: u8) -> Vec3A {
    Vec3A::from(Frame::TINTS.map(|hues| (hues >> (4 * (level & 7)) & 15) as f32)) / 15.0
}

/// A palette's colour as the shader unpacks it.
pub(super) fn unpacked(color: [u8; 4]) -> Vec4 {
    Vec4::from_array(color.map(f32::from)) / 255.0
}

/// As an 8-bit target stores it: the nearest of 0 to 255.
#[inline]
pub(super) fn packed(color: Vec4) -> [u8; 4] {
    // The cast cuts off what lies outside, and makes 0 of what is no number.
    (color * 255.0 + 0.5).to_array().map(|channel| channel as u8)
}

/// `color` over what is there, by its opacity.
#[inline]
pub(super) fn over(color: Vec4, below: [u8; 4]) -> [u8; 4] {
    let opacity = color.w;
    let source = (Vec3A::from_vec4(color) * opacity).extend(opacity);
    packed(source + unpacked(below) * (1.0 - opacity))
}
