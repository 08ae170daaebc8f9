use alloc::{collections::BTreeMap, vec, vec::Vec};

use crate::{Offset, range_space::bin_of};

/// Counts are scaled down until their sum has at most this number of bits. Multiplied by a 64-bit
/// size, the sum stays far below 2¹²⁸.
const COUNT_BITS: u32 = 48;
/// Maximum number of classes.
const MAX_CLASSES: usize = 64;

/// Sizes of one bin, which always share a bucket size.
struct Point<O> {
    largest: O,
    /// Number of sizes up to and including this point, and their sum.
    count: u128,
    units: u128,
}

/// Returns the bucket sizes, at most `max_classes`, that waste least for a histogram. Also returns
/// the fraction of the buckets' units that they waste.
///
/// A bucket size is always the largest size that it serves, so a choice cuts the sorted sizes into
/// runs. Dynamic programming: the best cut of the first n sizes into k runs is a best cut of fewer
/// sizes into k − 1 runs, plus one run.
pub(super) fn choose_sizes<O: Offset>(histogram: &[(O, u64)], max_classes: usize) -> (Vec<O>, f64) {
    let points = points_of(histogram);
    let runs = max_classes.min(MAX_CLASSES).min(points.len());
    let Some(last) = points.last().filter(|_| runs > 0) else { return (Vec::new(), 0.0) };
    // Waste of the points from..to as one run, in buckets of the size of its largest point.
    let waste = |from: usize, to: usize| {
        let before =
            if from == 0 { (0, 0) } else { (points[from - 1].count, points[from - 1].units) };
        let point = &points[to - 1];
        u128::from(point.largest.into()) * (point.count - before.0) - (point.units - before.1)
    };
    // best[k][n]: the least waste of the first n points in k + 1 runs, and the start of the last of
    // these runs.
    let in_one_run = |n: usize| if n == 0 { (u128::MAX, 0) } else { (waste(0, n), 0) };
    let mut best: Vec<Vec<(u128, usize)>> = vec![(0..=points.len()).map(in_one_run).collect()];
    for k in 1..runs {
        let with_fewer_runs = &best[k - 1];
        let cheapest = |n: usize| {
            let cut_at = |cut: usize| (with_fewer_runs[cut].0.saturating_add(waste(cut, n)), cut);
            (k..n).map(cut_at).min().unwrap_or((u128::MAX, 0))
        };
        let row = (0..=points.len()).map(cheapest).collect();
        best.push(row);
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
