//! Overlay triangles, drawn over the picture in order, band by band in parallel.

use std::{collections::HashMap, ops::Range};

use super::{
    bins::BAND_ROWS,
    threads,
    triangle::Edges,
    viewport::{SUBPIXEL_BITS, SUBPIXELS},
};
use crate::{
    error::RenderError,
    image::Image,
    overlay::{Overlay, OverlayCorner, OverlayPart, OverlayPatch},
};

/// Farther corners are clamped to this coordinate, in sub-pixels, so that sums of products stay
/// exact.
const FARTHEST: f32 = (1 << 24) as f32;
/// Maximum number of triangles in a group. Bands test rows of groups, then rows of triangles.
const GROUP: usize = 32;

/// An overlay and its textures.
#[derive(Default)]
pub(super) struct SoftOverlay {
    overlay: Overlay,
    groups: Vec<Group>,
    sizes: HashMap<u64, [u32; 2]>,
    textures: HashMap<u64, Texture>,
}

/// Consecutive triangles of a part, and the rows that they touch at most.
struct Group {
    part: usize,
    indices: Range<usize>,
    rows: Range<usize>,
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
        self.groups.clear();
        for (part, OverlayPart { indices, .. }) in overlay.parts.iter().enumerate() {
            let range = indices.start as usize..indices.end as usize;
            for start in range.clone().step_by(3 * GROUP) {
                let indices = start..range.end.min(start + 3 * GROUP);
                let corners = overlay.indices[indices.clone()].iter();
                let rows = rows(corners.map(|&index| overlay.corners[index as usize].at[1]));
                self.groups.push(Group { part, indices, rows });
            }
        }
        Ok(())
    }

    /// Draws the overlay over a picture.
    pub(super) fn paint(&self, image: &mut Image) {
        if self.groups.is_empty() {
            return;
        }
        let size = [image.width(), image.height()];
        let width = image.width() as usize;
        let colors: &mut [[u8; 4]] = bytemuck::cast_slice_mut(image.rgba_mut());
        let mut bands: Vec<_> = colors.chunks_mut(width * BAND_ROWS).collect();
        threads::for_each(&mut bands, |band, colors| {
            self.paint_band(band * BAND_ROWS, colors, size);
        });
    }

    /// Draws the overlay over some rows of a picture of this `size`.
    fn paint_band(&self, first_row: usize, colors: &mut [[u8; 4]], size: [u32; 2]) {
        let end = first_row + colors.len() / size[0] as usize;
        let is_seen = |rows: &Range<usize>| rows.start < end && first_row < rows.end;
        let mut band = Band { first_row, width: size[0] as usize, colors };
        for group in self.groups.iter().filter(|group| is_seen(&group.rows)) {
            let part = &self.overlay.parts[group.part];
            let Some(texture) = self.textures.get(&part.texture) else { continue };
            let Some([left, top, right, bottom]) = part.clip_within(size) else { continue };
            let rows = first_row.max(top as usize)..end.min(bottom as usize);
            let clip = [left as i32..right as i32, rows.start as i32..rows.end as i32];
            for indices in self.overlay.indices[group.indices.clone()].chunks_exact(3) {
                let corners = [0, 1, 2].map(|i| self.overlay.corners[indices[i] as usize]);
                if is_seen(&rows_of(corners)) {
                    Triangle::new(corners)
                        .iter()
                        .for_each(|it| it.paint(&clip, texture, &mut band));
                }
            }
        }
    }
}

fn rows_of(corners: [OverlayCorner; 3]) -> Range<usize> {
    rows(corners.into_iter().map(|corner| corner.at[1]))
}

/// Returns the rows between the coordinates, and those that snapping can add.
fn rows(ys: impl Iterator<Item = f32>) -> Range<usize> {
    let (low, high) = ys.fold((f32::MAX, f32::MIN), |(low, high), y| (low.min(y), high.max(y)));
    // The casts saturate.
    (low - 1.0) as usize..(high + 2.0) as usize
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

/// Some rows of a picture.
struct Band<'a> {
    first_row: usize,
    width: usize,
    colors: &'a mut [[u8; 4]],
}

/// A triangle on the grid of sub-pixels, clockwise in a picture, whose rows go down. A centre on an
/// edge belongs to the triangle with that edge at its left or top.
struct Triangle {
    corners: [OverlayCorner; 3],
    at: [[i32; 2]; 3],
    /// Twice the area.
    area: i64,
}

