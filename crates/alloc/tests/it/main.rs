//! Programs of operations against a shadow that is too simple to be wrong.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod no_std;
mod programs;

use proptest::{collection::vec, prelude::*, test_runner::Config};

/// Programs of each type in one run of the tests.
const PROGRAMS: u32 = 10_000;
/// Bytes of a program: some 100 operations.
const PROGRAM_BYTES: usize = 300;

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(PROGRAMS) })]

    #[test]
    fn address_space_does_what_a_set_does(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::address_space::run(&program);
    }

    #[test]
    fn range_space_does_what_a_list_does(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::range_space::run(&program);
    }

    #[test]
    fn slots_do_what_a_list_does(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::slots::run(&program);
    }

    #[test]
    fn bucket_ring_does_what_a_queue_does(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::bucket_ring::run(&program);
    }

    #[test]
    fn size_classes_do_what_a_list_does(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::size_classes::run(&program);
    }
}
