use std::path::PathBuf;

use thiserror::Error;

/// Why a source could not be opened or read. Each message is one line: what, where and
/// what to do.
#[derive(Debug, Error)]
pub enum WorldError {
    /// The file cannot be read at all.
    #[error("{}: cannot be read: {problem}; check the name and the permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: std::io::Error,
    },
    /// The file cannot be written, or not be made.
    #[error(
        "{}: cannot be written: {problem}; check the folder and the permissions, or name another \
         file",
        path.display()
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: std::io::Error,
    },
    /// What lies there is no source that drystone knows.
    #[error("{}: {found}; supported: {}", path.display(), crate::SUPPORTED_SOURCES)]
    Unsupported {
        /// The file or folder.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },
    /// A polygon model where voxels were wanted.
    #[error("{}: a polygon model, which has no voxels; open it with Model::open", path.display())]
    IsModel {
        /// The file.
        path: PathBuf,
    },
    /// A `.vox` file breaks the rules of its format.
    #[error("{file}: {place}: {problem}; {advice}")]
    BadVox {
        /// The file's name.
        file: String,
        /// The chunk and the byte where it begins, or the node of the scene.
        place: String,
        /// What is wrong there.
        problem: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// A column of a Minecraft world is damaged.
    #[error("{file}: {place}: {problem}; {advice}")]
    BadMinecraft {
        /// The region file's name.
        file: String,
        /// The column, counted from the world's origin.
        place: String,
        /// What is wrong there.
        problem: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// A polygon model breaks the rules of its format.
    #[error("{file}: {place}: {problem}; {advice}")]
    BadModel {
        /// The file's name.
        file: String,
        /// The line, or the part of the scene.
        place: String,
        /// What is wrong there.
        problem: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// A height map breaks the rules of its format, or becomes too large.
    #[error("{file}: {place}: {problem}; {advice}")]
    BadHeightMap {
        /// The file's name.
        file: String,
        /// The part of the file, or of what was asked for.
        place: String,
        /// What is wrong there.
        problem: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// A stored world is damaged somewhere.
    #[error("{}: {place}: {problem}; see drystone check --repair", path.display())]
    BadStored {
        /// The file.
        path: PathBuf,
        /// The chunk, or the part of the file.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// Another process, or this one, has the stored world open to change it.
    #[error(
        "{}: another has this world open and changes it; close it there, or copy the file",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A stored world of a version to come.
    #[error(
        "{}: a world of version {found}, this program knows {known}; use a newer drystone",
        path.display()
    )]
    NewerStored {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// A stored world in a database that is no longer read.
    #[error(
        "{}: a database of format {found}, older than this program reads; \
         use the drystone that wrote it",
        path.display()
    )]
    OldDatabase {
        /// The file.
        path: PathBuf,
        /// The format of its database.
        found: u8,
    },
    /// A stored world that was changed elsewhere while its file could not be used here.
    #[error("{}: another program has changed this world meanwhile; open it anew", path.display())]
    ChangedElsewhere {
        /// The file.
        path: PathBuf,
    },
    /// A stored world of which nothing can be read, nor saved.
    #[error("{}: {problem}; nothing of it can be saved: take a copy made before", path.display())]
    Unrepairable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A stored world that was opened to be read only.
    #[error("{}: is open for reading only; open it for writing", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Edits could not be written; they are kept in memory.
    #[error("{}: not saved: {problem}; make room and save again", path.display())]
    NotCommitted {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// A stored world that an import cannot go on with.
    #[error("{}: {problem}; give the world another name, or remove the file", path.display())]
    NotResumed {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: &'static str,
    },
    /// A file of edits of another source.
    #[error(
        "{}: holds {found}, not edits of {source_name}; open it with that very source and its \
         options, or name another file for new edits",
        path.display()
    )]
    OtherEdits {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What the edits were to be of.
        source_name: String,
    },
    /// Materials whose numbers mean others in the stored world.
    #[error("{}: other materials than the world's; take its own and add to them", path.display())]
    OtherMaterials {
        /// The file.
        path: PathBuf,
    },
    /// More than this version takes, found before any memory was spent on it.
    #[error("{what}: {found} {unit}, at most {limit} are taken; {advice}")]
    TooLarge {
        /// What is too large: a file's name or a part of one.
        what: String,
        /// How much it is.
        found: u64,
        /// How much it may be.
        limit: u64,
        /// What is counted.
        unit: &'static str,
        /// What to do about it.
        advice: &'static str,
    },
    /// The system gives no threads to make meshes with.
    #[error("{count} threads could not be started: {problem}; ask for fewer")]
    NoThreads {
        /// How many were wanted.
        count: usize,
        /// What the system said.
        problem: String,
    },
    /// A chunk of another side than the world's.
    #[error(
        "chunk of side {found} in a world of chunks of side {expected}: give all chunks one side"
    )]
    ChunkSide {
        /// The chunk's side in voxels.
        found: u32,
        /// The world's side in voxels.
        expected: u32,
    },
}
