#![cfg(feature = "std")]

use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use hashbrown::{DefaultHashBuilder, HashMap};

use super::*;
use crate::{DoubleStack, Region, ScopeStack};

fn region() -> Region<'static> {
    Region::heap(1 << 16).unwrap()
}

/// Two vectors that grow in turns, a map and boxes, in any allocator.
fn collections_work(allocator: impl Allocator + Copy) {
    let mut squares = Vec::new_in(allocator);
    let mut cubes = Vec::new_in(allocator);
    let mut roots = HashMap::with_hasher_in(DefaultHashBuilder::default(), allocator);
    for i in 0..100u64 {
        squares.push(i * i);
        cubes.push(i * i * i);
        roots.insert(i * i, Box::new_in(i, allocator));
    }
    for i in 0..100 {
        assert_eq!((squares[i], cubes[i]), ((i * i) as u64, (i * i * i) as u64));
        assert_eq!(roots.get(&squares[i]).map(|root| **root), Some(i as u64));
    }
    roots.retain(|square, _| square % 2 == 0);
    squares.truncate(10);
    squares.shrink_to_fit();
    cubes.clear();
    cubes.shrink_to_fit();
    assert_eq!((roots.len(), squares.iter().sum::<u64>(), cubes.capacity()), (50, 285, 0));
}

#[test]
fn collections_work_in_all() {
    let linear = Linear::new(region());
    collections_work(&linear);
    ScopeStack::new(region()).scope(|scope| collections_work(&*scope));
    let stack = Stack::new(region());
    collections_work(&stack);
    assert!(stack.is_empty());
    let double = DoubleStack::new(region());
    collections_work(double.low());
    collections_work(double.high());
    assert!(double.is_empty() && double.validate().is_ok());
}

#[test]
fn the_last_vector_grows_and_shrinks_in_place() {
    let (linear, stack) = (Linear::new(region()), Stack::new(region()));
    let mut in_linear = Vec::with_capacity_in(1, &linear);
    let mut in_stack = Vec::with_capacity_in(1, &stack);
    let addresses = (in_linear.as_ptr(), in_stack.as_ptr());
    in_linear.extend(0..1000u32);
    in_stack.extend(0..1000u32);
    assert_eq!((in_linear.as_ptr(), in_stack.as_ptr()), addresses);
    in_linear.truncate(10);
    in_linear.shrink_to_fit();
    assert_eq!((in_linear.as_ptr(), linear.used()), (addresses.0, 40));
    assert!(linear.high_water() >= 4000);
    drop((in_linear, in_stack));
    assert_eq!((linear.used(), stack.used()), (0, 0));
}

#[test]
fn a_full_allocator_leaves_the_vector_as_it_is() {
    let linear = Linear::new(Region::heap(64).unwrap());
    let mut numbers = Vec::new_in(&linear);
    numbers.extend_from_slice(&[1u64, 2, 3]);
    assert!(numbers.try_reserve(100).is_err() && numbers.try_reserve(usize::MAX).is_err());
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn other_layouts_keep_the_content() {
    let (linear, stack, double) =
        (Linear::new(region()), Stack::new(region()), DoubleStack::new(region()));
    other_layouts(&linear);
    other_layouts(&stack);
    other_layouts(double.low());
    other_layouts(double.high());
    assert!(stack.is_empty() && double.is_empty());
}

/// Grows and shrinks a block, as the last one and as one of several, with alignments that
/// its address may not have.
fn other_layouts(allocator: impl Allocator) {
    let layout = |size, align| Layout::from_size_align(size, align).unwrap();
    for is_last in [true, false] {
        let start = allocator.allocate(layout(3, 1)).unwrap().cast::<u8>();
        let above = (!is_last).then(|| allocator.allocate(layout(0, 1)).unwrap());
        // SAFETY: the block is used by its last address.
        unsafe {
            start.copy_from_nonoverlapping(NonNull::from(b"abc").cast(), 3);
            let larger =
                allocator.grow(start, layout(3, 1), layout(100, 256)).unwrap().cast::<u8>();
            assert_eq!((larger.addr().get() % 256, larger.cast::<[u8; 3]>().read()), (0, *b"abc"));
            let wider =
                allocator.shrink(larger, layout(100, 256), layout(50, 512)).unwrap().cast::<u8>();
            assert_eq!((wider.addr().get() % 512, wider.cast::<[u8; 3]>().read()), (0, *b"abc"));
            let none = allocator.shrink(wider, layout(50, 512), layout(0, 1)).unwrap().cast();
            let again = allocator.grow(none, layout(0, 1), layout(7, 1)).unwrap().cast();
            allocator.deallocate(again, layout(7, 1));
            if let Some(above) = above {
                allocator.deallocate(above.cast(), layout(0, 1));
            }
        }
    }
}
