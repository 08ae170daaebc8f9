//! Runs programs of operations and compares the result with a simple reference model.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod memory;
mod programs;

use proptest::{collection::vec, prelude::*, test_runner::Config};

/// Number of programs of each type in one test run.
const PROGRAMS: u32 = 10_000;
/// Environment variable for another number: slow checkers use a smaller one.
const PROGRAMS_VARIABLE: &str = "DRYSTONE_PROGRAMS";
/// Size of a program in bytes: about 100 operations.
const PROGRAM_BYTES: usize = 300;

fn programs() -> u32 {
    std::env::var(PROGRAMS_VARIABLE).map_or(PROGRAMS, |count| count.parse().unwrap())
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(programs()) })]

    #[test]
    fn address_space_behaves_like_a_set(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::address_space::run(&program);
    }

    #[test]
    fn range_space_behaves_like_a_list(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::range_space::run(&program);
    }

    #[test]
    fn slots_behave_like_a_list(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::slots::run(&program);
    }

    #[test]
    fn bucket_ring_behaves_like_a_queue(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::bucket_ring::run(&program);
    }

    #[test]
    fn size_classes_behave_like_a_list(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::size_classes::run(&program);
    }
}
