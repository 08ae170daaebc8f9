//! Three-dimensional noise that is sampled at few points and interpolated linearly.

use std::ops::RangeInclusive;

use super::grid::{ABOVE, BELOW, Grid, SIDE, noise_coordinate};
use super::noise::{LANES, Lanes};

/// Distance of two points in voxels of level 0.
pub(super) const STEP: i32 = 4;

/// Values of a noise for a chunk and the rows around it.
///
/// The points lie at multiples of their distance in the world, so all chunks of a level read the
/// same values.
pub(super) struct Lattice {
    /// Distance of two points in voxels, as a power of two.
    step_log2: u32,
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
        let step_log2 = if grid.units == 1 { STEP.ilog2() } else { 1 };
        let step = 1 << step_log2;
        let across = (SIDE / step + 1) as usize;
        let up = ((SIDE + ABOVE + step) / step + 1) as usize;
        let apart = i64::from(step) * grid.units;
        let position = |axis: usize, i: usize| grid.origin[axis] + apart * i as i64;
        let along = |axis: usize| (0..across).map(move |i| noise_coordinate(position(axis, i)));
        let (xs, zs): (Vec<f32>, Vec<f32>) = (along(0).collect(), along(2).collect());
        let mut points = vec![outside; across * up * across];
        // Points whose values are computed together.
        let (mut places, mut positions, mut count) = ([0; LANES], [[0.0; LANES]; 3], 0);
        let mut flush = |places: &[usize], positions: &[Lanes; 3]| {
            let values = value(positions);
            places.iter().zip(values).for_each(|(&place, value)| points[place] = value);
        };
        for row in 0..up * across {
            let (j, z) = (row % up, zs[row / up]);
            let y = position(1, j) as f32 - apart as f32;
            let near = y + apart as f32 >= *heights.start() && y - apart as f32 <= *heights.end();
            if !near {
                continue;
            }
            for (i, &x) in xs.iter().enumerate() {
                let place = row * across + i;
                if !is_needed(place) {
                    continue;
                }
                places[count] = place;
                positions.iter_mut().zip([x, y, z]).for_each(|(lanes, c)| lanes[count] = c);
                count += 1;
                if count == LANES {
                    flush(&places, &positions);
                    count = 0;
                }
            }
        }
        if count > 0 {
            // The values of the other lanes are dropped.
            flush(&places[..count], &positions);
        }
        Self { step_log2, across, up, points }
    }

    /// Distance of two points in voxels.
    const fn step(&self) -> i32 {
        1 << self.step_log2
    }

    /// Returns the position of a coordinate plus a fraction of a voxel in its cell, from 0 to 1.
    pub(super) fn fraction(&self, coordinate: i32, moved: f32) -> f32 {
        ((coordinate & (self.step() - 1)) as f32 + moved) / self.step() as f32
    }

    /// Returns the first corner of the lowest cell at a position in the chunk on X and Z.
    pub(super) fn column(&self, x: i32, z: i32) -> usize {
        let [i, k] = [x, z].map(|c| (c >> self.step_log2) as usize);
        i + self.across * self.up * k
    }

    /// Returns the rows of the cells at a height. Row 0 is the row below the chunk.
    fn rows(&self, cell: usize) -> u64 {
        let first = BELOW + ((cell as i32 - 1) << self.step_log2);
        let end = (first + self.step()).min(BELOW + SIDE + ABOVE);
        ((1 << end.max(0)) - 1) & !((1 << first.max(0)) - 1)
    }

    /// Calls a function with the first corner of each cell, that of the lowest cell in its column, and
    /// its rows.
    pub(super) fn for_each_cell(&self, mut each: impl FnMut(usize, usize, u64)) {
        let rows: Vec<u64> = (0..self.up - 1).map(|cell| self.rows(cell)).collect();
        for k in 0..self.across - 1 {
            for i in 0..self.across - 1 {
                let lowest = i + self.across * self.up * k;
                for (j, &rows) in rows.iter().enumerate() {
                    each(lowest + self.across * j, lowest, rows);
                }
            }
        }
    }

    /// Returns the first corners of the cells in a column that contain any of the rows, and those rows.
    pub(super) fn cells_of(
        &self,
        column: usize,
        mut rows: u64,
    ) -> impl Iterator<Item = (usize, u64)> {
        std::iter::from_fn(move || {
            let y = rows.trailing_zeros() as i32 - BELOW;
            (rows != 0).then(|| {
                let cell = ((y + self.step()) >> self.step_log2) as usize;
                let here = rows & self.rows(cell);
                rows &= !here;
                (column + self.across * cell, here)
            })
        })
    }

    /// Returns the values at the corners of a cell. Bits 0, 1 and 2 of the index select the side on
    /// X, Y and Z.
    fn corners(&self, first: usize) -> [f32; 8] {
        let (across, layer) = (self.across, self.across * self.up);
        std::array::from_fn(|n| {
            self.points[first + (n & 1) + across * (n >> 1 & 1) + layer * (n >> 2)]
        })
    }

    /// Returns the values at the edges of a cell that run along Y, at a fraction of the cell along X.
    pub(super) fn edges(&self, first: usize, x: f32) -> [f32; 4] {
        let corners = self.corners(first);
        std::array::from_fn(|i| line(corners[2 * i], corners[2 * i + 1], x))
    }

    /// Returns the minima and the maxima in the cells, indexed by their first corners. Entries of points
    /// that begin no cell are meaningless.
    pub(super) fn spans(&self) -> [Vec<f32>; 2] {
        let [mut low, mut high] = [self.points.clone(), self.points.clone()];
        for offset in self.offsets() {
            // Comparisons are faster than `min` and `max`, which also handle NaN.
            for at in 0..low.len() - offset {
                let (a, b) = (low[at], low[at + offset]);
                low[at] = if b < a { b } else { a };
            }
            for at in 0..high.len() - offset {
                let (a, b) = (high[at], high[at + offset]);
                high[at] = if b > a { b } else { a };
            }
        }
        [low, high]
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

    impl Lattice {
        /// Returns the first corner of the cell that contains a position in the chunk.
        fn cell(&self, [x, y, z]: [i32; 3]) -> usize {
            self.column(x, z) + self.across * ((y + self.step()) / self.step()) as usize
        }

        /// Returns the value at a position in the chunk plus a fraction of a voxel. Y is valid from one
        /// step below the chunk to [`ABOVE`] rows above it.
        pub(in crate::generate) fn at(&self, position: [i32; 3], moved: [f32; 3]) -> f32 {
            let fractions = [0, 1, 2].map(|axis| self.fraction(position[axis], moved[axis]));
            between(self.corners(self.cell(position)), fractions)
        }
    }

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
                let [low, high] = spans.each_ref().map(|spans| spans[here.cell([x, y, z])]);
                assert!(low - 1e-5 <= value && value <= high + 1e-5, "{low} {value} {high}");
            }
        }
    }
}
