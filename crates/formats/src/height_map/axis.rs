use std::ops::Range;

/// One axis of the map: assigns samples to columns of voxels.
///
/// Sample n covers the ground from n to n + 1 samples, and its height is in the middle. If voxels
/// are smaller than samples, a column interpolates between the two nearest samples. If they are
/// larger, it has the mean of the ground that it covers. If both are equal, column n is sample n.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    samples: usize,
    samples_per_column: f64,
    columns: u32,
}

/// Samples of a column and their weights, which sum to 1.
#[derive(Debug, PartialEq)]
pub(super) struct Taps {
    pub(super) first: usize,
    pub(super) weights: Vec<f64>,
}

impl Taps {
    pub(super) fn range(&self) -> Range<usize> {
        self.first..self.first + self.weights.len()
    }
}

impl Axis {
    /// Creates an axis. Returns `None` for more than [`MAX_COLUMNS`](Self::MAX_COLUMNS) columns.
    pub(super) fn new(samples: usize, sample_metres: f64, voxel_metres: f64) -> Option<Self> {
        let exact = samples as f64 * sample_metres / voxel_metres;
        // The factor prevents an additional column due to rounding.
        let columns = (exact * (1.0 - 1e-12)).ceil().max(1.0);
        let samples_per_column = voxel_metres / sample_metres;
        let fits = columns <= f64::from(Self::MAX_COLUMNS);
        fits.then_some(Self { samples, samples_per_column, columns: columns as u32 })
    }

    /// Maximum number of columns along one axis.
    pub(super) const MAX_COLUMNS: u32 = 1 << 24;

    pub(super) fn columns(&self) -> u32 {
        self.columns
    }

    /// Number of samples that `columns` columns cover, and one more on both sides.
    pub(super) fn samples_in(&self, columns: usize) -> f64 {
        columns as f64 * self.samples_per_column + 2.0
    }

    /// Samples and weights of a column; `None` outside the map.
    pub(super) fn taps(&self, column: i64) -> Option<Taps> {
        if !(0..i64::from(self.columns)).contains(&column) {
            return None;
        }
        let step = self.samples_per_column;
        let start = column as f64 * step;
        let last = self.samples - 1;
        if step <= 1.0 {
            let middle = (start + (step - 1.0) / 2.0).clamp(0.0, last as f64);
            let first = middle as usize;
            let part = middle - first as f64;
            let weights = if part == 0.0 { vec![1.0] } else { vec![1.0 - part, part] };
            return Some(Taps { first, weights });
        }
        let first = (start as usize).min(last);
        let end = (start + step).min(self.samples as f64);
        let past = (end.ceil() as usize).clamp(first + 1, self.samples);
        let covered = |n: usize| (end.min((n + 1) as f64) - start.max(n as f64)).max(0.0);
        let all: f64 = (first..past).map(covered).sum();
        if all <= 0.0 {
            return Some(Taps { first, weights: vec![1.0] });
        }
        Some(Taps { first, weights: (first..past).map(|n| covered(n) / all).collect() })
    }

    /// Columns that have some of these samples, which are clamped to the map.
    pub(super) fn columns_of(&self, samples: Range<usize>) -> Range<u32> {
        let step = self.samples_per_column;
        // A column between two samples interpolates.
        let near = if step <= 1.0 { 0.5 } else { 0.0 };
        let first = ((samples.start as f64 - near) / step).floor().max(0.0) as u32;
        let past = ((samples.end as f64 + near) / step).ceil() as u32;
        let is_covered = |column: u32| {
            self.taps(column.into()).is_some_and(|taps| {
                taps.range().start < samples.end && taps.range().end > samples.start
            })
        };
        // Rounding may add columns at the ends.
        let (mut first, mut past) = (first.min(self.columns), past.min(self.columns));
        while first < past && !is_covered(first) {
            first += 1;
        }
        while first < past && !is_covered(past - 1) {
            past -= 1;
        }
        first..past
    }

    /// Range of samples of the columns `columns`, which are clamped to the map and must not be
    /// empty then.
    pub(super) fn samples_of(&self, columns: Range<u32>) -> Range<usize> {
        let end = columns.end.min(self.columns);
        let first = self.taps(columns.start.into()).map_or(0, |taps| taps.first);
        let past = self.taps(i64::from(end) - 1).map_or(0, |taps| taps.range().end);
        first..past
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_as_wide_as_samples_equal_the_samples() {
        let axis = Axis::new(403, 75.3, 75.3).unwrap();
        assert_eq!(axis.columns(), 403);
        for column in 0..403 {
            let taps = axis.taps(column).unwrap();
            assert_eq!(taps, Taps { first: column as usize, weights: vec![1.0] });
        }
        assert_eq!((axis.taps(-1), axis.taps(403)), (None, None));
    }

    #[test]
    fn narrow_columns_interpolate_and_wide_columns_average() {
        let axis = Axis::new(2, 10.0, 2.5).unwrap();
        assert_eq!(axis.columns(), 8);
        let at = |column| axis.taps(column).unwrap();
        assert_eq!(at(0), Taps { first: 0, weights: vec![1.0] });
        assert_eq!(at(2), Taps { first: 0, weights: vec![0.875, 0.125] });
        assert_eq!(at(7), Taps { first: 1, weights: vec![1.0] });
        let axis = Axis::new(5, 10.0, 20.0).unwrap();
        assert_eq!(axis.columns(), 3);
        assert_eq!(axis.taps(1).unwrap(), Taps { first: 2, weights: vec![0.5, 0.5] });
        assert_eq!(axis.taps(2).unwrap(), Taps { first: 4, weights: vec![1.0] });
        assert_eq!(axis.samples_of(0..2), 0..4);
    }

    /// Samples of all widths are inside the map and increasing, and weights sum to 1.
    #[test]
    fn weights_sum_to_one() {
        for samples in [1, 2, 3, 50] {
            for step in [0.01, 0.3, 0.999, 1.0, 1.001, 3.7, 49.9, 1000.0] {
                let axis = Axis::new(samples, 1.0, step).unwrap();
                let mut before = 0;
                for column in 0..axis.columns() {
                    let taps = axis.taps(column.into()).unwrap();
                    assert!(taps.first >= before && taps.range().end <= samples);
                    before = taps.first;
                    assert!(taps.weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
                    assert!((taps.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                }
                assert_eq!(axis.samples_of(0..axis.columns()).end, samples, "{samples} {step}");
            }
        }
        assert!(Axis::new(1 << 20, 1e9, 1e-6).is_none());
    }
}
