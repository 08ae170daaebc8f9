//! Noise in three dimensions, taken at few points and read between by straight lines.

use std::ops::RangeInclusive;

use super::carve::ABOVE;
use super::grid::{Grid, SIDE, noise_coordinate};

/// Voxels between two points, where voxels are single.
pub(super) const STEP: i32 = 4;

/// The values of a noise for a chunk and the rows around it.
///
/// Its points lie at multiples of their distance in the world, not in the chunk, so that
/// all chunks of a level read the same values.
pub(super) struct Lattice {
    /// Voxels between two points.
    step: i32,
    across: usize,
    up: usize,
    /// X fastest, then Y, then Z. The lowest points lie one step below the chunk.
    points: Vec<f32>,
}

impl Lattice {
    /// Takes the noise at every point whose height, in units, lies in `heights` or within a
    /// step of it, and `outside` elsewhere.
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
        let place = |axis: usize, i: usize| grid.origin[axis] + apart * i as i64;
        let at = |axis: usize, i: usize| noise_coordinate(place(axis, i));
        let mut points = vec![outside; across * up * across];
        for (layer, k) in points.chunks_exact_mut(across * up).zip(0..) {
            for (row, j) in layer.chunks_exact_mut(across).zip(0..) {
                let y = place(1, j) as f32 - apart as f32;
                let near =
                    y + apart as f32 >= *heights.start() && y - apart as f32 <= *heights.end();
                for (point, i) in row.iter_mut().zip(0..).filter(|_| near) {
                    *point = value([at(0, i), y, at(2, k)]);
                }
            }
        }
        Self { step, across, up, points }
    }

    /// The first corner of the cell in which a place of the chunk lies.
    pub(super) fn cell(&self, [x, y, z]: [i32; 3]) -> usize {
        let [i, j, k] = [x, y + self.step, z].map(|c| (c / self.step) as usize);
        i + self.across * (j + self.up * k)
    }

    /// The values at the corners of a cell; corner `n` lies at bits 0, 1, 2 of `n` on X, Y, Z.
    fn corners(&self, first: usize) -> [f32; 8] {
        let (across, layer) = (self.across, self.across * self.up);
        std::array::from_fn(|n| {
            self.points[first + (n & 1) + across * (n >> 1 & 1) + layer * (n >> 2)]
        })
    }

    /// The value at a place in the chunk, moved by parts of a voxel; Y from one step below
    /// the chunk to [`ABOVE`] rows above it.
    pub(super) fn at(&self, place: [i32; 3], moved: [f32; 3]) -> f32 {
        let part = |axis: usize| {
            (place[axis].rem_euclid(self.step) as f32 + moved[axis]) / self.step as f32
        };
        between(self.corners(self.cell(place)), [0, 1, 2].map(part))
    }

    /// The least and the most that any value in each cell can be, by first corner. Those of
    /// points that begin no cell mean nothing.
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

/// The value inside a cell, by how far along each axis the place lies.
pub(super) fn between(c: [f32; 8], [x, y, z]: [f32; 3]) -> f32 {
    let line = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let along_x: [f32; 4] = std::array::from_fn(|i| line(c[2 * i], c[2 * i + 1], x));
    line(line(along_x[0], along_x[1], y), line(along_x[2], along_x[3], y), z)
}

#[cfg(test)]
mod tests {
    use drystone_voxel::ChunkPos;

    use super::*;
    use crate::NodePos;

    /// Neighbours read the same values, also where they lie below zero, and inside of a cell
    /// none leaves its span.
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
