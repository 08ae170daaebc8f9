use std::fmt;

use crate::error::SourceError;

/// Advice for a file with invalid content.
pub(super) const EXPORT_AGAIN: &str = "the file is damaged or violates its format: export it again";
/// Advice for a file that exceeds a limit.
pub(super) const SPLIT: &str = "split the model into several files, or raise the limit";

/// A problem with a file, without the file's name.
#[derive(Debug)]
pub(super) enum Fault {
    Bad { location: String, problem: String, advice: &'static str },
    TooLarge { found: u64, limit: u64, unit: &'static str },
    Other(SourceError),
}

impl Fault {
    pub(super) fn new(location: impl fmt::Display, problem: impl Into<String>) -> Self {
        Self::with_advice(location, problem, EXPORT_AGAIN)
    }

    pub(super) fn with_advice(
        location: impl fmt::Display,
        problem: impl Into<String>,
        advice: &'static str,
    ) -> Self {
        Self::Bad { location: location.to_string(), problem: problem.into(), advice }
    }

    pub(super) fn in_file(self, file: &str) -> SourceError {
        match self {
            Self::Bad { location, problem, advice } => {
                SourceError::BadModel { file: file.into(), location, problem, advice }
            }
            Self::TooLarge { found, limit, unit } => {
                SourceError::TooLarge { what: file.into(), found, limit, unit, advice: SPLIT }
            }
            Self::Other(error) => error,
        }
    }
}

/// Text from a file for a message: escaped, and cut to 40 bytes.
pub(super) fn quoted(bytes: &[u8]) -> String {
    const MAX_BYTES: usize = 40;
    match bytes.get(..MAX_BYTES) {
        Some(start) if bytes.len() > MAX_BYTES => format!("\"{}…\"", start.escape_ascii()),
        _ => format!("\"{}\"", bytes.escape_ascii()),
    }
}

/// A name from a file, cut to 255 bytes.
pub(super) fn name_of(bytes: &[u8]) -> String {
    const MAX_BYTES: usize = 255;
    let bytes = bytes.get(..MAX_BYTES).unwrap_or(bytes);
    let mut name = String::from_utf8_lossy(bytes).into_owned();
    // The replacement for a character that was cut can be longer than its remainder.
    while name.len() > MAX_BYTES {
        name.pop();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_files_is_escaped_and_cut() {
        assert_eq!(quoted(b"1\n\x80"), r#""1\n\x80""#);
        assert_eq!(quoted(&[b'7'; 41]), format!("\"{}…\"", "7".repeat(40)));
        assert_eq!(name_of("é".repeat(200).as_bytes()).len(), 254);
        assert_eq!(name_of(&[0xff; 300]).len(), 255);
    }
}
