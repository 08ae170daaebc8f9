//! Overlay triangles, drawn over the picture in order, pixel by pixel.

use std::collections::HashMap;

use crate::{
    error::RenderError,
    image::Image,
    overlay::{Overlay, OverlayCorner, OverlayPatch},
};

/// Corners snap to this fraction (1/n) of a pixel, as on GPUs.
const STEPS: f32 = 256.0;
/// Farther corners are clamped to this coordinate, in snapped steps, so that sums of products stay
/// exact.
const FARTHEST: f32 = (1 << 24) as f32;

/// An overlay and its textures.
#[derive(Default)]
pub(super) struct SoftOverlay {
    overlay: Overlay,
    sizes: HashMap<u64, [u32; 2]>,
    textures: HashMap<u64, Texture>,
}

struct Texture {
    size: [usize; 2],
    /// Red, green, blue and opacity, 0 to 1.
    pixels: Vec<[f32; 4]>,
}

impl SoftOverlay {
    pub(super) fn set(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        if let Err(error) = overlay.check(&mut self.sizes) {
            *self = Self::default();
            return Err(error);
        }
        for patch in &overlay.patches {
            match self.textures.get_mut(&patch.texture).filter(|_| patch.at.is_some()) {
                Some(texture) => texture.patch(patch),
                None => drop(self.textures.insert(patch.texture, Texture::new(patch))),
            }
        }
        overlay.freed.iter().for_each(|texture| drop(self.textures.remove(texture)));
        self.overlay = Overlay { patches: Vec::new(), ..overlay.clone() };
        Ok(())
    }

    /// Draws the overlay over a picture.
    pub(super) fn paint(&self, image: &mut Image) {
        let size = [image.width(), image.height()];
        let width = image.width() as usize;
        let colors: &mut [[u8; 4]] = bytemuck::cast_slice_mut(image.rgba_mut());
        let Overlay { corners, indices, parts, .. } = &self.overlay;
        for part in parts {
            let Some(texture) = self.textures.get(&part.texture) else { continue };
            let Some(clip) = part.clip_within(size) else { continue };
            let indices = &indices[part.indices.start as usize..part.indices.end as usize];
            for triangle in indices.chunks_exact(3) {
                let corners = [0, 1, 2].map(|i| corners[triangle[i] as usize]);
                fill(corners, clip.map(i64::from), texture, |x, y, own| {
                    let pixel = &mut colors[y * width + x];
                    *pixel = over(own, *pixel);
                });
            }
        }
    }
}

impl Texture {
    fn new(patch: &OverlayPatch) -> Self {
        let size = patch.size.map(|side| side as usize);
        Self { size, pixels: patch.rgba.chunks_exact(4).map(color).collect() }
    }

    fn patch(&mut self, patch: &OverlayPatch) {
        let [x, y] = patch.at.unwrap_or_default().map(|at| at as usize);
        let width = patch.size[0] as usize;
        for (row, bytes) in patch.rgba.chunks_exact(width * 4).enumerate() {
            let start = (y + row) * self.size[0] + x;
            for (pixel, bytes) in self.pixels[start..start + width].iter_mut().zip(bytes.chunks(4))
            {
                *pixel = color(bytes);
            }
        }
    }

    /// Bilinear sample of the texture, clamped at the edges.
    fn sample(&self, [u, v]: [f32; 2]) -> [f32; 4] {
        let around = |part: f32, side: usize| {
            let at = (part * side as f32 - 0.5).clamp(0.0, (side - 1) as f32);
            let low = at as usize;
            (low, (low + 1).min(side - 1), at - low as f32)
        };
        let ((left, right, x), (top, bottom, y)) =
            (around(u, self.size[0]), around(v, self.size[1]));
        let row = |row: usize| {
            let [one, two] = [left, right].map(|at| self.pixels[row * self.size[0] + at]);
            mix(one, two, x)
        };
        mix(row(top), row(bottom), y)
    }
}

