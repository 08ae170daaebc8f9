use alloc::vec::Vec;

use super::*;

/// Returns the least waste over all choices of bucket sizes from the histogram's. The largest size
/// is always chosen.
fn least_waste(histogram: &[(u32, u64)], max_classes: usize) -> u64 {
    let largest = histogram.iter().map(|(size, _)| *size).max().unwrap();
    let choices =
        (0..1u32 << histogram.len()).filter(|choice| (choice.count_ones() as usize) < max_classes);
    let waste = |choice: u32| {
        let chosen = |i: usize| choice >> i & 1 == 1 || histogram[i].0 == largest;
        let bucket_for = |size: u32| {
            let sizes = (0..histogram.len()).filter(|&i| chosen(i)).map(|i| histogram[i].0);
            sizes.filter(|&bucket| bucket >= size).min().unwrap()
        };
        histogram
            .iter()
            .map(|&(size, count)| u64::from(bucket_for(size) - size) * count)
            .sum::<u64>()
    };
    choices.map(waste).min().unwrap()
}

#[test]
fn no_other_choice_of_sizes_wastes_less() {
    let histogram: [(u32, u64); 8] =
        [(700, 3), (33, 90), (64, 5), (40, 17), (1500, 1), (90, 30), (120, 8), (300, 21)];
    let requested: u64 = histogram.iter().map(|&(size, count)| u64::from(size) * count).sum();
    for classes in 1..=9 {
        let config = SizeClassConfig { classes, ..SizeClassConfig::default() };
        let space = SizeClasses::new(1 << 20, &histogram, &config);
        let least = least_waste(&histogram, classes) as f64;
        let expected = least / (least + requested as f64);
        assert!((space.expected_waste() - expected).abs() < 1e-12, "{classes} classes");
        assert_eq!(space.class_sizes().count(), classes.min(8));
    }
}

#[test]
fn internal_waste_stays_below_the_limit_for_all_sizes() {
    let config = SizeClassConfig { classes: 4, max_waste_percent: 20 };
    let mut space = SizeClasses::new(1 << 24, &[(10, 1), (100, 1), (1000, 1)], &config);
    for size in 1..1200 {
        space.allocate(size).unwrap();
    }
    let stats = space.stats();
    assert!(stats.internal_fragmentation() <= 0.2, "{stats:?}");
    assert!(stats.internal_waste > 0);
    space.validate().unwrap();
}

#[test]
fn extreme_histograms_and_capacities_work() {
    let config = SizeClassConfig::default();
    for histogram in [&[][..], &[(0, 5)], &[(5, 0)], &[(u64::MAX, u64::MAX), (1, u64::MAX)]] {
        for capacity in [0, 1, 1000, u64::MAX] {
            let mut space = SizeClasses::with_size(capacity, histogram, &config);
            assert_eq!(space.allocate(0), Err(Error::InvalidSize));
            let handles: Vec<_> = [1, capacity, u64::MAX]
                .into_iter()
                .filter_map(|s| space.allocate(s).ok())
                .collect();
            space.validate().unwrap();
            for handle in handles {
                space.free(handle).unwrap();
                assert_eq!(space.free(handle), Err(Error::Stale));
            }
            assert_eq!(space.stats().used, 0);
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn configurations_survive_json() {
    use drystone_testing::{from_json, json_of};

    let config = SizeClassConfig::default().with_classes(3).with_max_waste_percent(0);
    assert_eq!(json_of(&config), r#"{"classes":3,"max_waste_percent":0}"#);
    assert_eq!(from_json("{}"), Ok(SizeClassConfig::default()));
    assert!(from_json::<SizeClassConfig>(r#"{"max_waste_percent":256}"#).is_err());
}
