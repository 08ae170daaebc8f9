#![cfg(all(feature = "std", feature = "allocator-api2", debug_assertions))]

use alloc::string::ToString;
use core::cell::RefCell;
use std::alloc::System;
use std::sync::Once;
use std::{vec, vec::Vec};

use allocator_api2::alloc::{Allocator, Global};
use drystone_testing::Random;

use super::*;
use crate::debug_aids::set_fault_handler;
use crate::*;

std::thread_local! {
    static FAULTS: RefCell<Vec<Fault>> = const { RefCell::new(Vec::new()) };
}

/// Returns the faults of this thread since the last call.
fn faults() -> Vec<Fault> {
    set_fault_handler(|fault| FAULTS.with_borrow_mut(|faults| faults.push(*fault)));
    FAULTS.take()
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

fn region() -> Region<'static> {
    Region::heap(1 << 16).unwrap()
}

fn small_objects() -> SmallObjects<'static> {
    SmallObjects::new(region(), &SmallObjectsConfig::default()).unwrap()
}

/// Largest size that the tests request, which fits a block of the pools with its guard.
const MAX_BYTES: usize = 100;
const BLOCK: Layout = Layout::new::<[u64; (MAX_BYTES + GUARD_BYTES).div_ceil(8)]>();

/// A test of a wrapped allocator: functions that allocate and free, and the wrapper's `validate`.
trait Test {
    fn run(
        &self,
        allocate: &dyn Fn(Layout) -> Option<NonNull<u8>>,
        free: &dyn Fn(NonNull<u8>, Layout),
        validate: &dyn Fn() -> Result<(), Fault>,
    );
}

fn run_collections(test: &impl Test, allocator: impl Allocator) {
    let guarded = Guarded::new(allocator, &Heap);
    test.run(
        &|layout| Allocator::allocate(&guarded, layout).ok().map(NonNull::cast),
        // SAFETY: tests free blocks that they allocated, or ones that the wrapper refuses.
        &|block, layout| unsafe { guarded.deallocate(block, layout) },
        &|| guarded.validate(),
    );
}

fn run_global(test: &impl Test, allocator: impl GlobalAlloc) {
    let guarded = Guarded::new(allocator, &Heap);
    test.run(
        // SAFETY: no test requests 0 bytes.
        &|layout| NonNull::new(unsafe { guarded.alloc(layout) }),
        // SAFETY: as in `run_collections`.
        &|block, layout| unsafe { guarded.dealloc(block.as_ptr(), layout) },
        &|| guarded.validate(),
    );
}

fn run_source(test: &impl Test, source: impl MemorySource) {
    let guarded = Guarded::new(source, &Heap);
    test.run(
        &|layout| MemorySource::allocate(&guarded, layout),
        // SAFETY: as in `run_collections`.
        &|block, layout| unsafe { guarded.free(block, layout) },
        &|| guarded.validate(),
    );
}

static SMALL: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);

/// Small objects for all threads, as a value.
struct SharedSmall;

impl SharedSmall {
    fn new() -> Self {
        static ENABLED: Once = Once::new();
        ENABLED.call_once(|| SMALL.enable(&SmallObjectsConfig::default()).unwrap());
        Self
    }
}

// SAFETY: all requests go to another global allocator.
unsafe impl GlobalAlloc for SharedSmall {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        unsafe { SMALL.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { SMALL.dealloc(block, layout) }
    }
}

/// Runs a test with every allocator of the crate whose blocks have layouts.
fn run_all(test: &impl Test) {
    run_collections(test, &Linear::new(region()));
    run_collections(test, &Stack::new(region()));
    let ends = DoubleStack::new(region());
    run_collections(test, ends.low());
    run_collections(test, ends.high());
    ScopeStack::new(region()).scope(|scope| run_collections(test, &*scope));
    run_collections(test, &BlockPool::new(BLOCK, region()));
    run_collections(test, &SharedPool::new(1 << 16, BLOCK, &Heap));
    run_collections(test, &small_objects());
    run_collections(test, &small_objects().with_checked_frees());
    run_collections(test, Recorder::new(Global, &Heap));
    run_global(test, Recorder::new(System, &Heap));
    run_global(test, GlobalSmallObjects::new(System));
    run_source(test, Heap);
    run_global(test, SharedSmall::new());
}

