use core::mem::MaybeUninit;

use super::*;

const LAYOUTS: [(usize, usize); 9] =
    [(0, 1), (1, 1), (7, 2), (8, 8), (24, 8), (64, 64), (65, 1), (5000, 16), (100, 4096)];

fn layout((size, align): (usize, usize)) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// Allocates until the pool is full and checks alignment and address of each block.
fn fill(pool: &BlockPool<'_>, bytes: (usize, usize)) -> usize {
    let block = pool.block_layout();
    let mut count = 0;
    while let Ok(start) = pool.allocate() {
        let start = start.addr().get();
        assert_eq!(start % block.align(), 0);
        assert!(bytes.0 <= start && start + block.size() <= bytes.1);
        count += 1;
    }
    assert_eq!((pool.len(), pool.stats().capacity), (count, count));
    pool.validate().unwrap();
    count
}

#[test]
fn regions_of_all_sizes_at_all_addresses_are_fully_used() {
    let mut bytes = [MaybeUninit::uninit(); 20_000];
    for layout in LAYOUTS.map(layout) {
        for (from, to) in [(0, 20_000), (1, 10_000), (3, 3), (5, 6), (13, 77), (1, 141), (7, 4200)]
        {
            let memory = &mut bytes[from..to];
            let range = memory.as_ptr_range();
            let range = (range.start.addr(), range.end.addr());
            let pool = BlockPool::new(layout, Region::new(memory));
            let (count, block) = (fill(&pool, range), pool.block_layout());
            // The overhead is at max_size a header, two bits per block and two alignments.
            let lost = 32 + (to - from).div_ceil(4 * block.size()) + 16 + block.align() + 8;
            assert!((count + 1) * block.size() + lost > to - from, "{layout:?} {from}..{to}");
        }
    }
}

#[test]
fn blocks_of_cache_line_sizes_do_not_cross_lines() {
    let mut bytes = [MaybeUninit::uninit(); 9000];
    for (size, align) in [(64, 64), (128, 64), (192, 64), (32, 32), (16, 16), (96, 32), (24, 8)] {
        let pool = BlockPool::new(layout((size, 1)), Region::new(&mut bytes[3..]));
        assert_eq!((pool.block_layout().size(), pool.block_layout().align()), (size, align));
    }
}

#[test]
fn blocks_near_the_maximum_size_do_not_fit() {
    let mut bytes = [MaybeUninit::uninit(); 1000];
    let max_size = isize::MAX as usize;
    for (size, align) in
        [(max_size, 1), (max_size - 7, 8), (max_size / 2, 1), (1, 1 << (usize::BITS - 2))]
    {
        let pool = BlockPool::new(layout((size, align)), Region::new(&mut bytes));
        assert!(matches!(pool.allocate(), Err(Error::Full { total_free: 0, .. })));
        pool.validate().unwrap();
    }
}

#[cfg(feature = "alloc")]
mod in_slabs {
    use super::*;
    use crate::Heap;

    #[test]
    fn slabs_for_the_largest_blocks_are_refused() {
        let max_size = isize::MAX as usize;
        for (size, align) in [(max_size, 1), (max_size / 8, 1), (max_size / 16, 64), (1, 1 << 56)] {
            let pool = BlockPool::in_slabs(layout((size, align)), &Heap);
            assert!(matches!(pool.allocate(), Err(Error::Full { .. })));
        }
        let pool = BlockPool::in_slabs_of(usize::MAX, layout((1, 1)), &Heap);
        assert!(pool.allocate().is_err());
    }

    #[test]
    fn double_frees_are_detected() {
        for layout in LAYOUTS.map(layout) {
            let pool = BlockPool::in_slabs_of(4096, layout, &Heap);
            let blocks: std::vec::Vec<_> = (0..100).map(|_| pool.allocate().unwrap()).collect();
            for &block in &blocks {
                // SAFETY: a block of this pool, which nothing uses.
                assert_eq!(unsafe { (pool.free(block), pool.free(block)) }, twice());
            }
            // SAFETY: as for the call above.
            assert!(blocks.iter().all(|&block| unsafe { pool.free(block) } == twice().1));
            assert!(pool.is_empty());
            pool.validate().unwrap();
        }
    }

    const fn twice() -> (Result<(), Error>, Result<(), Error>) {
        (Ok(()), Err(Error::NotAllocated))
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic = "not a block of this pool"]
    fn a_foreign_block_is_detected_in_debug_builds() {
        let layout = layout((64, 64));
        let [ours, others] = [(); 2].map(|()| BlockPool::in_slabs_of(4096, layout, &Heap));
        ours.allocate().unwrap();
        let block = others.allocate().unwrap();
        // SAFETY: not sound, but checked in debug builds before anything is touched.
        let _ = unsafe { ours.free(block) };
    }

