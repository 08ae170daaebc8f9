//! Runs programs of operations and compares the result with a simple reference model.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod compile_fail;
mod global;
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
    fn small_objects_behave_like_lists_of_slots(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::small_objects::run(&program);
    }

    #[test]
    fn global_small_objects_behave_like_a_heap(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::global_small_objects::run(&program);
    }

    #[test]
    fn block_pools_behave_like_a_list(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::block_pool::run(&program);
    }

    #[test]
    fn pools_behave_like_a_list_of_boxes(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::pool::run(&program);
    }

    #[test]
    fn size_lists_behave_like_vectors(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::size_lists::run(&program);
    }

    #[cfg(feature = "allocator-api2")]
    #[test]
    fn linear_behaves_like_a_sum_of_sizes(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::linear::run(&program);
    }

    #[cfg(feature = "allocator-api2")]
    #[test]
    fn stack_behaves_like_a_list(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::stack::run(&program);
    }

    #[cfg(feature = "allocator-api2")]
    #[test]
    fn double_stack_behaves_like_two_lists(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::double_stack::run(&program);
    }

    #[test]
    fn scope_stack_drops_values_like_the_reference_lists(program in vec(any::<u8>(), 0..PROGRAM_BYTES)) {
        programs::scope_stack::run(&program);
    }
}