#[test]
fn an_overwritten_guard_is_reported_with_block_and_byte() {
    struct Overwrite;
    impl Test for Overwrite {
        fn run(
            &self,
            allocate: &dyn Fn(Layout) -> Option<NonNull<u8>>,
            free: &dyn Fn(NonNull<u8>, Layout),
            validate: &dyn Fn() -> Result<(), Fault>,
        ) {
            for (size_bytes, bytes_behind) in [(1, 0), (24, 1), (MAX_BYTES, GUARD_BYTES - 1)] {
                let layout = layout(size_bytes, 1);
                let block = allocate(layout).unwrap();
                let address = block.addr().get();
                // SAFETY: the block has this size.
                unsafe { block.write_bytes(7, size_bytes) };
                assert_eq!((validate(), faults()), (Ok(()), vec![]));
                // SAFETY: the guard is behind the block.
                unsafe { block.add(size_bytes + bytes_behind).write(b'A') };
                let fault = Fault::Overwritten { address, size_bytes, bytes_behind, found: b'A' };
                assert_eq!((validate(), faults()), (Err(fault), vec![]));
                free(block, layout);
                assert_eq!((validate(), faults()), (Ok(()), vec![fault]));
            }
        }
    }
    run_all(&Overwrite);
    let fault = Fault::Overwritten { address: 0x1230, size_bytes: 24, bytes_behind: 1, found: 65 };
    let text = "the block of 24 bytes at 0x1230 was written beyond its end: the byte 1 bytes behind \
                it is 0x41";
    assert_eq!(fault.to_string(), text);
}

#[test]
fn blocks_that_are_not_live_are_reported_and_not_freed() {
    struct FreeTwice;
    impl Test for FreeTwice {
        fn run(
            &self,
            allocate: &dyn Fn(Layout) -> Option<NonNull<u8>>,
            free: &dyn Fn(NonNull<u8>, Layout),
            _: &dyn Fn() -> Result<(), Fault>,
        ) {
            let wanted = layout(24, 8);
            let [kept, block] = [(); 2].map(|()| allocate(wanted).unwrap());
            let not_allocated = |block: NonNull<u8>, size_bytes| {
                vec![Fault::NotAllocated { address: block.addr().get(), size_bytes }]
            };
            free(block, layout(25, 8));
            assert_eq!(faults(), not_allocated(block, 25));
            free(block, wanted);
            assert_eq!(faults(), []);
            free(block, wanted);
            assert_eq!(faults(), not_allocated(block, 24));
            let mut foreign = [0u64; 3];
            let foreign = NonNull::from(&mut foreign).cast();
            free(foreign, wanted);
            assert_eq!(faults(), not_allocated(foreign, 24));
            free(kept, wanted);
            assert_eq!(faults(), []);
        }
    }
    run_all(&FreeTwice);
}

#[test]
fn live_blocks_are_reported_as_a_leak_with_count_and_sizes() {
    struct Leaks;
    impl Test for Leaks {
        fn run(
            &self,
            allocate: &dyn Fn(Layout) -> Option<NonNull<u8>>,
            free: &dyn Fn(NonNull<u8>, Layout),
            _: &dyn Fn() -> Result<(), Fault>,
        ) {
            // The leak of the previous allocator.
            let leaks = faults();
            if let [Fault::Leaked(leak)] = leaks[..] {
                let mut sizes = leak.sizes().to_vec();
                sizes.sort_unstable();
                assert_eq!(leak.to_string().split(':').next(), Some("Guarded"));
                assert_eq!((leak.count, leak.size_bytes, &sizes[..]), (2, 90, &[30, 60][..]));
            } else {
                assert_eq!(leaks, []);
            }
            let blocks = [30, 40, 60].map(|size| (allocate(layout(size, 1)).unwrap(), size));
            free(blocks[1].0, layout(40, 1));
            assert_eq!(faults(), []);
        }
    }
    faults();
    // Allocators whose blocks are freed with their memory, or with the program.
    run_collections(&Leaks, &Linear::new(region()));
    run_collections(&Leaks, &BlockPool::new(BLOCK, region()));
    assert!(matches!(faults()[..], [Fault::Leaked(_), Fault::Leaked(_)]), "of wrapper and pool");
    run_global(&Leaks, SharedSmall::new());
    run_collections(&Leaks, &Linear::new(region()));
    let stack = Stack::new(region());
    run_collections(&Leaks, &stack);
    assert!(matches!(faults()[..], [Fault::Leaked(_)]), "of the wrapper");
    drop(stack);
    let [Fault::Leaked(leak)] = faults()[..] else { panic!() };
    // The third block was on top of the second, which is freed with it.
    assert_eq!((leak.allocator, leak.count, leak.size_bytes), ("stack", 2, 48 + 80));
    assert_eq!(leak.to_string(), "stack: 2 blocks of 128 bytes in total are still live: 80, 48");
    let nine = Leak::of("pool", core::iter::repeat_n(8, 9)).to_string();
    assert!(
        nine.ends_with("9 blocks of 72 bytes in total are still live: 8, 8, 8, 8, 8, 8, 8, 8, …")
    );
}

