use std::ops::Range;

use drystone_alloc::{ClassHandle, Error, Offset, SizeClassConfig, SizeClasses};
use drystone_testing::Bytes;

#[derive(Debug)]
enum Op {
    Allocate(u64),
    Free(usize),
    UseStale(usize),
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            0..=139 => Self::Allocate(bytes.size()),
            140..=229 => Self::Free(bytes.below(usize::MAX)),
            _ => Self::UseStale(bytes.below(usize::MAX)),
        }
    }
}

const CAPACITIES: [u64; 6] = [0, 1, 100, 5000, 100_000, u64::MAX];

/// The reference model: every live allocation in a list.
struct Shadow<O: Offset> {
    live: Vec<(ClassHandle<O>, Range<O>)>,
    stale: Vec<ClassHandle<O>>,
    max_waste_percent: u64,
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let capacity = CAPACITIES[bytes.below(CAPACITIES.len())];
    if bytes.byte().is_multiple_of(2) {
        run_with::<u64>(&mut bytes, capacity);
    } else {
        run_with::<u32>(&mut bytes, capacity.min(u32::MAX.into()) as u32);
    }
}

fn run_with<O: Offset>(bytes: &mut Bytes<'_>, capacity: O) {
    let count = bytes.below(8);
    let histogram: Vec<_> = (0..count)
        .map(|_| (O::try_from(bytes.size()).unwrap_or(O::MAX), u64::from(bytes.byte())))
        .collect();
    let config = SizeClassConfig::default()
        .with_classes(bytes.below(6))
        .with_max_waste_percent(bytes.byte() % 120);
    let mut space = SizeClasses::with_size(capacity, &histogram, &config);
    assert!((0.0..=1.0).contains(&space.expected_waste()));
    let max_waste_percent = u64::from(config.max_waste_percent.min(100));
    let mut shadow = Shadow { live: Vec::new(), stale: Vec::new(), max_waste_percent };
    while !bytes.is_empty() {
        let op = Op::read(bytes);
        step(&mut space, &mut shadow, &op);
        space.validate().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        compare(&space, &shadow, capacity);
    }
}

fn step<O: Offset>(space: &mut SizeClasses<O>, shadow: &mut Shadow<O>, op: &Op) {
    match *op {
        Op::Allocate(size) => {
            let size = O::try_from(size).unwrap_or(O::MAX);
            let largest_free = space.stats().largest_free;
            match space.allocate(size) {
                Ok(handle) => {
                    let range = space.range(handle).unwrap();
                    assert_eq!(range.end - range.start, size);
                    shadow.live.push((handle, range));
                }
                Err(Error::InvalidSize) => assert_eq!(size.into(), 0),
                Err(error) => {
                    assert!(matches!(error, Error::Full { .. }), "{error:?}");
                    assert!(largest_free < size, "there was a range of {largest_free:?}");
                }
            }
        }
        Op::Free(nth) if !shadow.live.is_empty() => {
            let (handle, _) = shadow.live.swap_remove(nth % shadow.live.len());
            assert_eq!(space.free(handle), Ok(()));
            shadow.stale.push(handle);
        }
        Op::UseStale(nth) if !shadow.stale.is_empty() => {
            let handle = shadow.stale[nth % shadow.stale.len()];
            assert_eq!(space.free(handle), Err(Error::Stale));
            assert_eq!(space.range(handle), None);
        }
        _ => {}
    }
}

fn compare<O: Offset>(space: &SizeClasses<O>, shadow: &Shadow<O>, capacity: O) {
    let mut ranges = Vec::new();
    for (handle, range) in &shadow.live {
        assert_eq!(space.range(*handle).as_ref(), Some(range));
        ranges.push(range.clone());
    }
    ranges.sort_unstable_by_key(|range| range.start);
    assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ranges:?}");
    assert!(ranges.last().is_none_or(|last| last.end <= capacity));
    let stats = space.stats();
    let requested: u64 = ranges.iter().map(|range| (range.end - range.start).into()).sum();
    assert_eq!(stats.used.into() - stats.internal_waste.into(), requested);
    assert_eq!((stats.live_blocks as usize, stats.capacity), (ranges.len(), capacity));
    let max_waste = u128::from(stats.used.into()) * u128::from(shadow.max_waste_percent) / 100;
    assert!(u128::from(stats.internal_waste.into()) <= max_waste, "{stats:?}");
    assert!(space.idle() <= stats.free);
}
