//! Times of the last frames, and of building the panels.

use std::{collections::VecDeque, time::Duration};

/// Number of frames that are stored, some seconds.
const MAX_FRAMES: usize = 240;

/// Times of the last frames, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameTimes {
    ms: VecDeque<f32>,
}

/// Times that the panels show and the benchmark of frames reads.
#[derive(Debug, Default)]
pub(crate) struct Times {
    pub(crate) frames: FrameTimes,
    /// Recent times of building the panels.
    pub(crate) builds: FrameTimes,
    /// Time of the last build, until it is taken.
    pub(crate) last_build: Option<Duration>,
}

impl Times {
    /// Adds the time of a build.
    pub(crate) fn push_build(&mut self, time: Duration) {
        self.builds.push(time);
        self.last_build = Some(time);
    }
}

/// Percentiles of times, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Percentiles {
    pub(crate) p50: f32,
    pub(crate) p99: f32,
    pub(crate) max: f32,
}

impl FrameTimes {
    /// Adds a time and drops the oldest.
    pub(crate) fn push(&mut self, time: Duration) {
        if self.ms.len() == MAX_FRAMES {
            self.ms.pop_front();
        }
        self.ms.push_back(time.as_secs_f32() * 1e3);
    }

    /// Iterates from the oldest to the newest.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = f32> + '_ {
        self.ms.iter().copied()
    }

    /// Returns the percentiles.
    ///
    /// # Cost
    /// Sorts some hundred numbers.
    pub(crate) fn percentiles(&self) -> Percentiles {
        Percentiles::of(self.iter())
    }
}

impl Percentiles {
    /// Computes median, 99th percentile and maximum; zeros for no times.
    pub(crate) fn of(ms: impl Iterator<Item = f32>) -> Self {
        let mut sorted: Vec<f32> = ms.collect();
        sorted.sort_unstable_by(f32::total_cmp);
        let at = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            sorted.get(rank).copied().unwrap_or(0.0)
        };
        Self { p50: at(50), p99: at(99), max: at(100) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_last_frames() {
        let mut times = FrameTimes::default();
        assert_eq!(times.percentiles(), Percentiles::default());
        times.push(Duration::from_millis(7));
        assert_eq!(times.percentiles(), Percentiles { p50: 7.0, p99: 7.0, max: 7.0 });
        // The 50th, the 99th and the last of 1 to 100, in any order.
        let mut times = FrameTimes::default();
        (1..=100_u64).for_each(|i| times.push(Duration::from_millis(i * 37 % 101)));
        assert_eq!(times.percentiles(), Percentiles { p50: 50.0, p99: 99.0, max: 100.0 });
        (0..MAX_FRAMES).for_each(|_| times.push(Duration::from_millis(3)));
        assert_eq!(times.percentiles(), Percentiles { p50: 3.0, p99: 3.0, max: 3.0 });
        assert_eq!(times.iter().len(), MAX_FRAMES);
    }
}