    #[test]
    fn empty_slabs_are_released_and_blocks_in_use_stay() {
        let pool = BlockPool::in_slabs_of(4096, layout((64, 64)), &Heap);
        let blocks: std::vec::Vec<_> = (0..1000).map(|_| pool.allocate().unwrap()).collect();
        let slab_count = pool.stats().slab_count;
        for &block in &blocks[1..] {
            // SAFETY: a block of this pool, which nothing uses.
            unsafe { pool.free(block) }.unwrap();
        }
        assert_eq!(pool.shrink(), (slab_count - 1) * 4096);
        pool.validate().unwrap();
        assert_eq!((pool.len(), pool.stats().reserved_bytes), (1, 4096));
        // SAFETY: as above; it was in use while the pool shrank.
        unsafe { pool.free(blocks[0]) }.unwrap();
        assert_eq!((pool.shrink(), pool.stats().capacity), (4096, 0));
        assert_eq!(pool.shrink(), 0);
        pool.allocate().unwrap();
        pool.validate().unwrap();
    }

    #[test]
    fn a_reset_keeps_the_memory() {
        let mut pool = BlockPool::in_slabs_of(4096, layout((64, 64)), &Heap);
        (0..500).for_each(|_| assert!(pool.allocate().is_ok()));
        let stats = pool.stats();
        pool.reset();
        pool.validate().unwrap();
        assert!(pool.is_empty());
        (0..500).for_each(|_| assert!(pool.allocate().is_ok()));
        assert_eq!(pool.stats(), stats);
        pool.reset();
        pool.allocate().unwrap();
        assert_eq!(pool.shrink(), (stats.slab_count - 1) * 4096);
        pool.validate().unwrap();
    }
}

#[cfg(all(feature = "allocator-api2", feature = "std"))]
mod as_allocator {
    use allocator_api2::alloc::Allocator;
    use allocator_api2::vec::Vec;
    use hashbrown::{DefaultHashBuilder, HashMap};

    use super::*;
    use crate::Heap;

    #[test]
    fn collections_that_fit_use_blocks() {
        let pool = BlockPool::in_slabs(layout((4096, 16)), &Heap);
        let mut numbers = Vec::new_in(&pool);
        let mut map = HashMap::with_hasher_in(DefaultHashBuilder::default(), &pool);
        for i in 0..200u32 {
            numbers.push(i);
            map.insert(i, i * i);
        }
        assert_eq!((pool.len(), map[&13], numbers[13]), (2, 169, 13));
        let start = numbers.as_ptr();
        numbers.resize(1024, 0);
        assert_eq!((numbers.as_ptr(), numbers[13]), (start, 13));
        assert!(numbers.try_reserve(1).is_err());
        numbers.clear();
        numbers.shrink_to_fit();
        drop(map);
        assert!(pool.is_empty());
        pool.validate().unwrap();
    }

    #[test]
    fn blocks_grow_and_shrink_in_place() {
        let pool = BlockPool::in_slabs(layout((256, 64)), &Heap);
        resize(&pool, || pool.len());
        assert!(pool.is_empty());
    }

    fn resize(allocator: impl Allocator, len: impl Fn() -> usize) {
        let start = allocator.allocate(layout((10, 1))).unwrap().cast::<u8>();
        // SAFETY: the block is used within its size.
        unsafe {
            start.write_bytes(7, 10);
            let zeroed = allocator.grow_zeroed(start, layout((10, 1)), layout((100, 64))).unwrap();
            assert_eq!(zeroed.cast::<[u8; 256]>().read()[8..12], [7, 7, 0, 0]);
            let shrunk = allocator.shrink(start, layout((100, 64)), layout((5, 1))).unwrap();
            assert_eq!((zeroed.cast(), shrunk.cast()), (start, start));
            assert!(allocator.grow(start, layout((5, 1)), layout((257, 1))).is_err());
            assert!(allocator.shrink(start, layout((5, 1)), layout((1, 128))).is_err());
            let none = allocator.shrink(start, layout((5, 1)), layout((0, 1))).unwrap();
            assert_eq!(len(), 0);
            let again = allocator.grow(none.cast(), layout((0, 1)), layout((1, 1))).unwrap();
            assert_eq!(len(), 1);
            allocator.deallocate(again.cast(), layout((1, 1)));
        }
    }
}
