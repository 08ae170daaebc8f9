//! Runs the examples, which check their results.

#[path = "../../examples/spans.rs"]
mod spans;

#[test]
fn sprites_and_spans_equal_a_painted_picture() {
    spans::main().unwrap();
}