fn color(bytes: &[u8]) -> [f32; 4] {
    [0, 1, 2, 3].map(|channel| bytes.get(channel).map_or(0.0, |&byte| f32::from(byte) / 255.0))
}

fn mix(one: [f32; 4], two: [f32; 4], part: f32) -> [f32; 4] {
    [0, 1, 2, 3].map(|channel| one[channel] + (two[channel] - one[channel]) * part)
}

/// Blends a premultiplied colour over a pixel.
fn over(own: [f32; 4], below: [u8; 4]) -> [u8; 4] {
    [0, 1, 2, 3].map(|channel| {
        let seen = own[channel] * 255.0 + f32::from(below[channel]) * (1.0 - own[3]);
        // Rounded; the cast saturates.
        (seen + 0.5) as u8
    })
}

/// Calls `paint` with each pixel within `clip` whose centre the triangle covers, and the colour
/// there. A centre on an edge belongs to the triangle with that edge at its left or top.
fn fill(
    mut corners: [OverlayCorner; 3],
    [left, top, right, bottom]: [i64; 4],
    texture: &Texture,
    mut paint: impl FnMut(usize, usize, [f32; 4]),
) {
    let snapped = |corner: &OverlayCorner| {
        corner.at.map(|at| (at * STEPS).round().clamp(-FARTHEST, FARTHEST) as i64)
    };
    let mut at = [0, 1, 2].map(|i| snapped(&corners[i]));
    let mut area = edge(at[0], at[1], at[2]);
    if area < 0 {
        (at, corners, area) = ([at[0], at[2], at[1]], [corners[0], corners[2], corners[1]], -area);
    }
    if area == 0 {
        return;
    }
    let step = STEPS as i64;
    let bound = |axis: usize, low: i64, high: i64| {
        let (least, most) = (at.iter().map(|c| c[axis]).min(), at.iter().map(|c| c[axis]).max());
        let first = least.unwrap_or_default().div_euclid(step);
        low.max(first)..high.min(most.unwrap_or_default().div_euclid(step) + 1)
    };
    let (xs, ys) = (bound(0, left, right), bound(1, top, bottom));
    let sides = [(at[1], at[2]), (at[2], at[0]), (at[0], at[1])];
    let least = sides.map(|(from, to)| i64::from(!is_left_or_top(from, to)));
    let is_plain = corners.iter().all(|it| (it.uv, it.color) == (corners[0].uv, corners[0].color));
    let colors = corners.map(|corner| color(&corner.color));
    let shade = |parts: [f32; 3]| {
        let uv = [0, 1].map(|axis| sum([0, 1, 2].map(|i| corners[i].uv[axis] * parts[i])));
        let texel = texture.sample(uv);
        [0, 1, 2, 3].map(|c| sum([0, 1, 2].map(|i| colors[i][c] * parts[i])) * texel[c])
    };
    let plain = is_plain.then(|| shade([1.0, 0.0, 0.0]));
    for y in ys {
        for x in xs.clone() {
            let middle = [x * step + step / 2, y * step + step / 2];
            let weights = sides.map(|(from, to)| edge(from, to, middle));
            if (0..3).all(|i| weights[i] >= least[i]) {
                let parts = || weights.map(|weight| weight as f32 / area as f32);
                paint(x as usize, y as usize, plain.unwrap_or_else(|| shade(parts())));
            }
        }
    }
}

fn sum(parts: [f32; 3]) -> f32 {
    parts.iter().sum()
}

/// Twice the area of the triangle `a`, `b`, `c`: positive for clockwise triangles in a picture,
/// whose rows go down.
const fn edge(a: [i64; 2], b: [i64; 2], c: [i64; 2]) -> i64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Whether an edge of a clockwise triangle is its top, or on its left.
const fn is_left_or_top(from: [i64; 2], to: [i64; 2]) -> bool {
    to[1] < from[1] || (to[1] == from[1] && to[0] > from[0])
}

#[cfg(test)]
mod tests;
