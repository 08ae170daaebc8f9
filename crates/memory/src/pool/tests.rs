use core::cell::Cell;
use core::mem::MaybeUninit;

use super::*;

/// Counts its destructor.
struct Counted<'c>(&'c Cell<u32>);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_region_holds_whole_slabs() {
    let mut bytes = [MaybeUninit::uninit(); 16384];
    for (from, to) in [(0, 16384), (1, 12_289), (100, 8200), (7, 50), (9, 9)] {
        let pool = Pool::<u64, 4096>::in_region(Region::new(&mut bytes[from..to]));
        let capacity = pool.stats().capacity;
        let boxes: [_; 2048] = core::array::from_fn(|i| pool.insert(i as u64).ok());
        assert_eq!(boxes.iter().flatten().count(), capacity);
        assert!(boxes.iter().flatten().enumerate().all(|(i, value)| **value == i as u64));
        assert!(capacity >= ((to - from) / 4096).saturating_sub(1) * 450);
        pool.validate().unwrap();
        drop(boxes);
        assert!(pool.is_empty());
        pool.validate().unwrap();
    }
}

#[test]
fn a_full_pool_drops_the_value_and_does_not_call_make() {
    let dropped = Cell::new(0);
    let pool = Pool::<Counted<'_>, 4096>::in_region(Region::new(&mut []));
    let full = pool.insert(Counted(&dropped)).err();
    assert_eq!(full, Some(Error::Full { requested: 8, largest_free: 0, total_free: 0 }));
    assert_eq!(dropped.get(), 1);
    assert!(pool.insert_with(|| unreachable!()).is_err());
    assert_eq!((pool.len(), pool.shrink()), (0, 0));
}

#[cfg(feature = "alloc")]
mod in_slabs {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::vec::Vec;

    use super::*;
    use crate::Heap;

    #[test]
    fn values_are_dropped_once_with_their_boxes() {
        let dropped = Cell::new(0);
        let mut pool = Pool::<_>::new(&Heap);
        let boxed = pool.insert(Counted(&dropped)).unwrap();
        drop(boxed);
        assert_eq!(dropped.get(), 1);
        let value = pool.insert(Counted(&dropped)).unwrap().into_inner();
        assert_eq!((dropped.get(), pool.len()), (1, 0));
        drop(value);
        core::mem::forget(pool.insert(Counted(&dropped)));
        let raw = pool.insert(Counted(&dropped)).unwrap().into_raw();
        assert_eq!((dropped.get(), pool.len()), (2, 2));
        // SAFETY: released by `into_raw` just before.
        drop(unsafe { pool.from_raw(raw) });
        assert_eq!((dropped.get(), pool.len()), (3, 1));
        let leaked = pool.insert(Counted(&dropped)).unwrap().leak();
        assert_eq!(leaked.0.get(), 3);
        pool.reset();
        assert_eq!((dropped.get(), pool.len()), (3, 0));
        pool.validate().unwrap();
    }

    #[test]
    fn zero_sized_and_over_aligned_values_are_allocated() {
        #[repr(align(4096))]
        struct Page(u8);
        let (units, pages) = (Pool::<()>::new(&Heap), Pool::<Page>::new(&Heap));
        let unit_boxes: Vec<_> = (0..1000).map(|_| units.insert(()).unwrap()).collect();
        let page_boxes: Vec<_> = (0..50).map(|i| pages.insert(Page(i)).unwrap()).collect();
        for (i, page) in page_boxes.iter().enumerate() {
            assert_eq!((usize::from(page.0), core::ptr::from_ref(&**page).addr() % 4096), (i, 0));
        }
        assert_eq!((units.len(), pages.len()), (1000, 50));
        drop((unit_boxes, page_boxes));
        units.validate().and(pages.validate()).unwrap();
    }

    #[test]
    fn panics_free_the_block() {
        struct Explosive;
        impl Drop for Explosive {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let pool = Pool::<Explosive>::new(&Heap);
        let make = || drop(pool.insert_with(|| panic!("not made")));
        assert!(catch_unwind(AssertUnwindSafe(make)).is_err());
        let explosive = pool.insert(Explosive).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| drop(explosive))).is_err());
        assert!(pool.is_empty());
        pool.validate().unwrap();
    }

    /// A box of the pool inside of a value of the pool.
    struct Node<'p>(Option<PoolBox<'p, Node<'p>>>, #[allow(dead_code)] Counted<'p>);

    #[test]
    fn dropping_the_head_drops_a_list_in_the_pool() {
        let dropped = Cell::new(0);
        let pool = Pool::new(&Heap);
        let mut list = None;
        for _ in 0..1000 {
            list = Some(pool.insert(Node(list, Counted(&dropped))).unwrap());
        }
        let mut second = list.unwrap().into_inner();
        let third = second.0.take().unwrap().0.take();
        assert_eq!((pool.len(), third.is_some()), (998, true));
        drop(third);
        assert_eq!((pool.len(), dropped.get()), (0, 999));
        pool.validate().unwrap();
    }

    #[test]
    fn a_moved_pool_keeps_its_values() {
        let pool = Pool::<u32>::new(&Heap);
        let raw = pool.insert(7).unwrap().into_raw();
        let moved = std::boxed::Box::new(pool);
        // SAFETY: released above, by a box of the same pool.
        assert_eq!(unsafe { moved.from_raw(raw) }.into_inner(), 7);
        let handle = std::thread::spawn(move || moved.insert(8).map(PoolBox::into_inner));
        assert_eq!(handle.join().unwrap(), Ok(8));
    }

    #[test]
    fn empty_slabs_except_the_first_are_released() {
        let pool = Pool::<u64, 4096>::in_slabs(&Heap);
        let mut boxes: Vec<_> = (0..5000u64).map(|i| pool.insert(i).unwrap()).collect();
        let slab_count = pool.stats().slab_count;
        assert_eq!(pool.shrink(), 0);
        boxes.retain(|value| **value == 2500);
        assert_eq!(pool.shrink(), (slab_count - 2) * 4096);
        pool.validate().unwrap();
        assert_eq!(*boxes[0], 2500);
        boxes.extend((0..2000).map(|i| pool.insert(i).unwrap()));
        boxes.clear();
        assert_eq!(pool.stats().reserved_bytes - pool.shrink(), 4096);
        pool.validate().unwrap();
    }
}
