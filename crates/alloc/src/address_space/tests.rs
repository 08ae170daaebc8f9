use alloc::vec::Vec;

use super::*;
use crate::Error;

#[test]
fn last_leaf_reuses_indices_in_the_documented_sequence() {
    let mut space = AddressSpace::new(IndexPolicy::LastLeaf);
    for expected in 0..190 {
        assert_eq!(space.allocate(), Ok(expected));
    }
    for freed in [13, 17, 70, 71, 150, 152] {
        space.free(freed).unwrap();
    }
    let next: Vec<_> = (0..10).map(|_| space.allocate().unwrap()).collect();
    assert_eq!(next, [150, 152, 190, 191, 13, 17, 70, 71, 192, 193]);
}

#[test]
fn a_leaf_without_allocations_is_not_the_last_used_leaf() {
    let mut space = AddressSpace::new(IndexPolicy::LastLeaf);
    space.allocate_at(64).unwrap();
    space.free(64).unwrap();
    for expected in 0..64 {
        assert_eq!(space.allocate(), Ok(expected));
    }
    space.free(63).unwrap();
    assert_eq!(space.allocate(), Ok(63));
    space.free(0).unwrap();
    assert_eq!(space.allocate(), Ok(0));
}

#[test]
fn spaces_with_a_limit_of_0_and_1() {
    let none_free = |requested| Error::Full { requested, largest_free: 0, total_free: 0 };
    let mut none = AddressSpace::bounded(IndexPolicy::Lowest, 0);
    assert_eq!(none.allocate(), Err(none_free(1)));
    assert_eq!(none.allocate_at(0), Err(Error::InvalidSize));
    assert_eq!(none.free(0), Err(Error::NotAllocated));
    let mut one = AddressSpace::bounded(IndexPolicy::LastLeaf, 1);
    assert_eq!((one.allocate(), one.allocate()), (Ok(0), Err(none_free(1))));
    assert_eq!(one.allocate_many(u32::MAX, &mut Vec::new()), Err(none_free(u32::MAX.into())));
}

#[test]
fn indices_that_are_not_allocated_are_refused() {
    let mut space = AddressSpace::default();
    space.allocate().unwrap();
    for index in [1, 63, 64, u32::MAX - 1, u32::MAX] {
        assert!(!space.contains(index));
        assert_eq!(space.free(index), Err(Error::NotAllocated));
    }
    assert_eq!(space.allocate_at(u32::MAX), Err(Error::InvalidSize));
}

/// 2²⁴ slots are the first number that needs two levels above the regions.
#[test]
fn root_levels_are_added_and_removed() {
    let mut space = AddressSpace::default();
    let far = (1 << 24) + 5;
    space.allocate_at(far).unwrap();
    space.validate().unwrap();
    let mut runs = Vec::new();
    space.allocate_many(far, &mut runs).unwrap();
    assert_eq!((runs.len(), &runs[0]), (1, &(0..far)));
    assert_eq!(space.allocate(), Ok(far + 1));
    space.free(1 << 20).unwrap();
    space.validate().unwrap();
    assert_eq!((space.allocate(), space.allocate()), (Ok(1 << 20), Ok(far + 2)));
    for index in (200_000..far + 3).rev() {
        space.free(index).unwrap();
    }
    space.shrink_to_fit();
    space.validate().unwrap();
    assert_eq!((space.high_water(), space.allocate()), (200_000, Ok(200_000)));
}

#[test]
fn a_slot_needs_at_most_1_02_bits() {
    let mut space = AddressSpace::default();
    let slots = 1 << 20;
    space.allocate_many(slots, &mut Vec::new()).unwrap();
    assert!(space.size_bytes() as f64 * 8.0 <= 1.02 * f64::from(slots));
}
