//! Three-dimensional noise that is sampled at few points and interpolated linearly.

use std::ops::RangeInclusive;

use super::grid::{ABOVE, Grid, SIDE, noise_coordinate};
use super::noise::{LANES, Lanes, lanes};

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
        value: impl Fn(&[Lanes; 3]) -> Lanes,
    ) -> Self {
        Self::sample_where(grid, heights, outside, |_| true, value)
    }

    /// Samples the noise as [`sample`](Self::sample) does, but only at points for whose index `is_needed`
    /// returns true.
    pub(super) fn sample_where(
        grid: Grid,
        heights: RangeInclusive<f32>,
        outside: f32,
        is_needed: impl Fn(usize) -> bool,
        value: impl Fn(&[Lanes; 3]) -> Lanes,
    ) -> Self {
        let step = if grid.units == 1 { STEP } else { 2 };
        let across = (SIDE / step + 1) as usize;
        let up = ((SIDE + ABOVE + step) / step + 1) as usize;
        let apart = i64::from(step) * grid.units;
        let position = |axis: usize, i: usize| grid.origin[axis] + apart * i as i64;
        let at = |axis: usize, i: usize| noise_coordinate(position(axis, i));
        let mut points = vec![outside; across * up * across];
        let (mut places, mut positions) = ([0; LANES], [[0.0; 3]; LANES]);
        let mut count = 0;
        let mut flush = |places: &[usize], positions: &[[f32; 3]]| {
            let values = value(&lanes(positions));
            places.iter().zip(values).for_each(|(&place, value)| points[place] = value);
        };
        for row in 0..up * across {
            let (j, k) = (row % up, row / up);
            let y = position(1, j) as f32 - apart as f32;
            let near = y + apart as f32 >= *heights.start() && y - apart as f32 <= *heights.end();
            for i in (0..across).filter(|i| near && is_needed(row * across + i)) {
                (places[count], positions[count]) = (row * across + i, [at(0, i), y, at(2, k)]);
                count += 1;
                if count == LANES {
                    flush(&places, &positions);
                    count = 0;
                }
            }
        }
        if count > 0 {
            flush(&places[..count], &positions[..count]);
        }
        Self { step, across, up, points }
    }

    /// Distance of two points in voxels.
    pub(super) const fn step(&self) -> i32 {
        self.step
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

    /// Returns the values at the edges of a cell that run along Y, at a fraction of the cell along X.
    pub(super) fn edges(&self, first: usize, x: f32) -> [f32; 4] {
        let corners = self.corners(first);
        std::array::from_fn(|i| line(corners[2 * i], corners[2 * i + 1], x))
    }

    /// Returns the minimum and maximum in each cell, indexed by its first corner. Entries of points
    /// that begin no cell are meaningless.
    pub(super) fn spans(&self) -> Vec<[f32; 2]> {
        let mut spans: Vec<[f32; 2]> = self.points.iter().map(|&value| [value; 2]).collect();
        for offset in self.offsets() {
            for at in 0..spans.len() - offset {
                let ([low, high], [other_low, other_high]) = (spans[at], spans[at + offset]);
                spans[at] = [low.min(other_low), high.max(other_high)];
            }
        }
        spans
    }

    /// Returns whether each point is a corner of a cell for which `is_it` is true. `is_it` is indexed by the
    /// cells' first corners.
    pub(super) fn corners_of(&self, mut is_it: Vec<bool>) -> Vec<bool> {
        for offset in self.offsets() {
            for at in (offset..is_it.len()).rev() {
                is_it[at] |= is_it[at - offset];
            }
        }
        is_it
    }

    /// Distances of the next points along X, Y and Z in the list of points.
    const fn offsets(&self) -> [usize; 3] {
        [1, self.across, self.across * self.up]
    }
}

fn line(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// Interpolates a value inside a cell from its edges along Y and the fractions along Y and Z.
pub(super) fn between_edges([a, b, c, d]: [f32; 4], y: f32, z: f32) -> f32 {
    line(line(a, b, y), line(c, d, y), z)
}

/// Interpolates a value inside a cell from the fractions along each axis.
pub(super) fn between(c: [f32; 8], [x, y, z]: [f32; 3]) -> f32 {
    between_edges(std::array::from_fn(|i| line(c[2 * i], c[2 * i + 1], x)), y, z)
}

#[cfg(test)]
mod tests {
    use drystone_voxel::{ChunkPos, NodePos};

    use super::*;

    /// Neighbouring chunks read the same values, also below zero, and no value in a cell leaves its
    /// span.
    #[test]
    fn neighbours_read_the_same_noise() {
        let noise = |[x, y, z]: &[Lanes; 3]| {
            let at = |l: usize| (x[l] * 0.31).sin() + (y[l] * 0.17).cos() * (z[l] * 0.23).sin();
            std::array::from_fn(at)
        };
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
