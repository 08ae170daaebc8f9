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

/// Fails with all offences at once.
///
/// # Panics
/// If there is an offence.
#[track_caller]
pub(crate) fn expect_none(offences: &[Offence]) {
    assert!(offences.is_empty(), "{}", report(offences));
}

/// All offences, each on its own line.
fn report(offences: &[Offence]) -> String {
    let list: String = offences.iter().map(|offence| format!("  {offence}\n")).collect();
    format!("{} to put right:\n{list}", offences.len())
}

#[test]
fn all_offences_are_reported_at_once() {
    let offences = [
        Offence::new("crates/a/src/lib.rs", 7, "too long; split it"),
        Offence::new("b.rs", 2, "y"),
    ];
    let expected = "2 to put right:\n  crates/a/src/lib.rs:7: too long; split it\n  b.rs:2: y\n";
    assert_eq!(report(&offences), expected);
}

#[test]
fn an_offence_fails_and_none_passes() {
    expect_none(&[]);
    let offence = Offence::new("sample.rs", 1, "only a sample, to see it fail");
    assert!(std::panic::catch_unwind(|| expect_none(&[offence])).is_err());
}
