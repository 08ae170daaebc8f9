//! Textures of triangles. The arithmetic is that of `wgpu_device/textures.wgsl`, in the same order.

use glam::{Vec2, Vec3A, Vec4};

use crate::{error::RenderError, texture_set::TextureSet};

/// Flags of a material.
const UNLIT: u32 = 1;
const MASKED: u32 = 2;
const HAS_OPACITY: u32 = 4;
/// Offsets of the two textures in a material.
const BASE: u32 = 4;
const EMISSIVE: u32 = 12;
/// Number of words of a corner.
const CORNER_WORDS: u32 = 4;
/// Smaller squares of lengths have no logarithm that is needed.
const MIN_SQUARE: f32 = 1e-12;

/// The words of a [`TextureSet`](crate::TextureSet).
#[derive(Default)]
pub(super) struct Textures {
    words: Vec<u32>,
    pub(super) set: TextureSet,
}

/// Position of a vertex in its textures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) uv: Vec2,
    pub(super) color: Vec4,
    /// Offset of the material.
    pub(super) material: u32,
}

/// Texture coordinates of a pixel, and their changes by one pixel across and down.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PixelUv {
    pub(super) uv: Vec2,
    pub(super) steps: [Vec2; 2],
}

/// Surface of a pixel.
pub(super) struct Surface {
    /// Colour with the base texture.
    color: Vec4,
    emissive: Vec4,
    is_unlit: bool,
}

impl Surface {
    /// Returns the colour in this light, or in that on unlit materials.
    pub(super) fn lit(&self, light: Vec3A, unlit_light: f32) -> Vec4 {
        let light = if self.is_unlit { Vec3A::splat(unlit_light) } else { light };
        let lit = (Vec3A::from_vec4(self.color) * light).min(Vec3A::ONE);
        (lit + Vec3A::from_vec4(self.emissive)).min(Vec3A::ONE).extend(self.color.w)
    }
}

impl Textures {
    /// # Errors
    /// `OutOfMemory`.
    pub(super) fn new(set: &TextureSet) -> Result<Self, RenderError> {
        Ok(Self { words: set.words(u64::MAX)?, set: set.clone() })
    }

    fn word(&self, at: u32) -> u32 {
        self.words.get(at as usize).copied().unwrap_or_default()
    }

    fn number(&self, at: u32) -> f32 {
        f32::from_bits(self.word(at))
    }

    /// The corner with a number, or the last one; `None` without textures.
    pub(super) fn corner(&self, number: u32) -> Option<Corner> {
        let last = self.word(0).checked_sub(1)?;
        let at = self.word(1) + number.min(last) * CORNER_WORDS;
        Some(Corner {
            uv: Vec2::new(self.number(at), self.number(at + 1)),
            color: unpacked(self.word(at + 2)),
            material: self.word(at + 3),
        })
    }

    /// Whether a material has holes.
    pub(super) fn is_masked(&self, material: u32) -> bool {
        material != 0 && self.word(material) & MASKED != 0
    }

    /// The surface of a pixel; `None` where the material's mask leaves a hole.
    pub(super) fn surface(&self, material: u32, color: Vec4, at: &PixelUv) -> Option<Surface> {
        let flags = self.word(material);
        let mut color = color * self.sampled(material + BASE, at);
        if flags & MASKED != 0 && color.w < self.number(material + 1) {
            return None;
        }
        if flags & HAS_OPACITY == 0 || flags & MASKED != 0 {
            color.w = 1.0;
        }
        let emissive = unpacked(self.word(material + 2));
        let emissive = emissive * self.sampled(material + EMISSIVE, at);
        Some(Surface { color, emissive, is_unlit: flags & UNLIT != 0 })
    }

    /// A texture's colour; white without an image.
    fn sampled(&self, texture: u32, at: &PixelUv) -> Vec4 {
        let image = self.word(texture);
        if image == 0 {
            return Vec4::ONE;
        }
        let row = |n: u32| [0, 1, 2].map(|i| self.number(texture + 2 + 3 * n + i));
        let rows = [row(0), row(1)];
        let turned = |it: Vec2| Vec2::from(rows.map(|[a, b, _]| a * it.x + b * it.y));
        let place = turned(at.uv) + Vec2::new(rows[0][2], rows[1][2]);
        let size = self.word(image);
        let size = [size & 0xffff, size >> 16];
        let texels = Vec2::new(size[0] as f32, size[1] as f32);
        let [across, down] = at.steps.map(|step| turned(step) * texels);
        let square = across.dot(across).max(down.dot(down)).max(MIN_SQUARE);
        let last = self.word(image + 1) - 1;
        let level = (0.5 * square.log2()).clamp(0.0, last as f32);
        let lower = (level as u32).min(last);
        let part = level - lower as f32;
        let wrap = self.word(texture + 1);
        let near = self.bilinear(image, lower, (place, wrap), size);
        if part <= 0.0 {
            return near;
        }
        let far = self.bilinear(image, (lower + 1).min(last), (place, wrap), size);
        near + (far - near) * part
    }

    /// The colour between four texels of a mipmap.
    fn bilinear(&self, image: u32, level: u32, (at, wrap): (Vec2, u32), size: [u32; 2]) -> Vec4 {
        let [width, height] = size.map(|side| (side >> level).max(1) as i32);
        let first = self.word(image + 2 + level);
        let x = folded(at.x, wrap & 3) * width as f32 - 0.5;
        let y = folded(at.y, wrap >> 2 & 3) * height as f32 - 0.5;
        let (low_x, low_y) = (x.floor(), y.floor());
        let (part_x, part_y) = (x - low_x, y - low_y);
        let columns = [0, 1].map(|n| wrapped(low_x as i32 + n, width, wrap & 3));
        let rows = [0, 1].map(|n| wrapped(low_y as i32 + n, height, wrap >> 2 & 3));
        let texel = |column: usize, row: usize| {
            let at = first + (rows[row] * width + columns[column]) as u32;
            unpacked(self.word(at))
        };
        let top = texel(0, 0) + (texel(1, 0) - texel(0, 0)) * part_x;
        let bottom = texel(0, 1) + (texel(1, 1) - texel(0, 1)) * part_x;
        top + (bottom - top) * part_y
    }
}

/// The four channels of a word, from 0 to 1.
#[inline]
fn unpacked(word: u32) -> Vec4 {
    Vec4::from_array(word.to_le_bytes().map(f32::from)) / 255.0
}

/// A coordinate in the first repetition: 0 to 1, or to 2 for mirrored ones.
fn folded(at: f32, wrap: u32) -> f32 {
    match wrap {
        0 => at - at.floor(),
        1 => at - 2.0 * (at * 0.5).floor(),
        _ => at.clamp(0.0, 1.0),
    }
}

/// A texel's column or row in an image of this size.
fn wrapped(at: i32, size: i32, wrap: u32) -> i32 {
    let at = match wrap {
        0 if at < 0 => at + size,
        0 if at >= size => at - size,
        1 => at.max(-1 - at).min(2 * size - 1 - at.max(-1 - at)),
        _ => at,
    };
    at.clamp(0, size - 1)
}
