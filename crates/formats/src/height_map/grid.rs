use std::ops::Range;

use crate::fault::{Fault, GET_AGAIN};

/// Heights in metres, row by row from north to south, each row from west to east. Voids are NaN.
#[derive(Clone)]
pub(super) struct Grid {
    width: usize,
    height: usize,
    metres: Vec<f32>,
}

/// Result of a decoder.
pub(super) struct Decoded {
    pub(super) grid: Grid,
    /// Description of the file format, for display.
    pub(super) format: String,
    /// Distance of samples eastwards and southwards in metres, if the file contains it.
    pub(super) metres_per_sample: Option<[f64; 2]>,
}

impl Grid {
    /// Maximum number of samples: 512 MiB of memory.
    pub(super) const MAX_SAMPLES: u64 = 1 << 27;

    /// Checks that a file of `file_bytes` bytes can hold the samples that it claims, before memory
    /// is allocated for them. `ratio` is the maximum number of bytes that one byte decompresses to.
    pub(super) fn check_claim(
        [width, height]: [u32; 2],
        sample_bytes: u64,
        file_bytes: usize,
        ratio: u64,
    ) -> Result<(), Fault> {
        let samples = u64::from(width) * u64::from(height);
        let claim = format!("{width} x {height} samples");
        if samples == 0 {
            return Err(Fault::new("header", claim, GET_AGAIN));
        }
        if samples > Self::MAX_SAMPLES {
            let problem = format!("{claim}, at most {} are taken", Self::MAX_SAMPLES);
            return Err(Fault::new("header", problem, "take a smaller part of it"));
        }
        if samples * sample_bytes > file_bytes as u64 * ratio {
            let problem = format!("claims {claim} in {file_bytes} bytes");
            return Err(Fault::new("header", problem, GET_AGAIN));
        }
        Ok(())
    }

    /// Creates a grid with rows of `width` samples. Heights that are not finite become voids.
    pub(super) fn new(width: usize, mut metres: Vec<f32>) -> Self {
        metres.iter_mut().filter(|it| !it.is_finite()).for_each(|it| *it = f32::NAN);
        let height = metres.len().checked_div(width).unwrap_or(0);
        Self { width, height, metres }
    }

    /// Number of samples from west to east and from north to south.
    pub(super) fn size(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// Heights of a range of columns in a row; both must be inside the grid.
    pub(super) fn row(&self, row: usize, columns: Range<usize>) -> &[f32] {
        let start = row * self.width;
        &self.metres[start + columns.start..start + columns.end]
    }

    pub(super) fn void_count(&self) -> u64 {
        self.metres.iter().filter(|it| it.is_nan()).count() as u64
    }

    /// Lowest and highest sample; `None` if all are void.
    pub(super) fn range(&self) -> Option<[f32; 2]> {
        range_of(&self.metres)
    }

    /// Lowest and highest sample of a part of the grid.
    pub(super) fn range_in(&self, columns: Range<usize>, rows: Range<usize>) -> Option<[f32; 2]> {
        let ranges = rows.filter_map(|row| range_of(self.row(row, columns.clone())));
        ranges.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
    }

    /// Fills voids with the mean of their neighbours, ring by ring from the rim inwards. A grid of
    /// only voids does not change.
    ///
    /// # Cost
    /// O(n) time, and 4 bytes of memory for each void.
    pub(super) fn fill_voids(&mut self) {
        let is_rim = |grid: &Self, at: usize| {
            grid.metres[at].is_nan() && grid.neighbours(at).any(|it| !grid.metres[it].is_nan())
        };
        let mut ring: Vec<u32> =
            (0..self.metres.len()).filter(|&at| is_rim(self, at)).map(|at| at as u32).collect();
        while !ring.is_empty() {
            // The means of a ring use only samples from before this ring.
            let means: Vec<f32> =
                ring.iter().map(|&at| self.neighbours_mean(at as usize)).collect();
            for (&at, mean) in ring.iter().zip(means) {
                self.metres[at as usize] = mean;
            }
            let mut next: Vec<u32> = ring
                .iter()
                .flat_map(|&at| self.neighbours(at as usize))
                .filter(|&at| self.metres[at].is_nan())
                .map(|at| at as u32)
                .collect();
            next.sort_unstable();
            next.dedup();
            ring = next;
        }
    }

    fn neighbours_mean(&self, at: usize) -> f32 {
        let (sum, count) = self
            .neighbours(at)
            .map(|it| f64::from(self.metres[it]))
            .filter(|it| !it.is_nan())
            .fold((0.0, 0.0), |(sum, count), it| (sum + it, count + 1.0));
        (sum / count) as f32
    }

    /// Indices of the western, eastern, northern and southern neighbours of a sample.
    fn neighbours(&self, at: usize) -> impl Iterator<Item = usize> + use<> {
        let (x, z) = (at % self.width, at / self.width);
        let west = (x > 0).then(|| at - 1);
        let east = (x + 1 < self.width).then(|| at + 1);
        let north = (z > 0).then(|| at - self.width);
        let south = (z + 1 < self.height).then(|| at + self.width);
        [west, east, north, south].into_iter().flatten()
    }
}

fn range_of(metres: &[f32]) -> Option<[f32; 2]> {
    let known = metres.iter().copied().filter(|it| !it.is_nan());
    known.map(|it| [it, it]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voids_are_filled_from_their_rim() {
        let n = f32::NAN;
        let mut grid = Grid::new(4, vec![1.0, n, n, n, 3.0, n, f32::INFINITY, n]);
        assert_eq!(grid.void_count(), 6);
        assert_eq!(grid.range(), Some([1.0, 3.0]));
        grid.fill_voids();
        // The first ring has 1 and 3; the second averages only the first.
        assert_eq!(grid.metres, [1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]);
        let mut grid = Grid::new(3, vec![2.0, n, 6.0]);
        grid.fill_voids();
        assert_eq!(grid.metres, [2.0, 4.0, 6.0]);
    }

    #[test]
    fn a_grid_of_only_voids_does_not_change() {
        let mut grid = Grid::new(2, vec![f32::NAN; 4]);
        grid.fill_voids();
        assert_eq!((grid.void_count(), grid.range()), (4, None));
        assert_eq!(grid.range_in(0..2, 0..2), None);
    }
}
