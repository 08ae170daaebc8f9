//! The house rules that a machine can check, as plain tests: `cargo test -p drystone-tidy`.
//!
//! There is nothing to call here. Each rule is one file under `tests/it`, which says why
//! the rule is there, collects every offence before it complains, and is itself tested on
//! small good and bad samples.
#![forbid(unsafe_code)]
