use core::mem::MaybeUninit;

use super::*;

#[test]
fn a_region_is_reused_after_a_reset() {
    let mut bytes = [MaybeUninit::uninit(); 1001];
    let mut lists = SizeLists::<u32, 18>::in_region(3, Region::new(&mut bytes[1..]));
    let mut count = 0;
    // An array without a handle stays allocated until the reset.
    while lists.insert(&[1, 2, 3]).is_ok() {
        count += 1;
    }
    assert_eq!((count, lists.len(), lists.reserved_bytes()), (83, 83, 1000));
    assert!(matches!(lists.insert(&[1; 20]), Err(Error::Full { requested: 80, .. })));
    assert!(lists.insert(&[1; 21]).is_err());
    lists.reset();
    let list = lists.insert(&[1; 20]).unwrap();
    assert_eq!(lists.get(&list), Some(&[1; 20][..]));
}

#[test]
fn empty_lists_take_nothing() {
    let mut lists = SizeLists::<u64, 2>::in_region(1, Region::new(&mut []));
    let mut list = lists.insert(&[]).unwrap();
    assert_eq!((lists.len(), lists.get(&list)), (1, Some(&[][..])));
    assert_eq!(lists.get_mut(&mut list), Some(&mut [][..]));
    assert!(list.is_empty());
    lists.remove(list).unwrap();
    assert!(lists.is_empty());
}

#[cfg(feature = "alloc")]
mod in_slabs {
    use std::vec::Vec;

    use super::*;
    use crate::Heap;

    #[test]
    fn every_length_keeps_its_values() {
        let mut lists = SizeLists::<u16, 5>::with_shortest(2, &Heap);
        for _ in 0..2 {
            let made: Vec<_> = (0..1000u16)
                .map(|i| lists.insert_with(usize::from(i % 9), |k| i + k as u16).unwrap())
                .collect();
            for (i, list) in made.iter().enumerate() {
                let expected: Vec<_> = (0..i % 9).map(|k| (i + k) as u16).collect();
                assert_eq!((lists.get(list), list.len()), (Some(&expected[..]), i % 9));
            }
            made.into_iter().for_each(|list| lists.remove(list).unwrap());
            assert!(lists.is_empty());
        }
    }

    #[test]
    fn removed_arrays_are_reused_and_longer_ones_are_freed() {
        let mut lists = SizeLists::<u32>::new(&Heap);
        let list = lists.insert(&[1; 7]).unwrap();
        let reserved = lists.reserved_bytes();
        lists.remove(list).unwrap();
        for _ in 0..10_000 {
            let (short, long) = (lists.insert(&[2; 7]).unwrap(), lists.insert(&[3; 21]).unwrap());
            assert_eq!(lists.get(&long).map(|values| values.iter().sum()), Some(63));
            lists.remove(short).and(lists.remove(long)).unwrap();
        }
        assert_eq!(lists.reserved_bytes(), reserved);
    }

    #[test]
    fn foreign_and_stale_lists_are_refused() {
        let mut lists = SizeLists::<u32>::new(&Heap);
        let mut others = SizeLists::<u32>::new(&Heap);
        let mut list = others.insert(&[1, 2, 3]).unwrap();
        assert_eq!(lists.get(&list), None);
        assert_eq!(lists.get_mut(&mut list), None);
        assert_eq!(lists.remove(list), Err(Error::NotAllocated));
        let (old, old_long) = (lists.insert(&[1; 4]).unwrap(), lists.insert(&[1; 40]).unwrap());
        lists.reset();
        assert_eq!((lists.get(&old), lists.get(&old_long)), (None, None));
        assert_eq!(lists.remove(old_long), Err(Error::NotAllocated));
        assert_eq!((lists.len(), others.len()), (0, 1));
    }

    #[test]
    fn values_of_any_size_and_alignment() {
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[repr(align(2048))]
        struct Wide(u8);
        let mut wide = SizeLists::<Wide>::new(&Heap);
        let mut units = SizeLists::<()>::new(&Heap);
        let mut bytes = SizeLists::<u8>::new(&Heap);
        for len in 0..50 {
            let w = wide.insert_with(len, |i| Wide(i as u8)).unwrap();
            let u = units.insert(&[(); 50][..len]).unwrap();
            let b = bytes.insert(&[len as u8; 50][..len]).unwrap();
            let values = wide.get(&w).unwrap();
            assert!(values.iter().enumerate().all(|(i, value)| value.0 == i as u8));
            assert!(len == 0 || values.as_ptr().addr().is_multiple_of(2048));
            assert_eq!(units.get(&u).map(<[()]>::len), Some(len));
            assert!(bytes.get(&b).unwrap().iter().all(|&byte| byte == len as u8));
            if len % 2 == 0 {
                bytes.remove(b).and(units.remove(u)).and(wide.remove(w)).unwrap();
            }
        }
    }

    #[test]
    fn the_largest_lengths_are_errors() {
        #[derive(Clone, Copy)]
        struct Large(#[allow(dead_code)] [u8; 1 << 40]);
        let mut lists = SizeLists::<Large>::new(&Heap);
        let make = |_| -> Large { unreachable!() };
        for len in [3, 20, 1 << 22, 1 << 31, usize::MAX] {
            assert!(lists.insert_with(len, make).is_err());
        }
        let mut lists = SizeLists::<u32, 4>::with_shortest(usize::MAX - 2, &Heap);
        assert!(lists.insert(&[1, 2]).is_err());
    }
}

#[test]
fn numbers_are_never_reused() {
    let next = AtomicU32::new(u32::MAX - 1);
    assert_eq!([(); 4].map(|()| next_number(&next)), [u32::MAX - 1, u32::MAX, 0, 0]);
}
