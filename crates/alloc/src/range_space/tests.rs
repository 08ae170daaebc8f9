use alloc::vec::Vec;

use super::*;
use crate::Error;

#[test]
fn neighbours_are_joined_in_every_order_of_frees() {
    for order in [[0, 1, 2], [2, 1, 0], [0, 2, 1], [1, 0, 2]] {
        let mut space = RangeSpace::new(30);
        let ranges = [10, 10, 10].map(|size| space.allocate(size).unwrap());
        assert!(matches!(space.allocate(1), Err(Error::Full { total_free: 0, .. })));
        for i in order {
            space.free(ranges[i]).unwrap();
            assert_eq!(space.free(ranges[i]), Err(Error::Stale));
        }
        assert_eq!(space.stats().largest_free, 30);
        assert_eq!(space.stats().free_blocks, 1);
        space.validate().unwrap();
    }
}

#[test]
fn extreme_capacities_and_sizes() {
    assert!(RangeSpace::new(0).allocate(1).is_err());
    assert_eq!(RangeSpace::new(5).allocate(0), Err(Error::InvalidSize));
    assert_eq!(RangeSpace::new(5).allocate_aligned(1, 0), Err(Error::InvalidSize));
    let mut whole = RangeSpace::new(u32::MAX);
    let all = whole.allocate(u32::MAX).unwrap();
    assert_eq!(whole.range(all), Some(0..u32::MAX));
    assert_eq!(whole.grow(1), Err(Error::InvalidSize));
    let mut wide = RangeSpace::<u64>::with_size(u64::MAX);
    let low = wide.allocate(u64::from(u32::MAX) + 2).unwrap();
    let high = wide.allocate_aligned(u64::MAX / 4, 1 << 62).unwrap();
    assert_eq!(wide.range(low), Some(0..(1 << 32) + 1));
    assert_eq!(wide.range(high), Some(1 << 62..(1 << 62) + u64::MAX / 4));
    wide.validate().unwrap();
}

/// Sizes in one bin differ. The only gap that fits may be the last one of a long list.
#[test]
fn an_exact_fit_is_found_behind_many_smaller_gaps() {
    let mut space = RangeSpace::new(1_000_000);
    let smaller: Vec<_> = (0..100).map(|_| [1000, 1].map(|s| space.allocate(s).unwrap())).collect();
    let exact = space.allocate(1001).unwrap();
    let rest = space.stats().largest_free;
    space.allocate(rest).unwrap();
    let before = space.range(exact);
    space.free(exact).unwrap();
    for [gap, _] in smaller {
        space.free(gap).unwrap();
    }
    let again = space.allocate(1001).unwrap();
    assert_eq!(space.range(again), before);
}

/// Checks ranges at the front, in a gap between others, and at the end.
#[test]
fn allocate_with_offset_returns_the_offset_of_the_range() {
    let mut space = RangeSpace::new(100);
    let ranges: Vec<_> = [30, 20, 40].map(|size| space.allocate_with_offset(size).unwrap()).into();
    space.free(ranges[1].0).unwrap();
    let (again, offset) = space.allocate_with_offset(20).unwrap();
    assert_eq!((offset, space.range(again)), (30, Some(30..50)));
    for (range, offset) in [ranges[0], ranges[2], space.allocate_with_offset(10).unwrap()] {
        assert_eq!(space.range(range).unwrap().start, offset);
    }
    assert_eq!(space.allocate_with_offset(1).unwrap_err(), space.allocate(1).unwrap_err());
    assert_eq!(space.allocate_with_offset(0), Err(Error::InvalidSize));
}

#[test]
fn nodes_with_exhausted_generations_are_never_reused() {
    let mut space = RangeSpace::new(10);
    let first = space.allocate(1).unwrap();
    space.nodes[first.index].generation = u32::MAX;
    let last = RangeHandle { generation: u32::MAX, ..first };
    space.free(last).unwrap();
    let next = space.allocate(1).unwrap();
    assert_ne!(next.index, first.index);
    space.reset();
    assert_ne!(space.allocate(1).unwrap().index, first.index);
    assert_eq!((space.range(first), space.range(last)), (None, None));
    space.validate().unwrap();
}

