//! A steady state of objects of random sizes: each turn replaces one by another.

use std::ops::RangeInclusive;

use crate::Random;

/// Live items per spare one.
const LIVE_PER_SPARE: usize = 100;
/// Sizes are log-normal, as in real worlds. These are the median and the deviation of the logarithm.
const MEDIAN_SIZE: f64 = 300.0;
const SIZE_DEVIATION: f64 = 1.0;

/// Returns a random size within these bounds.
pub(crate) fn random_size(random: &mut Random, bounds: &RangeInclusive<u32>) -> u32 {
    let size = (MEDIAN_SIZE.ln() + SIZE_DEVIATION * random.normal()).exp();
    (size as u32).clamp(*bounds.start(), *bounds.end())
}

/// Live items, and spare ones. Each turn swaps a live item with a spare one, so that the sum of all
/// sizes stays about the same.
#[derive(Clone, Debug)]
pub(crate) struct Turnover<T> {
    pub(crate) live: Vec<T>,
    spare: Vec<T>,
    pub(crate) random: Random,
    /// Turns of a round: the item to remove, and its replacement.
    pub(crate) plan: Vec<(u32, T)>,
}

impl<T: Copy> Turnover<T> {
    /// Starts with these live items. `random_item` makes the spare ones.
    pub(crate) fn new(
        live: Vec<T>,
        mut random: Random,
        random_item: impl Fn(&mut Random) -> T,
    ) -> Self {
        let spare_count = live.len().div_ceil(LIVE_PER_SPARE).max(1);
        let spare = (0..spare_count).map(|_| random_item(&mut random)).collect();
        Self { live, spare, random, plan: Vec::new() }
    }

    /// Plans `turns` turns.
    pub(crate) fn make_plan(&mut self, turns: usize) {
        self.plan.clear();
        for _ in 0..turns {
            let at = self.random.below(self.live.len());
            let next = self.random.below(self.spare.len());
            std::mem::swap(&mut self.live[at], &mut self.spare[next]);
            self.plan.push((at as u32, self.live[at]));
        }
    }
}
