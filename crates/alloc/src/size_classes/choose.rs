use alloc::{collections::BTreeMap, vec, vec::Vec};

use crate::{Offset, range_space::bin_of};

/// Counts are scaled down until their sum has so many bits: times a size of 64 bits it
/// stays far below what 128 hold, and nobody counts more than that.
const COUNT_BITS: u32 = 48;
/// More classes than this are never made.
const MAX_CLASSES: usize = 64;

/// Sizes that share a bucket size or not as a whole: those of one bin.
struct Point<O> {
    largest: O,
    /// How many sizes up to this point there are, and their sum.
    count: u128,
    units: u128,
}

/// The bucket sizes, at most `most`, that waste least for a histogram, and the part of the
/// buckets' units that they waste.
///
/// A bucket size is always the largest of the sizes it serves, so choosing means cutting
/// the sorted sizes into runs. The cheapest cut of the first sizes into k runs is a
/// cheapest cut of fewer sizes into k − 1 runs, and one run more.
pub(super) fn choose_sizes<O: Offset>(histogram: &[(O, u64)], most: usize) -> (Vec<O>, f64) {
    let points = points_of(histogram);
    let runs = most.min(MAX_CLASSES).min(points.len());
    let Some(last) = points.last().filter(|_| runs > 0) else { return (Vec::new(), 0.0) };
    // Waste of the points from..to in one run, as a bucket for the largest of them.
    let waste = |from: usize, to: usize| {
        let before =
            if from == 0 { (0, 0) } else { (points[from - 1].count, points[from - 1].units) };
        let point = &points[to - 1];
        u128::from(point.largest.into()) * (point.count - before.0) - (point.units - before.1)
    };
    // best[k][n]: the least waste of the first n points in k + 1 runs, and where the last
    // of these runs begins.
    let in_one_run = |n: usize| if n == 0 { (u128::MAX, 0) } else { (waste(0, n), 0) };
    let mut best: Vec<Vec<(u128, usize)>> = vec![(0..=points.len()).map(in_one_run).collect()];
    for k in 1..runs {
        let with_one_less = &best[k - 1];
        let cheapest = |n: usize| {
            let cut_at = |cut: usize| (with_one_less[cut].0.saturating_add(waste(cut, n)), cut);
            (k..n).map(cut_at).min().unwrap_or((u128::MAX, 0))
        };
        let with_these = (0..=points.len()).map(cheapest).collect();
        best.push(with_these);
    }
    let (mut sizes, mut n) = (Vec::new(), points.len());
    for run in best.iter().rev() {
        sizes.push(points[n - 1].largest);
        n = run[n].1;
    }
    sizes.reverse();
    let wasted = best[runs - 1][points.len()].0 as f64;
    (sizes, wasted / (wasted + last.units as f64))
}

fn points_of<O: Offset>(histogram: &[(O, u64)]) -> Vec<Point<O>> {
    let real = histogram.iter().filter(|(size, count)| *size > O::default() && *count > 0);
    let total: u128 = real.clone().map(|(_, count)| u128::from(*count)).sum();
    let too_many_bits = (u128::BITS - total.leading_zeros()).saturating_sub(COUNT_BITS);
    let mut bins: BTreeMap<usize, Point<O>> = BTreeMap::new();
    for &(size, count) in real {
        let none = Point { largest: size, count: 0, units: 0 };
        let point = bins.entry(bin_of(size.into())).or_insert(none);
        let count = (u128::from(count) >> too_many_bits).max(1);
        point.largest = point.largest.max(size);
        point.count += count;
        point.units += u128::from(size.into()) * count;
    }
    let mut sum = (0u128, 0u128);
    let mut points: Vec<_> = bins.into_values().collect();
    for point in &mut points {
        sum = (sum.0 + point.count, sum.1 + point.units);
        (point.count, point.units) = sum;
    }
    points
}
