//! Textures of quads. The arithmetic is that of `wgpu_device/tiles.wgsl`, in the same order.

use glam::{Vec2, Vec3A, Vec4};

use crate::{frame::Frame, quad_textures::CUT_OUT};

/// Offset of the flags in a record.
const FLAGS: u32 = 6;
/// Narrower edges between texels are not needed.
const MIN_EDGE: f32 = 1.0 / 64.0;

/// Textures of the quads of a picture.
pub(super) struct Tiles<'a> {
    words: &'a [u32],
    camera_fraction: Vec3A,
    /// Units that a pixel spans at clip `w` 1, on a face seen straight on.
    pixel_units: f32,
    stretch_max: f32,
    /// Coefficients of clip `w` for a position relative to the camera.
    clip_w: (Vec3A, f32),
    parallel_sight: Option<Vec3A>,
}

impl<'a> Tiles<'a> {
    /// Creates the textures of a picture; `None` if no material has any.
    pub(super) fn new(words: &'a [u32], frame: &Frame) -> Option<Self> {
        let [x, y, z, rest] = frame.clip_from_relative.map(|column| column[3]);
        let is_parallel = frame.is_parallel > 0.0;
        (!words.is_empty()).then(|| Self {
            words,
            camera_fraction: Vec3A::from_array(frame.camera_fraction),
            pixel_units: frame.seam / Frame::SEAM_PIXELS,
            stretch_max: frame.seam_stretch_max,
            clip_w: (Vec3A::new(x, y, z), rest),
            parallel_sight: is_parallel.then(|| Vec3A::from_array(frame.ray_forward)),
        })
    }

    fn word(&self, at: u32) -> u32 {
        self.words.get(at as usize).copied().unwrap_or_default()
    }

    /// Whether the textures of a record can have holes.
    pub(super) fn has_holes(&self, record: u32) -> bool {
        record != 0 && self.word(record + FLAGS) & CUT_OUT != 0
    }

    /// The colour of a face direction's texture at a position relative to the camera; `None` in a hole.
    pub(super) fn color(&self, record: u32, face: u32, relative: Vec3A) -> Option<Vec3A> {
        let image = self.word(record + face);
        if image == 0 {
            return Some(Vec3A::ONE);
        }
        let [x, y, z] = (relative + self.camera_fraction).to_array();
        let at = match face {
            0 => Vec2::new(z, -y),
            1 => Vec2::new(x, -z),
            2 => Vec2::new(-x, -y),
            3 => Vec2::new(-z, -y),
            4 => Vec2::new(x, z),
            _ => Vec2::new(x, -y),
        };
        let sight = self.parallel_sight.unwrap_or(relative);
        let along = sight[face as usize % 3];
        let stretch = (sight.dot(sight) / (along * along).max(1e-6)).sqrt().min(self.stretch_max);
        let (forward, rest) = self.clip_w;
        let pixel = self.pixel_units * (forward.dot(relative) + rest) * stretch;
        let bits = self.word(image);
        let texels = pixel * (1 << bits) as f32;
        let level = texels.max(1.0).log2().min(bits as f32);
        let lower = (level as u32).min(bits);
        let part = level - lower as f32;
        let near = self.between(image, bits - lower, at, texels.clamp(MIN_EDGE, 1.0));
        let color = if part > 0.0 {
            let far = self.between(image, bits - (lower + 1).min(bits), at, 1.0);
            near + (far - near) * part
        } else {
            near
        };
        // Holes close where a pixel spans two to four texels.
        let least = 0.5 - 0.5 * (level - 1.0).clamp(0.0, 1.0);
        let is_hole = self.has_holes(record) && color.w < least;
        (!is_hole).then(|| Vec3A::from_vec4(color))
    }

    /// The colour between four texels of the mipmap with sides of 2 to the power of `bits`. `edge` is the
    /// width of the edges between texels.
    fn between(&self, image: u32, bits: u32, at: Vec2, edge: f32) -> Vec4 {
        let whole = self.word(image);
        let first = image + 1 + ((4 << (2 * whole)) - (4 << (2 * bits))) / 3;
        let place = (at - at.floor()) * (1 << bits) as f32 - 0.5;
        let low = place.floor();
        let part = (((place - low) - 0.5) / edge + 0.5).clamp(Vec2::ZERO, Vec2::ONE);
        let last = (1 << bits) - 1;
        let columns = [0, 1].map(|n| (low.x as i32 + n) & last);
        let rows = [0, 1].map(|n| (low.y as i32 + n) & last);
        let texel = |column: usize, row: usize| {
            let word = self.word(first + (rows[row] << bits | columns[column]) as u32);
            Vec4::from_array(word.to_le_bytes().map(f32::from)) / 255.0
        };
        let top = texel(0, 0) + (texel(1, 0) - texel(0, 0)) * part.x;
        let bottom = texel(0, 1) + (texel(1, 1) - texel(0, 1)) * part.x;
        top + (bottom - top) * part.y
    }
}
