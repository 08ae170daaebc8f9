//! Programs that must not compile, because they would use freed memory.

#[test]
fn lifetimes_are_held_by_the_compiler() {
    trybuild::TestCases::new().compile_fail("tests/it/compile_fail/*.rs");
}
