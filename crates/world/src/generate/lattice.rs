//! Three-dimensional noise that is sampled at few points and interpolated linearly.

use std::ops::RangeInclusive;

use super::grid::{ABOVE, Grid, SIDE, noise_coordinate};

/// Distance of two points in voxels of level 0.
pub(super) const STEP: i32 = 4;

/// Values of a noise for a chunk and the rows around it.
///
/// The points lie at multiples of their distance in the world, so all chunks of a level read the
/// same values.
pub(super) struct Lattice {
    /// Distance of two points in voxels.
    step: i32,
    across: usize,
    up: usize,
    /// X changes fastest, then Y, then Z. The lowest points lie one step below the chunk.
    points: Vec<f32>,
}

impl Lattice {
    /// Samples the noise at all points whose height in units is in `heights` or within one step of
    /// it. Other points get the value `outside`.
    pub(super) fn sample(
        grid: Grid,
        heights: RangeInclusive<f32>,
        outside: f32,
        value: impl Fn([f32; 3]) -> f32,
    ) -> Self {
        let step = if grid.units == 1 { STEP } else { 2 };
        let across = (SIDE / step + 1) as usize;
        let up = ((SIDE + ABOVE + step) / step + 1) as usize;
        let apart = i64::from(step) * grid.units;
        let position = |axis: usize, i: usize| grid.origin[axis] + apart * i as i64;
        let at = |axis: usize, i: usize| noise_coordinate(position(axis, i));
        let mut points = vec![outside; across * up * across];
        for (layer, k) in points.chunks_exact_mut(across * up).zip(0..) {
            for (row, j) in layer.chunks_exact_mut(across).zip(0..) {
                let y = position(1, j) as f32 - apart as f32;
                let near =
                    y + apart as f32 >= *heights.start() && y - apart as f32 <= *heights.end();
                for (point, i) in row.iter_mut().zip(0..).filter(|_| near) {
                    *point = value([at(0, i), y, at(2, k)]);
                }
            }
        }
        Self { step, across, up, points }
    }

    /// Returns the first corner of the cell that contains a position in the chunk.
    pub(super) fn cell(&self, [x, y, z]: [i32; 3]) -> usize {
        let [i, j, k] = [x, y + self.step, z].map(|c| (c / self.step) as usize);
        i + self.across * (j + self.up * k)
    }

    /// Returns the values at the corners of a cell. Bits 0, 1 and 2 of the index select the side on
    /// X, Y and Z.
    fn corners(&self, first: usize) -> [f32; 8] {
        let (across, layer) = (self.across, self.across * self.up);
        std::array::from_fn(|n| {
            self.points[first + (n & 1) + across * (n >> 1 & 1) + layer * (n >> 2)]
        })
    }

    /// Returns the value at a position in the chunk plus a fraction of a voxel. Y is valid from one
    /// step below the chunk to [`ABOVE`] rows above it.
    pub(super) fn at(&self, position: [i32; 3], moved: [f32; 3]) -> f32 {
        let part = |axis: usize| {
            (position[axis].rem_euclid(self.step) as f32 + moved[axis]) / self.step as f32
        };
        between(self.corners(self.cell(position)), [0, 1, 2].map(part))
    }

    /// Returns the minimum and maximum in each cell, indexed by its first corner. Entries of points
    /// that begin no cell are meaningless.
    pub(super) fn spans(&self) -> Vec<[f32; 2]> {
        let last = self.points.len() - (1 + self.across + self.across * self.up);
        (0..last)
            .map(|first| {
                let corners = self.corners(first);
                let (low, high) = (f32::INFINITY, f32::NEG_INFINITY);
                [corners.into_iter().fold(low, f32::min), corners.into_iter().fold(high, f32::max)]
            })
            .collect()
    }
}

/// Interpolates a value inside a cell from the fractions along each axis.
pub(super) fn between(c: [f32; 8], [x, y, z]: [f32; 3]) -> f32 {
    let line = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let along_x: [f32; 4] = std::array::from_fn(|i| line(c[2 * i], c[2 * i + 1], x));
    line(line(along_x[0], along_x[1], y), line(along_x[2], along_x[3], y), z)
}

#[cfg(test)]
mod tests {
    use drystone_voxel::{ChunkPos, NodePos};

    use super::*;

    /// Neighbouring chunks read the same values, also below zero, and no value in a cell leaves its
    /// span.
    #[test]
    fn neighbours_read_the_same_noise() {
        let noise = |[x, y, z]: [f32; 3]| (x * 0.31).sin() + (y * 0.17).cos() * (z * 0.23).sin();
        for level in [0, 1, 3] {
            let lattice = |x, y, z| {
                let grid = Grid::new(NodePos::new(level, ChunkPos::new(x, y, z)));
                Lattice::sample(grid, f32::NEG_INFINITY..=f32::INFINITY, 0.0, noise)
            };
            let (here, above) = (lattice(-1, 0, 2), lattice(-1, 1, 2));
            let spans = here.spans();
            for (y, x, z) in [(31, 5, 9), (32, 31, 0), (35, 0, 31), (32, 17, 3)] {
                let value = here.at([x, y, z], [0.0; 3]);
                let upper = above.at([x, y - 32, z], [0.0; 3]);
                assert_eq!(value, upper, "{x} {y} {z} of level {level}");
                let [low, high] = spans[here.cell([x, y, z])];
                assert!(low - 1e-5 <= value && value <= high + 1e-5, "{low} {value} {high}");
            }
        }
    }
}
