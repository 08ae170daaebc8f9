//! The algorithms of `cull.wgsl`, `commands.wgsl` and `pyramid.wgsl` in Rust: the oracle for tests of
//! the shaders.
//! The oracle itself is tested against plain searches.

use drystone_pool::DrawCommand;
use glam::{Mat4, Vec3, Vec4Swizzles};

use super::super::{
    CullView,
    bounds::{CullRecord, Pattern, longest},
};

/// A depth picture, and coarser ones with the farthest depth in blocks of 2, 4, 8, … pixels.
pub(crate) struct Pyramid {
    size: [usize; 2],
    pub(crate) levels: Vec<Level>,
}

/// One picture of a pyramid, row by row.
pub(crate) struct Level {
    width: usize,
    texels: Vec<f32>,
}

impl Level {
    /// Texels across and down.
    pub(crate) fn size(&self) -> [usize; 2] {
        [self.width, self.texels.len() / self.width]
    }

    pub(crate) fn texels(&self) -> &[f32] {
        &self.texels
    }
}

impl Pyramid {
    /// Creates the pyramid of a depth picture.
    pub(crate) fn new([width, height]: [usize; 2], depth: &[f32]) -> Self {
        let mut level = halved(&Level { width, texels: depth.to_vec() });
        let mut levels = Vec::new();
        while level.texels.len() > 1 {
            let next = halved(&level);
            levels.push(std::mem::replace(&mut level, next));
        }
        levels.push(level);
        Self { size: [width, height], levels }
    }

    /// Whether every depth in the rectangle of pixels, both corners included, is nearer than
    /// `nearest`.
    fn covers(
        &self,
        [low_x, low_y]: [usize; 2],
        [high_x, high_y]: [usize; 2],
        nearest: f32,
    ) -> bool {
        let mut shift = 1;
        while shift < self.levels.len()
            && ((high_x >> shift) - (low_x >> shift) > 3
                || (high_y >> shift) - (low_y >> shift) > 3)
        {
            shift += 1;
        }
        let level = &self.levels[shift - 1];
        (low_y >> shift..=high_y >> shift).all(|y| {
            (low_x >> shift..=high_x >> shift).all(|x| level.texels[y * level.width + x] > nearest)
        })
    }
}

fn halved(level: &Level) -> Level {
    let [_, height] = level.size();
    let [width, rows] = [level.width.div_ceil(2), height.div_ceil(2)];
    let at =
        |x: usize, y: usize| level.texels[y.min(height - 1) * level.width + x.min(level.width - 1)];
    let texels = (0..rows).flat_map(|y| {
        (0..width).map(move |x| {
            let [x, y] = [2 * x, 2 * y];
            at(x, y).min(at(x + 1, y)).min(at(x, y + 1)).min(at(x + 1, y + 1))
        })
    });
    Level { width, texels: texels.collect() }
}

fn relative(view: &CullView, record: &CullRecord) -> Vec3 {
    Vec3::from_array(view.relative_low(&record.bounds()))
}

/// Parts of a mesh that may be visible; empty if the mesh is outside the view frustum.
pub(crate) fn visible_parts(view: &CullView, record: &CullRecord) -> u32 {
    u32::from(view.visible_parts(&record.bounds()).bits()) & filled(record)
}

/// Parts with elements.
fn filled(record: &CullRecord) -> u32 {
    let start = |part: usize| if part == 0 { 0 } else { record.ends[part - 1] };
    (0..6).fold(0, |bits, part| bits | u32::from(record.ends[part] > start(part)) << part)
}

/// Whether all visible parts of a mesh are hidden behind the depths of the pyramid.
pub(crate) fn is_hidden(view: &CullView, pyramid: &Pyramid, record: &CullRecord) -> bool {
    const SLACK: f32 = 1e-3;
    const LEAST_W: f32 = 1e-3;
    const GUARD_PIXELS: f32 = 1.0;
    let size = Vec3::from_array(record.size);
    let low = relative(view, record);
    let m = Mat4::from_cols_array_2d(&view.clip_from_relative);
    let row_w = m.row(3);
    let middle_w = row_w.dot((low + size * 0.5).extend(1.0));
    let farthest_w = middle_w + 0.5 * row_w.xyz().abs().dot(size);
    let distance = 1.0 + low.abs().max_element() + longest(record.size);
    let margin = record.margin + SLACK * distance + view.seam * farthest_w.max(0.0);
    let corner = m * (low - margin).extend(1.0);
    let side = size + 2.0 * margin;
    let (mut least, mut most) = (Vec3::MAX, Vec3::MIN);
    for bits in 0..8_u32 {
        let mut clip = corner;
        for axis in 0..3 {
            if bits >> axis & 1 != 0 {
                clip += m.col(axis) * side[axis];
            }
        }
        if clip.w < LEAST_W {
            return false;
        }
        least = least.min(clip.xyz() / clip.w);
        most = most.max(clip.xyz() / clip.w);
    }
    let [width, height] = pyramid.size.map(|side| side as f32);
    let pixels = |ndc: f32, side: f32| (ndc * 0.5 + 0.5) * side;
    let low_x = (pixels(least.x, width) - GUARD_PIXELS).floor();
    let high_x = (pixels(most.x, width) + GUARD_PIXELS).floor();
    let low_y = (pixels(-most.y, height) - GUARD_PIXELS).floor();
    let high_y = (pixels(-least.y, height) + GUARD_PIXELS).floor();
    if high_x < 0.0 || high_y < 0.0 || low_x >= width || low_y >= height {
        return false;
    }
    let from = [low_x.max(0.0) as usize, low_y.max(0.0) as usize];
    let to = [high_x.min(width - 1.0) as usize, high_y.min(height - 1.0) as usize];
    pyramid.covers(from, to, most.z)
}

/// The bin that a mesh is drawn in.
pub(crate) fn bin(view: &CullView, record: &CullRecord) -> u32 {
    let middle = relative(view, record) + Vec3::from_array(record.size) * 0.5;
    let clip = Mat4::from_cols_array_2d(&view.clip_from_relative) * middle.extend(1.0);
    let (per_octave, per_depth) = (view.bins_per_octave, view.bins_per_depth);
    let bin = per_octave * clip.w.max(1e-3).log2() + per_depth * clip.z + view.first_bin;
    bin.clamp(0.0, (CullView::BINS - 1) as f32) as u32
}

/// The commands that draw these parts of a mesh.
pub(crate) fn commands(record: &CullRecord, parts: u32, pattern: Pattern) -> Vec<DrawCommand> {
    let start = |part: usize| if part == 0 { 0 } else { record.ends[part - 1] };
    let mut runs: Vec<[u32; 2]> = Vec::new();
    let mut is_open = false;
    for part in (0..6).filter(|part| filled(record) >> part & 1 != 0) {
        let is_visible = parts >> part & 1 != 0;
        match runs.last_mut() {
            Some([_, end]) if is_visible && is_open => *end = record.ends[part],
            _ if is_visible => runs.push([start(part), record.ends[part]]),
            _ => {}
        }
        is_open = is_visible;
    }
    let mut commands = Vec::new();
    for [mut first, end] in runs {
        while first < end {
            let count = (end - first).min(pattern.elements);
            commands.push(DrawCommand {
                index_count: count * pattern.indices_per_element,
                instance_count: 1,
                first_index: 0,
                base_vertex: ((record.first_element + first) * pattern.vertices_per_element) as i32,
                first_instance: record.slot,
            });
            first += count;
        }
    }
    commands
}

#[cfg(test)]
mod tests;
