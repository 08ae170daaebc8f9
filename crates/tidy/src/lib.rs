//! The house rules that a machine can check, as plain tests: `cargo test -p drystone-tidy`.
//!
//! This crate has no code to call. Each rule is one file under `tests/it`. The file states
//! the reason for the rule, reports all offences at once, and has unit tests with good and
//! bad samples.
#![forbid(unsafe_code)]
