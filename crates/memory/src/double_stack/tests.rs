#![cfg(feature = "std")]

use super::*;

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// Frees a block that nothing uses.
fn free(end: StackEnd<'_, '_>, block: NonNull<u8>) -> Result<(), Error> {
    // SAFETY: no block of these tests is used after it was freed.
    let result = unsafe { end.free(block) };
    assert_eq!(end.stack.validate(), Ok(()));
    result
}

#[test]
fn the_ends_meet() {
    let stack = DoubleStack::new(Region::heap(264).unwrap());
    let low = stack.low().allocate(layout(100, 1)).unwrap();
    let high = stack.high().allocate(layout(100, 1)).unwrap();
    assert_eq!((stack.used(), stack.remaining()), (224, 32));
    let full = Error::Full { requested: 25, largest_free: 24, total_free: 32 };
    assert_eq!(stack.low().allocate(layout(25, 1)), Err(full));
    assert_eq!(stack.high().allocate(layout(25, 1)), Err(full));
    let last = stack.high().allocate(layout(24, 1)).unwrap();
    assert!(stack.low().allocate(layout(0, 1)).is_err() && stack.remaining() == 0);
    assert_eq!(free(stack.low(), last), Err(Error::NotAllocated));
    assert_eq!(free(stack.high(), high), Err(Error::OutOfOrder));
    for (end, block) in [(stack.high(), last), (stack.low(), low), (stack.high(), high)] {
        assert_eq!((free(end, block), free(end, block)), (Ok(()), Err(Error::NotAllocated)));
    }
    assert!(stack.is_empty() && stack.used() == 0);
}

#[test]
fn freeing_an_aligned_block_of_the_high_end_frees_its_padding() {
    let stack = DoubleStack::new(Region::heap(3 * 4096).unwrap());
    let high = stack.high();
    let first = high.allocate(layout(3, 1)).unwrap();
    let used = stack.used();
    for align in [1, 16, 4096] {
        let block = high.allocate(layout(5, align)).unwrap();
        assert_eq!(block.addr().get() % align, 0);
        assert_eq!((free(high, block), stack.used()), (Ok(()), used));
    }
    for too_large in [layout(isize::MAX as usize, 1), layout(1, 1 << (usize::BITS - 2))] {
        assert!(matches!(high.allocate(too_large), Err(Error::Full { .. })));
    }
    assert_eq!((free(high, first), stack.used()), (Ok(()), 0));
}

#[test]
fn resizing_the_top_of_the_high_end_moves_its_content() {
    let mut stack = DoubleStack::new(Region::heap(256).unwrap());
    let high = stack.high();
    let block = high.allocate(layout(8, 8)).unwrap();
    // SAFETY: the block is used by the address and in the size that it last had.
    unsafe {
        block.cast::<u64>().write(7);
        let larger = high.resize(block, layout(200, 16)).unwrap();
        assert_eq!(larger.cast::<u64>().read(), 7);
        assert!(matches!(high.resize(larger, layout(256, 1)), Err(Error::Full { .. })));
        let smaller = high.resize(larger, layout(8, 8)).unwrap();
        assert_eq!((smaller, smaller.cast::<u64>().read()), (block, 7));
        assert_eq!(high.resize(larger, layout(8, 8)), Err(Error::NotAllocated));
    }
    stack.reset();
    assert!(stack.is_empty() && stack.validate().is_ok());
}

#[test]
fn a_region_of_0_bytes_is_full() {
    let stack = DoubleStack::new(Region::new(&mut []));
    for end in [stack.low(), stack.high()] {
        assert!(end.allocate(layout(0, 1)).is_err());
        assert_eq!(free(end, NonNull::dangling()), Err(Error::NotAllocated));
    }
    assert_eq!(stack.capacity(), 0);
}

#[test]
fn one_end_is_reset_alone_and_the_high_water_mark_stays() {
    let stack = DoubleStack::new(Region::heap(1008).unwrap());
    let kept = stack.low().allocate(layout(92, 1)).unwrap();
    // SAFETY: a block of this size.
    unsafe { kept.write_bytes(7, 92) };
    for count in 1..3 {
        stack.high().allocate(layout(92 * count, 1)).unwrap();
    }
    let highest = stack.used();
    // SAFETY: nothing uses the blocks of the high end.
    unsafe { stack.high().reset() };
    assert_eq!((stack.used(), stack.high_water()), (104, highest));
    // SAFETY: a block of this size, which was written.
    let bytes = unsafe { core::slice::from_raw_parts(kept.as_ptr(), 92) };
    assert!(bytes.iter().all(|byte| *byte == 7));
    stack.high().allocate(layout(880, 1)).unwrap();
    assert_eq!((stack.used(), stack.high_water()), (992, 992));
    // SAFETY: nothing uses the blocks of the low end.
    unsafe { stack.low().reset() };
    assert_eq!((stack.used(), stack.validate()), (888, Ok(())));
}

#[test]
fn a_mark_belongs_to_one_end_of_one_stack() {
    let [stack, other] = [(); 2].map(|()| DoubleStack::new(Region::heap(1024).unwrap()));
    let (low, high) = (stack.low().mark(), stack.high().mark());
    stack.low().allocate(layout(8, 8)).unwrap();
    stack.high().allocate(layout(8, 8)).unwrap();
    // SAFETY: nothing uses the blocks.
    unsafe {
        assert_eq!(stack.low().free_to(high), Err(Error::NotAllocated));
        assert_eq!(stack.high().free_to(low), Err(Error::NotAllocated));
        assert_eq!(other.low().free_to(low), Err(Error::NotAllocated));
        assert_eq!((stack.low().free_to(low), stack.high().free_to(high)), (Ok(()), Ok(())));
        assert_eq!(stack.low().free_to(low), Ok(()), "nothing is left to free");
    }
    assert!(stack.is_empty());
}

#[test]
fn a_mark_inside_of_a_newer_block_is_an_error() {
    let stack = DoubleStack::new(Region::heap(1024).unwrap());
    for end in [stack.low(), stack.high()] {
        let below = end.allocate(layout(16, 8)).unwrap();
        let mark = end.mark();
        end.allocate(layout(16, 8)).unwrap();
        // SAFETY: nothing uses the blocks.
        unsafe { end.free_to(mark) }.unwrap();
        free(end, below).unwrap();
        end.allocate(layout(100, 8)).unwrap();
        let used = stack.used();
        // SAFETY: nothing uses the blocks.
        assert_eq!(unsafe { end.free_to(mark) }, Err(Error::NotAllocated));
        assert_eq!((stack.used(), stack.validate()), (used, Ok(())));
    }
}
