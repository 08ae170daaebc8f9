#![cfg(feature = "std")]

use core::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::vec;
use std::{boxed::Box, vec::Vec};

use super::*;

type Log = RefCell<Vec<u32>>;

/// A value that records its number when it is dropped. Number 0 panics then.
struct Logged<'l>(u32, &'l Log);

impl Drop for Logged<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0);
        if self.0 == 0 {
            resume_unwind(Box::new(()));
        }
    }
}

fn drop_linear<'m>() -> DropLinear<'m> {
    DropLinear::new(Region::heap(1000).unwrap())
}

#[test]
fn a_reset_drops_the_values_once_in_reverse() {
    let log = Log::default();
    let mut linear = drop_linear();
    for round in 1..3 {
        linear.alloc(Logged(1, &log)).unwrap().0 += round;
        linear.alloc(7u8).unwrap();
        linear.alloc_slice_with(2, |index| Logged(10 + index as u32, &log)).unwrap();
        linear.reset();
        assert_eq!((log.take(), linear.used()), (vec![10, 11, 1 + round], 0));
    }
    linear.reset();
    assert_eq!((log.take(), linear.high_water()), (vec![], 24 + 16 + 8 + 16 + 2 * 16));
}

#[test]
fn dropping_the_allocator_drops_the_values() {
    let log = Log::default();
    let linear = drop_linear();
    linear.alloc_with(|| Logged(1, &log)).unwrap();
    linear.alloc(Logged(2, &log)).unwrap();
    drop(linear);
    assert_eq!(log.take(), [2, 1]);
}

#[test]
fn a_value_that_does_not_fit_is_dropped_at_once() {
    let log = Log::default();
    let linear = drop_linear();
    assert!(matches!(linear.alloc((Logged(1, &log), [0u8; 1000])), Err(Error::Full { .. })));
    assert_eq!(log.take(), [1]);
    assert!(linear.alloc_with(|| -> (Logged<'_>, [u8; 1000]) { unreachable!() }).is_err());
}

#[test]
fn after_a_panic_in_a_destructor_the_others_run_and_the_memory_is_free() {
    let log = Log::default();
    let mut linear = drop_linear();
    for number in [1, 0, 2] {
        linear.alloc(Logged(number, &log)).unwrap();
    }
    assert!(catch_unwind(AssertUnwindSafe(|| linear.reset())).is_err());
    assert_eq!((log.take(), linear.used()), (vec![2, 0, 1], 0));
    linear.alloc(Logged(3, &log)).unwrap();
    drop(linear);
    assert_eq!(log.take(), [3]);
}

#[test]
fn plain_data_has_no_overhead() {
    let linear = drop_linear();
    linear.alloc(1u64).unwrap();
    assert_eq!(linear.alloc_slice_with(4, |index| index as u16).unwrap(), &[0, 1, 2, 3]);
    assert_eq!((linear.used(), linear.remaining()), (16, linear.capacity() - 16));
}
