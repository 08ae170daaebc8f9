use crate::error::SourceError;

/// Advice for a damaged column.
pub(super) const RESTORE: &str =
    "restore the file from a backup, or let the game generate the column again";
/// Advice for data that the game does not write.
pub(super) const UNKNOWN: &str = "open the world with the game once and save it";

/// A problem with a column, without the file's name.
#[derive(Debug)]
pub(super) struct Fault {
    problem: String,
    advice: &'static str,
}

impl Fault {
    /// Data that is cut off or damaged.
    pub(super) fn damaged(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), advice: RESTORE }
    }

    /// Data that only other programs write.
    pub(super) fn unknown(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), advice: UNKNOWN }
    }

    pub(super) fn within(mut self, part: &str) -> Self {
        self.problem = format!("{part}: {}", self.problem);
        self
    }

    pub(super) fn in_column(self, file: &str, [x, z]: [i32; 2]) -> SourceError {
        let Self { problem, advice } = self;
        SourceError::BadMinecraft {
            file: file.into(),
            location: format!("column {x}, {z}"),
            problem,
            advice,
        }
    }
}

impl From<std::io::Error> for Fault {
    fn from(problem: std::io::Error) -> Self {
        Self::damaged(format!("cannot be read: {problem}"))
    }
}
