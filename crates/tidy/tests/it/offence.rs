//! What a check hands back: the places that break a rule, and what to do about each.

use std::fmt;

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offence {
    /// Path from the root of the repository, with `/` between its parts.
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) line: usize,
    /// What is wrong and what to do, in one line.
    pub(crate) advice: String,
}

impl Offence {
    pub(crate) fn new(path: &str, line: usize, advice: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, advice: advice.into() }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.advice)
    }
}

/// Fails with all offences at once, each on its own line.
///
/// # Panics
/// If there is an offence.
#[track_caller]
pub(crate) fn expect_none(offences: &[Offence]) {
    let list: String = offences.iter().map(|offence| format!("\n  {offence}")).collect();
    assert!(offences.is_empty(), "{} to put right:{list}\n", offences.len());
}

#[test]
fn an_offence_reads_like_a_compiler_message() {
    let offence = Offence::new("crates/a/src/lib.rs", 7, "too long; split it");
    assert_eq!(offence.to_string(), "crates/a/src/lib.rs:7: too long; split it");
}

#[test]
#[should_panic(expected = "2 to put right:\n  a.rs:1: x\n  b.rs:2: y\n")]
fn all_offences_are_reported_at_once() {
    expect_none(&[Offence::new("a.rs", 1, "x"), Offence::new("b.rs", 2, "y")]);
}

#[test]
fn no_offence_passes() {
    expect_none(&[]);
}
