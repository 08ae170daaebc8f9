//! Programs that must not compile, because they would use freed memory.

#[test]
fn misuse_of_lifetimes_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/it/compile_fail/*.rs");
}
