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

/// Returns the metadata of a space, in bits per index in use.
fn bits_of(space: &AddressSpace) -> f64 {
    space.size_bytes() as f64 * 8.0 / f64::from(space.len())
}

#[test]
fn a_slot_needs_1_016_bits_and_twice_as_many_just_past_a_power_of_two() {
    let mut space = AddressSpace::default();
    let slots = 1 << 20;
    space.allocate_many(slots, &mut Vec::new()).unwrap();
    assert!((1.0158..1.018).contains(&bits_of(&space)), "{}", bits_of(&space));
    space.allocate().unwrap();
    assert!((2.03..2.035).contains(&bits_of(&space)), "{}", bits_of(&space));
    space.shrink_to_fit();
    assert!((1.0158..1.018).contains(&bits_of(&space)), "{}", bits_of(&space));
    for slots in [slots, slots + 1, slots * 3 / 2] {
        let mut space = AddressSpace::default();
        space.reserve(slots).unwrap();
        space.allocate_many(slots, &mut Vec::new()).unwrap();
        assert!((1.0158..1.018).contains(&bits_of(&space)), "{}", bits_of(&space));
    }
    // Growth by itself is never worse.
    let mut space = AddressSpace::default();
    for _ in 0..1 << 18 {
        space.allocate().unwrap();
        assert!(space.len() < 100_000 || bits_of(&space) < 2.05, "{}", space.len());
    }
}

#[test]
fn many_are_freed_all_or_none() {
    let mut space = AddressSpace::default();
    space.allocate_many(300, &mut Vec::new()).unwrap();
    space.free(100).unwrap();
    let before: Vec<_> = space.iter().collect();
    for wrong in [
        &[0..64, 64..101][..],
        &[0..64, 99..101],
        &[240..250, 250..301],
        &[200..300, 64..128, 0..5],
        &[0..10, 5..6],
        &[0..0, u32::MAX - 1..u32::MAX],
        &[290..300, 299..300],
    ] {
        assert_eq!(space.free_many(wrong), Err(Error::NotAllocated), "{wrong:?}");
        assert!(space.iter().eq(before.iter().copied()) && space.validate().is_ok());
        assert_eq!(space.high_water(), 300);
    }
    #[allow(clippy::reversed_empty_ranges)]
    let odd = [1000..1000, 70..70, 9..3, 290..300, 0..1, 60..70];
    assert_eq!((space.free_many(&odd), space.free_many(&[])), (Ok(()), Ok(())));
    assert_eq!((space.len(), space.high_water()), (299 - 21, 290));
    space.validate().unwrap();
    let next: Vec<_> = (0..3).map(|_| space.allocate().unwrap()).collect();
    assert_eq!(next, [0, 60, 61]);
    space.free_many(&[101..290, 62..100]).unwrap_err();
    space.free_many(&[101..290, 70..100, 0..62]).unwrap();
    assert_eq!((space.len(), space.high_water()), (0, 0));
}

#[test]
fn reserved_indices_need_no_more_memory() {
    let mut space = AddressSpace::bounded(IndexPolicy::LastLeaf, 5000);
    space.allocate_many(100, &mut Vec::new()).unwrap();
    space.free_many(&[10..15, 15..20]).unwrap();
    space.reserve(0).unwrap();
    space.reserve(38).unwrap();
    assert_eq!(space.capacity(), 128);
    space.reserve(39).unwrap();
    assert_eq!(space.capacity(), 192);
    space.reserve(4910).unwrap();
    let size_bytes = space.size_bytes();
    assert_eq!((space.capacity(), space.validate()), (5000, Ok(())));
    let full = Error::Full { requested: 4911, largest_free: 4910, total_free: 4910 };
    assert_eq!(space.reserve(4911), Err(full));
    assert!(space.reserve(u32::MAX).is_err());
    assert!((0..4910).all(|_| space.allocate().is_ok()));
    assert!(space.allocate().is_err() && space.size_bytes() == size_bytes);
}