impl Triangle {
    /// Returns `None` if its area is zero.
    fn new(mut corners: [OverlayCorner; 3]) -> Option<Self> {
        let snapped = |corner: &OverlayCorner| {
            corner.at.map(|at| {
                (at * SUBPIXELS as f32).round().clamp(-FARTHEST, FARTHEST) as i32 - SUBPIXELS / 2
            })
        };
        let mut at = [0, 1, 2].map(|i| snapped(&corners[i]));
        let mut area = edge(at[0], at[1], at[2]);
        if area < 0 {
            (at, corners, area) =
                ([at[0], at[2], at[1]], [corners[0], corners[2], corners[1]], -area);
        }
        (area > 0).then_some(Self { corners, at, area })
    }

    /// Blends the triangle over the pixels of a band that lie within `clip`.
    fn paint(&self, clip: &[Range<i32>; 2], texture: &Texture, band: &mut Band<'_>) {
        let bound = |axis: usize| {
            let [a, b, c] = self.at.map(|at| at[axis] >> SUBPIXEL_BITS);
            let Range { start, end } = clip[axis];
            start.max(a.min(b).min(c))..end.min(a.max(b).max(c) + 1)
        };
        let [columns, rows] = [bound(0), bound(1)];
        if columns.is_empty() {
            return;
        }
        let shade = Shade::new(self, texture);
        let plain = shade.plain();
        // Edge `i` is the one opposite to corner `i`.
        let [x, y] = [0, 1].map(|axis| [1, 2, 0].map(|i| self.at[i][axis]));
        let mut edges = Edges::new(x, y, [columns.start, rows.start]);
        for y in rows {
            let xs = edges.row(columns.len() as i64);
            if !xs.is_empty() {
                let first = columns.start + xs.start as i32;
                let start = (y as usize - band.first_row) * band.width + first as usize;
                let colors = &mut band.colors[start..start + (xs.end - xs.start) as usize];
                match plain {
                    Some(own) => colors.iter_mut().for_each(|color| *color = over(own, *color)),
                    None => {
                        let at = [first << SUBPIXEL_BITS, y << SUBPIXEL_BITS];
                        shade.paint(self.weights(at), edges.across, colors);
                    }
                }
            }
            edges.step_down();
        }
    }

    /// Returns the weights of the corners at a point; their sum is the area.
    fn weights(&self, point: [i32; 2]) -> [i64; 3] {
        let [a, b, c] = self.at;
        [edge(b, c, point), edge(c, a, point), edge(a, b, point)]
    }
}

/// Colours of a triangle.
struct Shade<'a> {
    corners: &'a [OverlayCorner; 3],
    colors: [[f32; 4]; 3],
    area: f32,
    texture: &'a Texture,
    /// Texel of all pixels, if they have the same one.
    texel: Option<[f32; 4]>,
}

impl<'a> Shade<'a> {
    fn new(Triangle { corners, area, .. }: &'a Triangle, texture: &'a Texture) -> Self {
        // Interpolation of other equal coordinates is not exact.
        let is_same = corners.iter().all(|corner| corner.uv == [0.0; 2]);
        let texel = is_same.then(|| texture.sample([0.0; 2]));
        let colors = corners.map(|corner| color(&corner.color));
        Self { corners, colors, area: *area as f32, texture, texel }
    }

    /// Returns the colour of all pixels, if they have the same one.
    fn plain(&self) -> Option<[f32; 4]> {
        let [first, others @ ..] = self.corners;
        let is_plain = others.iter().all(|it| (it.uv, it.color) == (first.uv, first.color));
        is_plain.then(|| self.color([1.0, 0.0, 0.0]))
    }

    /// Blends a row of pixels. `weights` are those of the first pixel.
    fn paint(&self, mut weights: [i64; 3], steps: [i64; 3], colors: &mut [[u8; 4]]) {
        for color in colors {
            *color = over(self.color(weights.map(|weight| weight as f32 / self.area)), *color);
            weights = [0, 1, 2].map(|i| weights[i] + steps[i]);
        }
    }

    fn color(&self, parts: [f32; 3]) -> [f32; 4] {
        let corners = self.corners;
        let texel = self.texel.unwrap_or_else(|| {
            let uv = [0, 1].map(|axis| sum([0, 1, 2].map(|i| corners[i].uv[axis] * parts[i])));
            self.texture.sample(uv)
        });
        [0, 1, 2, 3].map(|c| sum([0, 1, 2].map(|i| self.colors[i][c] * parts[i])) * texel[c])
    }
}

fn sum(parts: [f32; 3]) -> f32 {
    parts.iter().sum()
}

/// Twice the area of the triangle `a`, `b`, `c`: positive for clockwise triangles in a picture.
fn edge(a: [i32; 2], b: [i32; 2], c: [i32; 2]) -> i64 {
    let [a, b, c] = [a, b, c].map(|at| at.map(i64::from));
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

#[cfg(test)]
mod tests;
