use std::path::PathBuf;

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
        /// The contender.
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
    /// A JSON file does not exist, or contains no table.
    #[error("{path}: {reason}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Reason of the failure.
        reason: String,
    },
    /// The JSON or the chart could not be written.
    #[error("{path}: {reason}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Reason of the failure.
        reason: String,
    },
}