/// Allocates three blocks, and frees one of them.
fn leak_two(allocate: impl Fn() -> NonNull<u8>, free: impl Fn(NonNull<u8>)) {
    let blocks = [(); 3].map(|()| allocate());
    free(blocks[2]);
    assert_eq!(faults(), []);
}

fn end_of<'d, 'm>(stack: &'d DoubleStack<'m>, is_low: bool) -> StackEnd<'d, 'm> {
    if is_low { stack.low() } else { stack.high() }
}

/// Asserts that two leaked blocks of this size were reported.
fn assert_two(allocator: &str, size_bytes: usize) {
    let [Fault::Leaked(leak)] = faults()[..] else { panic!("no leak of {allocator}") };
    assert_eq!((leak.allocator, leak.sizes()), (allocator, &[size_bytes; 2][..]));
}

#[test]
fn allocators_report_their_leaks_when_they_are_reset_or_dropped() {
    faults();
    let word = layout(20, 8);
    let mut stack = DoubleStack::new(region());
    for is_low in [true, false] {
        let leak = |stack: &DoubleStack<'_>| {
            // SAFETY: nothing uses the block.
            let free = |block| unsafe { end_of(stack, is_low).free(block) }.unwrap();
            leak_two(|| end_of(stack, is_low).allocate(word).unwrap(), free);
        };
        leak(&stack);
        // SAFETY: nothing uses the blocks.
        unsafe { end_of(&stack, is_low).reset() };
        assert_two("stack", 24);
        leak(&stack);
        stack.reset();
        assert_two("stack", 24);
    }
    drop(stack);
    assert_eq!(faults(), []);

    let mut pool = BlockPool::in_slabs(word, &Heap);
    for _ in 0..2 {
        // SAFETY: nothing uses the block.
        leak_two(|| pool.allocate().unwrap(), |block| unsafe { pool.free(block) }.unwrap());
        pool.reset();
        assert_two("pool", 24);
    }
    pool.allocate().unwrap();
    drop(pool);
    assert!(matches!(faults()[..], [Fault::Leaked(Leak { count: 1, size_bytes: 24, .. })]));

    let pool = Pool::<[u64; 4]>::new(&Heap);
    for value in [1, 2, 3] {
        let value = pool.insert([value; 4]).unwrap();
        if value[0] < 3 {
            value.leak();
        }
    }
    drop(pool);
    assert_two("pool", 32);

    let mut lists = SizeLists::<u16>::new(&Heap);
    for len in [2, 5, 300] {
        let _ = lists.insert(&vec![7; len]).unwrap();
    }
    let list = lists.insert(&[1; 50]).unwrap();
    lists.remove(list).unwrap();
    lists.reset();
    let [Fault::Leaked(leak)] = faults()[..] else { panic!() };
    assert_eq!((leak.count, leak.size_bytes, leak.sizes()), (3, 2 * 307, &[][..]));
    assert_eq!(leak.to_string(), "SizeLists: 3 blocks of 614 bytes in total are still live");
    drop(lists);
    assert_eq!(faults(), []);
}

#[test]
fn small_objects_report_their_leaks_and_those_of_the_fallback() {
    faults();
    let word = layout(20, 8);
    let mut objects = small_objects().with_fallback(&Heap);
    // SAFETY: nothing uses the object.
    let free = |object| unsafe { objects.free(object, word) }.unwrap();
    leak_two(|| objects.allocate(word).unwrap(), free);
    objects.reset();
    assert_two("SmallObjects", 32);
    let large = [(); 2].map(|()| objects.allocate(layout(2000, 8)).unwrap());
    objects.allocate(word).unwrap();
    // SAFETY: nothing uses the block.
    unsafe { objects.free(large[0], layout(2000, 8)) }.unwrap();
    drop(objects);
    let mut sizes = vec![];
    for fault in faults() {
        let Fault::Leaked(leak) = fault else { panic!("{fault}") };
        sizes.push((leak.allocator, leak.sizes().to_vec()));
    }
    assert_eq!(sizes, [("SmallObjects", vec![32]), ("fallback of SmallObjects", vec![2000])]);
    // SAFETY: the block is leaked, and nothing uses it.
    unsafe { MemorySource::free(&Heap, large[1], layout(2000, 8)) };
}

