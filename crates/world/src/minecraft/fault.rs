use crate::WorldError;

/// What to do about a column that is damaged.
pub(super) const RESTORE: &str =
    "restore the file from a backup, or let the game make the column anew";
/// What to do about data that the game would not write.
pub(super) const UNKNOWN: &str = "open the world with the game once and save it";

/// What is wrong with one column, before the file's name is known.
#[derive(Debug)]
pub(super) struct Fault {
    problem: String,
    advice: &'static str,
}

impl Fault {
    /// Something is cut off or damaged.
    pub(super) fn damaged(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), advice: RESTORE }
    }

    /// Something that only another program would write.
    pub(super) fn unknown(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), advice: UNKNOWN }
    }

    pub(super) fn within(mut self, part: &str) -> Self {
        self.problem = format!("{part}: {}", self.problem);
        self
    }

    pub(super) fn in_column(self, file: &str, [x, z]: [i32; 2]) -> WorldError {
        let Self { problem, advice } = self;
        WorldError::BadMinecraft {
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
