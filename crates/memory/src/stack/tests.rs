#![cfg(feature = "std")]

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use super::*;
use crate::double_stack::WORD_BYTES;

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// Frees a block that nothing uses.
fn free(stack: &Stack<'_>, block: NonNull<u8>) -> Result<(), Error> {
    // SAFETY: no block of these tests is used after it was freed.
    let result = unsafe { stack.free(block) };
    assert_eq!(stack.validate(), Ok(()));
    result
}

#[test]
fn frees_out_of_sequence_are_refused() {
    let (stack, other) = [(); 2].map(|()| Stack::new(Region::heap(1024).unwrap())).into();
    let blocks: Vec<_> = (0..4).map(|i| stack.allocate(layout(10 * i, 1)).unwrap()).collect();
    let foreign = other.allocate(layout(8, 8)).unwrap();
    assert_eq!(free(&stack, blocks[1]), Err(Error::OutOfOrder));
    assert_eq!(free(&stack, foreign), Err(Error::NotAllocated));
    assert_eq!(free(&stack, NonNull::dangling()), Err(Error::NotAllocated));
    // SAFETY: the byte is in the block.
    assert_eq!(free(&stack, unsafe { blocks[3].add(1) }), Err(Error::NotAllocated));
    for &block in blocks.iter().rev() {
        assert_eq!(free(&stack, block), Ok(()));
        assert_eq!(free(&stack, block), Err(Error::NotAllocated));
    }
    assert!(stack.is_empty() && stack.used() == 0 && !other.is_empty());
    let start = stack.ends.region.start();
    // SAFETY: it is in the region.
    for no_block in [start, unsafe { start.add(WORD_BYTES) }, NonNull::dangling()] {
        assert_eq!(free(&stack, no_block), Err(Error::NotAllocated));
    }
}

#[test]
fn freeing_an_aligned_block_frees_its_padding() {
    let stack = Stack::new(Region::heap(3 * 4096).unwrap());
    let below = stack.allocate(layout(1, 1)).unwrap();
    let used = stack.used();
    for align in [16, 64, 4096] {
        let block = stack.allocate(layout(5, align)).unwrap();
        assert_eq!(block.addr().get() % align, 0);
        let above = stack.allocate(layout(0, 32)).unwrap();
        assert_eq!(free(&stack, block), Err(Error::OutOfOrder));
        assert_eq!((free(&stack, above), free(&stack, block)), (Ok(()), Ok(())));
        assert_eq!(stack.used(), used);
    }
    assert_eq!((free(&stack, below), stack.used()), (Ok(()), 0));
}

#[test]
fn the_top_grows_and_shrinks_in_place() {
    let stack = Stack::new(Region::heap(4096).unwrap());
    let below = stack.allocate(layout(8, 8)).unwrap();
    let block = stack.allocate(layout(8, 8)).unwrap();
    // SAFETY: sizes are as last resized, and the block is used by its new address.
    unsafe {
        block.cast::<u64>().write(7);
        assert_eq!(stack.resize(below, layout(9, 8)), Err(Error::OutOfOrder));
        assert_eq!(stack.resize(block, layout(4000, 8)), Ok(block));
        block.add(3999).write(1);
        assert!(matches!(stack.resize(block, layout(4090, 8)), Err(Error::Full { .. })));
        assert_eq!(stack.resize(block, layout(8, 8)), Ok(block));
        let moved = stack.resize(block, layout(16, 1024)).unwrap();
        assert_eq!((moved.cast::<u64>().read(), moved.addr().get() % 1024), (7, 0));
        let back = stack.resize(moved, layout(16, 8)).unwrap();
        assert_eq!((back.cast::<u64>().read(), back), (7, block));
        assert_eq!(stack.resize(moved, layout(8, 8)), Err(Error::NotAllocated));
    }
    assert_eq!((free(&stack, block), free(&stack, below)), (Ok(()), Ok(())));
}

#[test]
fn regions_of_odd_sizes_and_addresses_work() {
    let mut bytes = [MaybeUninit::uninit(); 64];
    for start in 0..9 {
        for size in 0..40 {
            let stack = Stack::new(Region::new(&mut bytes[start..start + size]));
            assert!(stack.capacity() <= size && stack.capacity() + 3 * WORD_BYTES > size);
            let max_size = stack.capacity().saturating_sub(WORD_BYTES);
            let block = stack.allocate(layout(max_size, 1));
            assert_eq!(block.is_ok(), stack.capacity() >= WORD_BYTES);
            assert!(stack.allocate(layout(0, 1)).is_err() && stack.validate().is_ok());
        }
    }
    let stack = Stack::new(Region::heap(72).unwrap());
    for too_large in [layout(isize::MAX as usize, 1), layout(1, 1 << (usize::BITS - 2))] {
        let requested = too_large.size() as u64;
        let full = Error::Full { requested, largest_free: 56, total_free: 64 };
        assert_eq!(stack.allocate(too_large), Err(full));
    }
}

#[test]
fn a_reset_frees_all_blocks() {
    let mut stack = Stack::new(Region::heap(64).unwrap());
    let block = stack.allocate(layout(40, 16)).unwrap();
    stack.reset();
    assert!(stack.is_empty() && stack.used() == 0);
    assert_eq!(free(&stack, block), Err(Error::NotAllocated));
}
