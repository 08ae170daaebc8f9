//! Lines along the edges of quads: a pixel stores the bounds of its quad, like its ambient
//! occlusion. Those of triangles follow from the heights of their corners above the opposite edges.

use drystone_mesh::Quad;
use glam::{IVec3, Vec3A, Vec4};

use super::occlusion::{PixelKind, span_axes};
use crate::frame::Frame;

/// Number of bits of each end, and of each length minus one.
const END_BITS: u32 = 7;
const LENGTH_BITS: u32 = 6;
/// Ends are counted modulo this: twice the longest quad.
const ENDS: f32 = (1 << END_BITS) as f32;
/// Part of a pixel on an edge that the line hides.
const DARKEST: f32 = 0.85;
/// Quads with a side of fewer pixels have fainter lines, which would cover them otherwise.
const CLEAR_PIXELS: f32 = 8.0;
/// Shorter lengths are not used as divisors.
const MIN_LENGTH: f32 = 1e-9;

/// Position and size of a quad, in voxels of its mesh: its low ends along width and height, counted
/// from the camera's voxel, and its lengths minus one. For a fine quad, those of the voxels that it
/// touches. `origin` is its mesh's origin in voxels of the mesh, relative to the camera's voxel.
#[inline]
pub(super) fn quad_bounds(quad: Quad, origin: [i32; 3]) -> u32 {
    let [_, kind]: [u32; 2] = bytemuck::cast(quad);
    let shift = if quad.is_fine() { Quad::FINE_CELLS.ilog2() } else { 0 };
    let (position, size) = (quad.position(), quad.size());
    let mut bounds = 0;
    for (i, axis) in (0..).zip(span_axes(kind)) {
        let first = position[axis] >> shift;
        let low = first.wrapping_add(origin[axis] as u32) & ((1 << END_BITS) - 1);
        let length = ((position[axis] + size[i as usize] - 1) >> shift) - first;
        bounds |= low << (END_BITS * i) | length << (2 * END_BITS + LENGTH_BITS * i);
    }
    bounds
}

/// Distances of a pixel in its triangle, in voxels across the view direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    /// Distance to the nearest edge.
    pub(super) nearest: f32,
    /// The smallest of the triangle's heights.
    pub(super) least: f32,
}

/// A colour with this part hidden by a line.
#[inline]
fn under(color: Vec4, line: f32) -> Vec4 {
    let opacity = color.w + (1.0 - color.w) * line;
    (Vec3A::from_vec4(color) * (1.0 - line)).extend(opacity)
}

/// The lines of a frame.
pub(super) struct Wire {
    /// Reach of lines into their quad, in pixels.
    pixels: f32,
    /// Units that a pixel spans at clip `w` 1, on a face seen straight on.
    pixel_units: f32,
    stretch_max: f32,
    /// Coefficients of clip `w` for a position relative to the camera.
    clip_w: (Vec3A, f32),
    parallel_sight: Option<Vec3A>,
    camera_voxel: IVec3,
    camera_fraction: Vec3A,
}

impl Wire {
    /// Creates the lines of a frame; `None` if it has none.
    pub(super) fn new(frame: &Frame) -> Option<Self> {
        let [x, y, z, rest] = frame.clip_from_relative.map(|column| column[3]);
        let is_parallel = frame.is_parallel > 0.0;
        let pixels = frame.wire_pixels;
        (pixels != 0.0).then(|| Self {
            pixels,
            pixel_units: frame.seam / Frame::SEAM_PIXELS,
            stretch_max: frame.seam_stretch_max,
            clip_w: (Vec3A::new(x, y, z), rest),
            parallel_sight: is_parallel.then(|| Vec3A::from_array(frame.ray_forward)),
            camera_voxel: IVec3::from_array(frame.camera_voxel),
            camera_fraction: Vec3A::from_array(frame.camera_fraction),
        })
    }

    /// A pixel's colour under the line of its quad, at a position relative to the camera.
    #[inline]
    pub(super) fn over(&self, color: Vec4, kind: PixelKind, relative: Vec3A) -> Vec4 {
        under(color, self.line(kind, relative))
    }

    /// A pixel's colour under the line of its triangle, at these distances from the edges.
    #[inline]
    pub(super) fn over_triangle(&self, color: Vec4, edges: Edges, relative: Vec3A) -> Vec4 {
        under(color, self.triangle_line(edges, relative))
    }

    /// Distance of each corner of a triangle from the plane through the camera and the opposite
    /// edge. Uses positions relative to the camera, and positions within the mesh, which are finer.
    pub(super) fn heights(&self, relative: [Vec3A; 3], local: [Vec3A; 3]) -> Vec3A {
        Vec3A::from([0, 1, 2].map(|corner| {
            let (from, to) = ((corner + 1) % 3, (corner + 2) % 3);
            let sight = self.parallel_sight.unwrap_or(relative[from]);
            let across = sight.cross(local[to] - local[from]);
            let height = (local[corner] - local[from]).dot(across).abs();
            height / across.length().max(MIN_LENGTH)
        }))
    }

    fn triangle_line(&self, Edges { nearest, least }: Edges, relative: Vec3A) -> f32 {
        let (forward, rest) = self.clip_w;
        let pixel = self.pixel_units * (forward.dot(relative) + rest);
        let line = (self.pixels - nearest / pixel).clamp(0.0, 1.0);
        DARKEST * line * (least / pixel / CLEAR_PIXELS).clamp(0.0, 1.0)
    }

    /// Part of a pixel that the line hides.
    fn line(&self, kind: PixelKind, relative: Vec3A) -> f32 {
        let level = u32::from(kind.level);
        let normal_axis = (kind.word & 7) as usize % 3;
        let camera_within = (self.camera_voxel & ((1 << level) - 1)).as_vec3a();
        let per_unit = f32::from_bits((127 - level) << 23);
        let at = (relative + self.camera_fraction + camera_within) * per_unit;
        let squares = self.parallel_sight.unwrap_or(relative).map(|c| c * c);
        let off_plane = squares[normal_axis].max(1e-6);
        let (forward, rest) = self.clip_w;
        let straight = self.pixel_units * (forward.dot(relative) + rest) * per_unit;
        let (mut edge, mut side) = (f32::INFINITY, f32::INFINITY);
        for (i, axis) in (0..).zip(span_axes(kind.word)) {
            let low = (kind.bounds >> (END_BITS * i) & ((1 << END_BITS) - 1)) as f32;
            let length = kind.bounds >> (2 * END_BITS + LENGTH_BITS * i);
            let size = (length & ((1 << LENGTH_BITS) - 1)) as f32 + 1.0;
            let from_low = at[axis] - low;
            // A position slightly below the quad must not count as above it.
            let within = from_low - ENDS * (from_low / ENDS + 0.25).floor();
            // Voxels that a pixel spans.
            let stretch = (1.0 + squares[axis] / off_plane).sqrt().min(self.stretch_max);
            let pixel = stretch * straight;
            edge = edge.min(within.min(size - within) / pixel);
            side = side.min(size / pixel);
        }
        let line = (self.pixels - edge).clamp(0.0, 1.0);
        DARKEST * line * (side / CLEAR_PIXELS).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests;
