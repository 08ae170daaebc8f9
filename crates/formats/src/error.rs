use std::path::PathBuf;

use thiserror::Error;

use crate::format::{Format, SupportedFormats};

/// Reason why a source cannot be opened, read or written. Each message is one line: what happened,
/// where, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The file cannot be read at all.
    #[error("{}: cannot be read: {problem}; check the name and the permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error that the operating system reports.
        problem: std::io::Error,
    },
    /// The file at an address cannot be received.
    #[error("{}: cannot be received: {problem}", path.display())]
    NotReceived {
        /// The address.
        path: PathBuf,
        /// Description of what happened and what to do.
        problem: String,
    },
    /// A file cannot be copied to an address.
    #[error("{}: cannot be uploaded: {problem}", path.display())]
    NotSent {
        /// The address.
        path: PathBuf,
        /// Description of what happened and what to do.
        problem: String,
    },
    /// The file cannot be created or written.
    #[error(
        "{}: cannot be written: {problem}; check the folder and the permissions, or name another \
         file",
        path.display()
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error that the operating system reports.
        problem: std::io::Error,
    },
    /// The file or folder is of no supported format.
    #[error("{}: {found}; supported: {}", path.display(), SupportedFormats)]
    Unsupported {
        /// The file or folder.
        path: PathBuf,
        /// Description of what was found.
        found: String,
    },
    /// The file is a polygon model, but a voxel source is required.
    #[error("{}: a polygon model, which has no voxels; open it with Model::open", path.display())]
    IsModel {
        /// The file.
        path: PathBuf,
    },
    /// A file violates its format, or its content exceeds a limit of the format.
    #[error("{file}: {location}: {problem}; {advice}")]
    Malformed {
        /// The file's format.
        format: Format,
        /// The file's name.
        file: String,
        /// The chunk, line, node or option, with its byte offset if known.
        location: String,
        /// Description of the problem.
        problem: String,
        /// Advice for the user.
        advice: &'static str,
    },
    /// A stored world is damaged. `StoredWorld::repair` of `drystone-store` recovers what
    /// is intact.
    #[error(
        "{}: {location}: {problem}; check and repair the file, or restore a copy",
        path.display()
    )]
    BadStored {
        /// The file.
        path: PathBuf,
        /// The chunk, or the part of the file.
        location: String,
        /// Description of the problem.
        problem: String,
    },
    /// A packed world is damaged or incomplete.
    #[error(
        "{}: {location}: {problem}; copy or download the file again, or pack the world again",
        path.display()
    )]
    BadPacked {
        /// The file, or its address.
        path: PathBuf,
        /// The chunk, or the part of the file.
        location: String,
        /// Description of the problem.
        problem: String,
    },
    /// The stored world is already open for writing, in another process or in this one.
    #[error(
        "{}: another program has this world open for writing; close it there, or copy the file",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The stored world has a newer format version than this program supports.
    #[error(
        "{}: the world has format version {found}, this program supports up to {known}; \
         use a newer drystone",
        path.display()
    )]
    NewerStored {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// Newest supported version.
        known: u32,
    },
    /// The stored world is in a database format that is no longer supported.
    #[error(
        "{}: the database has format {found}, which is too old for this program; \
         use the drystone version that wrote it",
        path.display()
    )]
    OldDatabase {
        /// The file.
        path: PathBuf,
        /// Format of the database.
        found: u8,
    },
    /// The stored world was changed by another program while it was closed here.
    #[error("{}: another program has changed this world meanwhile; open it again", path.display())]
    ChangedElsewhere {
        /// The file.
        path: PathBuf,
    },
    /// No part of the stored world can be read or recovered.
    #[error("{}: {problem}; the world cannot be repaired: restore a copy", path.display())]
    Unrepairable {
        /// The file.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// The stored world is open for reading only.
    #[error("{}: open for reading only; open it for writing", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Edits could not be written. They stay in memory.
    #[error("{}: not saved: {problem}; free space and save again", path.display())]
    NotCommitted {
        /// The file.
        path: PathBuf,
        /// Why the write failed.
        problem: String,
    },
    /// An interrupted import or packing cannot be resumed.
    #[error("{}: {problem}; choose another name, or remove this to begin again", path.display())]
    NotResumed {
        /// The file.
        path: PathBuf,
        /// Why the import cannot be resumed.
        problem: &'static str,
    },
    /// Parts of a packed world cannot be joined.
    #[error("{}: {problem}; {advice}", path.display())]
    NotMerged {
        /// The part, or the file that is written.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
        /// Advice for the user.
        advice: &'static str,
    },
    /// The file holds edits of another source.
    #[error(
        "{}: holds {found}, not edits of {source_name}; open it with its own source and the same \
         options, or name another file for new edits",
        path.display()
    )]
    OtherEdits {
        /// The file.
        path: PathBuf,
        /// Description of what the file holds.
        found: String,
        /// Name of the source that is being edited.
        source_name: String,
    },
    /// The material table does not begin with the materials of the stored world.
    #[error("{}: other materials than the world's; use its table and append to it", path.display())]
    OtherMaterials {
        /// The file.
        path: PathBuf,
    },
    /// The input exceeds a limit. Checked before memory is allocated for it.
    #[error("{what}: {found} {unit}, at most {limit} are taken; {advice}")]
    TooLarge {
        /// Name of the file, or of the part that is too large.
        what: String,
        /// Size that was found.
        found: u64,
        /// Largest size that is supported.
        limit: u64,
        /// Unit of both sizes.
        unit: &'static str,
        /// Advice for the user.
        advice: &'static str,
    },
    /// There is no voxel or face to export.
    #[error("{}: nothing to export; choose a part of the source that has voxels", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The caller stopped the operation.
    #[error("{}: stopped before it was complete", path.display())]
    Stopped {
        /// The file.
        path: PathBuf,
    },
    /// The system could not start the worker threads.
    #[error("{count} threads could not be started: {problem}; use fewer threads")]
    NoThreads {
        /// Number of requested threads.
        count: usize,
        /// The error that the operating system reports.
        problem: String,
    },
    /// The chunk's side length differs from the world's.
    #[error(
        "chunk with a side of {found} voxels in a world of chunks of {expected}; \
         use one side for all chunks"
    )]
    ChunkSide {
        /// Side of the chunk, in voxels.
        found: u32,
        /// Side of the world's chunks, in voxels.
        expected: u32,
    },
}
