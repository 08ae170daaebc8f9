//! Result of a check: the lines that break a rule, and how to fix each.

use std::fmt;

/// A line that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offence {
    /// Path from the root of the repository, with `/` between its parts.
    pub(crate) path: String,
    /// Line number, counted from 1.
    pub(crate) line: usize,
    /// Description of the fault and how to fix it, in one line.
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

/// Lists all offences, each on its own line.
fn report(offences: &[Offence]) -> String {
    let list: String = offences.iter().map(|offence| format!("  {offence}\n")).collect();
    format!("{} offences:\n{list}", offences.len())
}

#[test]
fn all_offences_are_reported_at_once() {
    let offences = [
        Offence::new("crates/a/src/lib.rs", 7, "too long; split it"),
        Offence::new("b.rs", 2, "y"),
    ];
    let expected = "2 offences:\n  crates/a/src/lib.rs:7: too long; split it\n  b.rs:2: y\n";
    assert_eq!(report(&offences), expected);
}

#[test]
fn an_offence_fails_and_an_empty_list_passes() {
    expect_none(&[]);
    let offence = Offence::new("sample.rs", 1, "a sample");
    assert!(std::panic::catch_unwind(|| expect_none(&[offence])).is_err());
}
