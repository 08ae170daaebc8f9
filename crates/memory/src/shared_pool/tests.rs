#![cfg(feature = "std")]

use std::vec::Vec;

use super::*;
use crate::Heap;

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 64).unwrap()
}

#[test]
fn empty_slabs_except_one_are_released() {
    let pool = SharedPool::new(1 << 16, layout(4096), &Heap);
    let blocks: Vec<_> = (0..1000).map(|_| pool.allocate().unwrap()).collect();
    let peak = pool.stats();
    assert_eq!((peak.used_count, peak.slab_count), (1000, 1000usize.div_ceil(15)));
    for (i, &block) in blocks.iter().enumerate() {
        // SAFETY: a block of this pool that is not used any more.
        unsafe { pool.free(block) }.unwrap();
        let stats = pool.stats();
        assert!(i < 100 || stats.reserved_bytes < peak.reserved_bytes, "after {i}: {stats:?}");
    }
    pool.validate().unwrap();
    assert_eq!((pool.stats().used_count, pool.stats().slab_count), (0, 1));
}

#[test]
fn threads_share_a_pool() {
    let pool = SharedPool::new(1 << 12, layout(64), &Heap);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..200u64 {
                    let value = number << 32 | round;
                    let own: [_; 9] = core::array::from_fn(|_| {
                        let slot = pool.allocate().unwrap().cast::<u64>();
                        // SAFETY: the block is ours, and large enough.
                        unsafe { slot.write(value) }
                        slot
                    });
                    // SAFETY: the block is ours, and not used any more.
                    let is_ours = |slot: NonNull<u64>| unsafe {
                        slot.read() == value && pool.free(slot.cast()).is_ok()
                    };
                    assert!(own.into_iter().all(is_ours));
                }
            });
        }
    });
    pool.validate().unwrap();
    assert_eq!(pool.stats().used_count, 0);
}

#[cfg(feature = "allocator-api2")]
#[test]
fn collections_of_all_sizes_use_a_shared_pool() {
    static POOL: SharedPool = SharedPool::new(1 << 12, Layout::new::<[u64; 32]>(), &Heap);
    let mut numbers = allocator_api2::vec::Vec::new_in(&POOL);
    for i in 0..1000u32 {
        numbers.push(i);
        let bytes = numbers.capacity() * 4;
        let expected = usize::from((129..=256).contains(&bytes));
        assert_eq!(POOL.stats().used_count, expected);
    }
    numbers.truncate(50);
    numbers.shrink_to_fit();
    assert_eq!((POOL.stats().used_count, numbers.iter().sum::<u32>()), (1, 49 * 25));
    numbers.truncate(40);
    numbers.shrink_to_fit();
    numbers.reserve_exact(20);
    assert_eq!((POOL.stats().used_count, numbers.iter().sum::<u32>()), (1, 39 * 20));
    numbers.clear();
    numbers.shrink_to_fit();
    assert_eq!(POOL.stats().used_count, 0);
}
