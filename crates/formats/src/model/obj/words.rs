//! Parses the words of a statement as numbers.

use crate::fault::Fault;
use crate::model::fault::{malformed, quoted};

use super::lines::Statement;

/// Error of a statement.
pub(super) fn bad(line: u64, problem: impl Into<String>) -> Fault {
    malformed(format_args!("line {line}"), problem)
}

/// Parses a finite number.
pub(super) fn number(word: &[u8]) -> Result<f32, String> {
    let parsed = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f32>().ok());
    match parsed {
        None => Err(format!("{} is not a number", quoted(word))),
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(format!("{} is NaN, infinite or beyond f32", quoted(word))),
    }
}

/// Parses `min` to `N` numbers. Missing numbers are 0.
pub(super) fn numbers<const N: usize>(it: &Statement, min: usize) -> Result<[f32; N], Fault> {
    let mut numbers = [0.0; N];
    let mut count = 0;
    for (number_of, word) in numbers.iter_mut().zip(it.words()) {
        *number_of = number(word).map_err(|problem| bad(it.line, problem))?;
        count += 1;
    }
    if count < min {
        let problem = format!("{} has {count} numbers, but needs {min}", quoted(it.keyword()));
        return Err(bad(it.line, problem));
    }
    Ok(numbers)
}
