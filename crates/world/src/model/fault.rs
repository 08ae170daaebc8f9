use std::fmt;

use crate::WorldError;

/// What to do about a file whose content is wrong.
pub(super) const EXPORT_AGAIN: &str =
    "the file is damaged or not written to the format's rules: export it again";
/// What to do about a file that asks for too much.
pub(super) const SPLIT: &str = "split the model into several files, or raise the limit";

/// What is wrong with a file, before its name is known.
#[derive(Debug)]
pub(super) enum Fault {
    Bad { place: String, problem: String, advice: &'static str },
    TooLarge { found: u64, limit: u64, unit: &'static str },
    Other(WorldError),
}

impl Fault {
    pub(super) fn new(place: impl fmt::Display, problem: impl Into<String>) -> Self {
        Self::with_advice(place, problem, EXPORT_AGAIN)
    }

    pub(super) fn with_advice(
        place: impl fmt::Display,
        problem: impl Into<String>,
        advice: &'static str,
    ) -> Self {
        Self::Bad { place: place.to_string(), problem: problem.into(), advice }
    }

    pub(super) fn in_file(self, file: &str) -> WorldError {
        match self {
            Self::Bad { place, problem, advice } => {
                WorldError::BadModel { file: file.into(), location: place, problem, advice }
            }
            Self::TooLarge { found, limit, unit } => {
                WorldError::TooLarge { what: file.into(), found, limit, unit, advice: SPLIT }
            }
            Self::Other(error) => error,
        }
    }
}

/// Words of a file in a message: what is no plain ASCII written out, and not too many.
pub(super) fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    match bytes.get(..SHOWN) {
        Some(start) if bytes.len() > SHOWN => format!("\"{}…\"", start.escape_ascii()),
        _ => format!("\"{}\"", bytes.escape_ascii()),
    }
}

/// A name out of a file, cut to 255 bytes.
pub(super) fn name_of(bytes: &[u8]) -> String {
    const LONGEST: usize = 255;
    let bytes = bytes.get(..LONGEST).unwrap_or(bytes);
    let mut name = String::from_utf8_lossy(bytes).into_owned();
    // What a cut through the middle of a character leaves takes more bytes than it had.
    while name.len() > LONGEST {
        name.pop();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_file_are_shown_in_short() {
        assert_eq!(quoted(b"1\n\x80"), r#""1\n\x80""#);
        assert_eq!(quoted(&[b'7'; 41]), format!("\"{}…\"", "7".repeat(40)));
        assert_eq!(name_of("é".repeat(200).as_bytes()).len(), 254);
        assert_eq!(name_of(&[0xff; 300]).len(), 255);
    }
}
