use std::{fmt::Display, path::PathBuf};

/// Error of measuring or writing a table.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No table has this name.
    #[error("unknown table `{name}`; available tables: {known}")]
    UnknownTable {
        /// The requested name.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// A contender's result was wrong, or it could not run.
    #[error("{table}, case {case}, contender {contender}: {message}")]
    Contender {
        /// The table.
        table: String,
        /// The case.
        case: String,
        /// The contender, or `set-up` if the case could not be prepared.
        contender: String,
        /// Description of the error.
        message: String,
    },
    /// No case of the table has the requested name.
    #[error("table {table} has no case that contains `{case}`")]
    NoCase {
        /// The table.
        table: String,
        /// The requested part of a name.
        case: String,
    },
    /// A file could not be read or written, or contains no table.
    #[error("{path}: {reason}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Reason of the failure.
        reason: String,
    },
}

/// Reason why a contender or the preparation of a case failed. The operator `?` makes it from any
/// error, and from text.
#[derive(Debug)]
pub struct Failure {
    pub(crate) contender: String,
    pub(crate) message: String,
}

// `Failure` does not implement `Display`, so this does not overlap with its conversion to itself.
impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { contender: "set-up".to_owned(), message: error.to_string() }
    }
}

/// Adds the name of a contender to a failure.
pub(crate) trait By<T> {
    /// Names the contender that failed.
    fn by(self, contender: &str) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> By<T> for Result<T, E> {
    fn by(self, contender: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure { contender: contender.to_owned(), ..error.into() })
    }
}