#[test]
fn new_memory_is_filled_in_all_allocators() {
    let is_new = |block: NonNull<u8>| {
        // SAFETY: the block has 24 bytes, which were filled.
        unsafe { core::slice::from_raw_parts(block.as_ptr(), 24) }.iter().all(|byte| *byte == 0xCD)
    };
    let word = layout(24, 8);
    let stack = DoubleStack::new(region());
    let (pool, objects) = (BlockPool::new(word, region()), small_objects());
    let linear = Linear::new(region());
    for _ in 0..2 {
        let [low, high] = [stack.low(), stack.high()].map(|end| end.allocate(word).unwrap());
        let (block, object) = (pool.allocate().unwrap(), objects.allocate(word).unwrap());
        assert!(is_new(low) && is_new(high) && is_new(block) && is_new(object));
        assert!(is_new(linear.allocate(word).unwrap()));
        // SAFETY: nothing uses the blocks.
        unsafe {
            stack.low().free(low).unwrap();
            stack.high().free(high).unwrap();
            pool.free(block).unwrap();
            objects.free(object, word).unwrap();
        }
    }
    static SMALL: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
    SMALL.enable(&SmallObjectsConfig::default()).unwrap();
    for _ in 0..100 {
        // SAFETY: the size is not zero, and the object is freed with its layout.
        unsafe {
            let object = NonNull::new(SMALL.alloc(word)).unwrap();
            assert!(SMALL.owns(object.as_ptr()) && is_new(object));
            SMALL.dealloc(object.as_ptr(), word);
        }
    }
    struct Content;
    impl Test for Content {
        fn run(
            &self,
            allocate: &dyn Fn(Layout) -> Option<NonNull<u8>>,
            free: &dyn Fn(NonNull<u8>, Layout),
            _: &dyn Fn() -> Result<(), Fault>,
        ) {
            let block = allocate(layout(24, 8)).unwrap();
            // SAFETY: the block has 24 bytes, which were filled.
            let bytes = unsafe { core::slice::from_raw_parts(block.as_ptr(), 24) };
            assert!(bytes.iter().all(|byte| *byte == 0xCD));
            free(block, layout(24, 8));
        }
    }
    run_all(&Content);
}

#[test]
fn correct_programs_cause_no_faults() {
    struct Program;
    impl Test for Program {
        fn run(
            &self,
            allocate: &dyn Fn(Layout) -> Option<NonNull<u8>>,
            free: &dyn Fn(NonNull<u8>, Layout),
            validate: &dyn Fn() -> Result<(), Fault>,
        ) {
            let (mut random, mut live) = (Random::new(3), Vec::new());
            for _ in 0..500 {
                // At least half a block, which a `SharedPool` serves.
                let layout = layout(50 + random.below(MAX_BYTES - 49), 1 << random.below(4));
                if let Some(block) = allocate(layout) {
                    // SAFETY: the block has this size.
                    unsafe { block.write_bytes(9, layout.size()) };
                    live.push((block, layout));
                }
                if random.below(3) > 0 {
                    let (block, layout) = live.swap_remove(random.below(live.len()));
                    free(block, layout);
                }
                assert_eq!(validate(), Ok(()));
            }
            live.drain(..).for_each(|(block, layout)| free(block, layout));
        }
    }
    run_all(&Program);
    assert_eq!(faults(), []);
}

#[test]
fn a_guarded_source_finds_leaks_of_slabs() {
    let source = Guarded::new(Heap, &Heap);
    let pool = Pool::<[u64; 4], 4096>::in_slabs(&source);
    pool.insert([7; 4]).unwrap().leak();
    let mut lists = SizeLists::<u16>::new(&source);
    let list = lists.insert(&[1; 50]).unwrap();
    assert_eq!((source.validate(), source.live.with(|live| live.len())), (Ok(()), 2));
    lists.remove(list).unwrap();
    drop((pool, lists));
    assert_eq!((source.validate(), source.live.with(|live| live.len())), (Ok(()), 0));
}

#[test]
fn without_memory_for_its_record_a_block_is_not_allocated() {
    struct Empty;
    // SAFETY: it allocates nothing.
    unsafe impl MemorySource for Empty {
        fn allocate(&self, _: Layout) -> Option<NonNull<u8>> {
            None
        }
        unsafe fn free(&self, _: NonNull<u8>, _: Layout) {}
    }
    let stack = Stack::new(region());
    let guarded = Guarded::new(&stack, &Empty);
    assert!(Allocator::allocate(&guarded, layout(8, 8)).is_err() && stack.is_empty());
}