#[test]
fn bins_are_sorted_by_size_and_narrow() {
    let sizes = (0..2000).chain((5..64).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1]));
    let mut sizes: Vec<u64> = sizes.chain([u64::from(u32::MAX), u64::MAX]).collect();
    sizes.sort_unstable();
    for pair in sizes.windows(2) {
        assert!(bin_of(pair[0]) <= bin_of(pair[1]), "{pair:?}");
        // Sizes of one bin differ by less than 1/32.
        assert!(bin_of(pair[0]) < bin_of(pair[1]) || pair[1] - pair[0] <= pair[0] / 32);
    }
}

/// The space may change between plan and move. A move that no longer fits is refused and changes
/// nothing.
#[test]
fn outdated_moves_are_refused() {
    let mut space = RangeSpace::new(35);
    let [low, middle, top] = [10, 10, 10].map(|size| space.allocate(size).unwrap());
    space.free(low).unwrap();
    let plan = space.plan_defragmentation(&DefragBudget::default());
    let to_low = plan[0];
    assert_eq!((to_low.handle, to_low.from, to_low.to), (top, 20, 0));
    let in_the_way = space.allocate(6).unwrap();
    let full = Error::Full { requested: 10, largest_free: 0, total_free: 9 };
    assert_eq!(space.apply_move(&to_low), Err(full));
    space.free(in_the_way).unwrap();
    space.resize_in_place(top, 9).unwrap();
    assert_eq!(space.apply_move(&to_low), Err(Error::NotAllocated));
    space.free(top).unwrap();
    assert_eq!(space.apply_move(&to_low), Err(Error::Stale));
    assert_eq!(space.range(middle), Some(10..20));
    space.validate().unwrap();
}

/// The start node and the nodes of freed ranges have no handles.
#[test]
fn integers_that_are_no_handle_are_refused() {
    let mut space = RangeSpace::new(10);
    let range = space.allocate(1).unwrap();
    space.free(range).unwrap();
    let freed = range.to_bits() + (1 << u32::BITS);
    let start = 1 << u32::BITS;
    assert_eq!([freed, start, 0].map(RangeHandle::from_bits), [None; 3]);
}

/// Checks both orders of moves, and moves that the caller executes in two steps.
#[test]
fn aligned_ranges_stay_aligned_when_they_move() {
    for order in [MoveOrder::FrontToBack, MoveOrder::AtOnce] {
        let mut space = RangeSpace::new(10_000);
        let first = space.allocate(100).unwrap();
        let gap = space.allocate(1000).unwrap();
        let aligned: Vec<_> =
            [256, 512, 3].map(|align| (space.allocate_aligned(256, align).unwrap(), align)).into();
        space.free(gap).unwrap();
        let before: Vec<_> = aligned.iter().map(|&(range, _)| space.range(range)).collect();
        loop {
            let plan = space.plan_defragmentation(&DefragBudget { order, ..Default::default() });
            if plan.is_empty() {
                break;
            }
            for step in plan {
                let off_by_one = RangeMove { to: step.to + 1, ..step };
                let needs = space.alignment(step.handle).unwrap();
                assert!(needs == 1 || space.apply_move(&off_by_one).is_err());
                assert!(needs == 1 || space.allocate_target(&off_by_one).is_err());
                if !step.overlaps() && space.clone().allocate_target(&step).is_ok() {
                    let mut other = space.clone();
                    let target = other.allocate_target(&step).unwrap();
                    assert_eq!(other.alignment(target), Some(needs));
                }
                space.apply_move(&step).unwrap();
            }
        }
        let after: Vec<_> = aligned.iter().map(|&(range, _)| space.range(range)).collect();
        assert_ne!(before, after, "nothing has moved");
        for (range, align) in aligned {
            assert_eq!(space.range(range).unwrap().start % align, 0);
        }
        assert_eq!(space.range(first), Some(0..100));
        space.validate().unwrap();
    }
}

/// A new range does not inherit the alignment of an earlier range with the same index.
#[test]
fn alignment_ends_with_the_range() {
    let mut space = RangeSpace::new(100);
    let aligned = space.allocate_aligned(10, 7).unwrap();
    space.free(aligned).unwrap();
    assert_eq!(space.alignment(aligned), None);
    let plain = space.allocate(10).unwrap();
    assert_eq!((plain.index(), space.alignment(plain)), (aligned.index(), Some(1)));
}
