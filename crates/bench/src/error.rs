use std::path::PathBuf;

/// Why a table could not be made or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No table has this name.
    #[error("unknown table `{name}`: there are {known}")]
    UnknownTable {
        /// What was asked for.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// A contender's answer was wrong, or it could not run.
    #[error("{table}, case {case}, contender {contender}: {message}")]
    Contender {
        /// The table.
        table: String,
        /// The case.
        case: String,
        /// The contender.
        contender: String,
        /// What went wrong.
        message: String,
    },
    /// No case of the table has the name asked for.
    #[error("table {table} has no case that contains `{case}`")]
    NoCase {
        /// The table.
        table: String,
        /// What was asked for.
        case: String,
    },
    /// A JSON file is not there, or holds no table.
    #[error("{path}: {reason}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The JSON or the chart could not be written.
    #[error("{path}: {reason}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What it is instead of a file, or the system's reason.
        reason: String,
    },
}
