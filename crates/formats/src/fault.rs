use std::fmt::Display;

use crate::error::SourceError;
use crate::format::Format;

/// Advice for a file that ends too early or is inconsistent.
pub(crate) const GET_AGAIN: &str = "the file is incomplete or damaged: copy or download it again";
/// Advice for a scene that exceeds a limit.
pub(crate) const SPLIT: &str = "split the scene into several files";

/// A problem that a decoder finds. The decoder's caller adds the file's name.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The file violates its format, or exceeds a limit at a location.
    Malformed { location: String, problem: String, advice: &'static str },
    /// The whole file exceeds a limit.
    TooLarge { found: u64, limit: u64, unit: &'static str, advice: &'static str },
    /// A problem with another file.
    Other(SourceError),
}

impl Fault {
    pub(crate) fn new(
        location: impl Display,
        problem: impl Into<String>,
        advice: &'static str,
    ) -> Self {
        Self::Malformed { location: location.to_string(), problem: problem.into(), advice }
    }

    /// A scene that exceeds a limit.
    pub(crate) fn too_much(what: &str, found: u64, limit: u64) -> Self {
        Self::new("scene", format!("{found} {what} or more, at most {limit} are taken"), SPLIT)
    }

    /// Prefixes the problem with the part of the data in which it is.
    pub(crate) fn within(mut self, part: &str) -> Self {
        if let Self::Malformed { problem, .. } = &mut self {
            *problem = format!("{part}: {problem}");
        }
        self
    }

    /// Replaces the location.
    pub(crate) fn at(mut self, new: impl Display) -> Self {
        if let Self::Malformed { location, .. } = &mut self {
            *location = new.to_string();
        }
        self
    }

    pub(crate) fn in_file(self, format: Format, file: &str) -> SourceError {
        let file = file.to_owned();
        match self {
            Self::Malformed { location, problem, advice } => {
                SourceError::Malformed { format, file, location, problem, advice }
            }
            Self::TooLarge { found, limit, unit, advice } => {
                SourceError::TooLarge { what: file, found, limit, unit, advice }
            }
            Self::Other(error) => error,
        }
    }
}
