use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};

use drystone_voxel::{Chunk, ChunkPos, MaterialTable};

use drystone_formats::{Format, MemoryFile, SourceError};

mod batch;
mod check;
mod committer;
mod database;
mod fuzzed;
mod group;
mod id;
mod index;
mod later;
mod levels;
mod memory;
mod meta;
mod nodes;
mod open;
mod pages;
mod progress;
mod publish;
mod read;
mod record;
mod salvage;
mod summary;
mod survey;
#[cfg(test)]
pub(crate) mod tests;
mod zstd;

use batch::{Batch, Committed};
pub use check::WorldCheck;
pub use committer::CommitPolicy;
use committer::{CommitMode, Committer};
pub(crate) use database::DATABASE;
use database::{Access, CACHE_BYTES, Store};
pub use later::StoredLater;
pub(crate) use meta::is_same_kind;
use open::{Meta, read_index, read_meta, write_new};
pub use summary::StoredSummary;

/// A voxel world in one file. Committed chunks survive a kill at any moment, and a power failure if
/// the disk honours sync requests.
///
/// ```text
///  put ─► pending ──time or size limit──► compressed ─► one transaction ─► file
///            │                                          (values, index, head)
///  chunk ◄───┴── else from the file: index ─► value ─► checksum ─► decompressed
/// ```
/// The file is a `redb` database of six tables:
///
/// | table | key | value |
/// |---|---|---|
/// | `chunks` | a group of 2 × 2 × 2 chunks: X, Z, Y as big-endian words, highest bit inverted | `1`, a bit for each chunk that is present, the length (4 bytes) and checksum (8) of each present chunk's record, then the records |
/// | `chunk pages` | a group's key, and a number (2 bytes, big-endian) | the next 4,074 bytes of the group's value |
/// | `levels`, `level pages` | same as `chunks` and `chunk pages`, for LOD nodes: X holds the node's level above bit 26 | same, for the node's stored position |
/// | `index` | a region of 16³ chunks: X, Y, Z | a bit for each chunk that is present (512 bytes), checksum (8) |
/// | `meta` | `world` | version (4), revision, chunks, regions (8 each), name, checksum (8) |
/// | | `materials` | for each material except air: red, green, blue, opacity, length of the name (2), name; checksum (8) |
/// | | `id` | 16 bytes that identify the world under any file name, checksum (8); optional |
/// | | `writer` | random number of the last writer |
/// | | `import` | progress of an unfinished import, checksum (8) |
///
/// `levels` is a cache that can be rebuilt from `chunks`. Changing a chunk removes all nodes above
/// it in the same transaction. Nodes are rebuilt on demand, and stored if the world is open for
/// writing. Numbers are little-endian unless stated otherwise. Checksums are 64-bit XXH3. A
/// record's checksum also covers the chunk's position, so a record at the wrong position is
/// detected.
///
/// The database rounds a value that exceeds one page up to a power of two pages. Such a value is
/// therefore cut: `chunks` holds `2`, the value's length (4) and its beginning, and `chunk pages`
/// holds the rest. The beginning includes at least everything before the first record.
///
/// A record is `0` and an uncompressed body, or `1` and a body compressed with `zstd`. The body of
/// a chunk in brick storage is `254` and the output of [`Chunk::write_bricks`]. The body of any
/// other chunk lists its runs, X fastest, then Y, then Z:
///
/// | bytes | content |
/// |---|---|
/// | 1 | storage of the chunk in memory: 0 uniform; 1, 2, 4, 8, 16 bits per voxel; 255 runs |
/// | 2 | materials less one |
/// | 2 each | the materials, sorted by number of runs, most first |
/// | 2 | runs less one |
/// | 1 per run | length if below 32 (else 0), plus 32 × the index of its material in the list (at most 7) |
/// | 2 | number of runs whose material has index 7 or higher |
/// | 2 each | these indices |
/// | 1 to 3 each | the lengths of 32 and more, seven bits per byte, lowest first, all but the last with their highest bit set |
///
/// # Cost
/// Opening reads the index and keeps it in memory: 4 KiB for each 32,000 neighbouring chunks or
/// fewer. Reading, verifying and decompressing a chunk takes about 23 µs. A chunk of terrain takes
/// about 1.6 KB on disk, plus a sixth for LOD data. Memory: at most 32 MiB of cached pages, and the
/// pending chunks.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
/// use drystone_formats::{Source, SourceError};
/// use drystone_store::StoredWorld;
///
/// let folder = std::env::temp_dir().join(format!("drystone-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&folder).unwrap();
/// let path = folder.join("world.drystone");
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
///
/// let world = StoredWorld::create(&path, "a stone", &materials)?;
/// world.put([(ChunkPos::new(0, 0, 0), Chunk::new(Chunk::SIDE, stone))])?;
/// world.close()?; // commits; dropping the world commits too, but reports no failure
///
/// let world = StoredWorld::open(&path)?;
/// assert_eq!(world.chunk(ChunkPos::new(0, 0, 0))?.uniform(), Some(stone));
/// # world.close()?;
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok::<(), SourceError>(())
/// ```
pub struct StoredWorld {
    name: String,
    id: Option<u128>,
    materials: MaterialTable,
    committed: Arc<RwLock<Committed>>,
    /// `None` if the world is open for reading only.
    committer: Option<Committer>,
    faults: Mutex<Vec<String>>,
    store: Arc<Store>,
}

impl StoredWorld {
    /// File name extension of stored worlds.
    pub const EXTENSION: &str = "drystone";
    /// Maximum number of faults stored for [`Source::faults`](drystone_formats::Source::faults).
    const MAX_FAULTS: usize = 10_000;

    /// Creates a world without chunks and opens it. Material numbers keep their meaning. Of each
    /// material name, the first 65,535 bytes are stored.
    ///
    /// # Errors
    /// [`Unwritable`](SourceError::Unwritable) if the file exists or cannot be created.
    pub fn create(path: &Path, name: &str, materials: &MaterialTable) -> Result<Self, SourceError> {
        Self::create_with(path, name, materials, None)?;
        Self::open(path)
    }

    /// Creates a world without chunks and closes it. `import` is the initial progress of an import.
    pub(crate) fn create_with(
        path: &Path,
        name: &str,
        materials: &MaterialTable,
        import: Option<Vec<u8>>,
    ) -> Result<(), SourceError> {
        Self::publish(path, |new| Self::fill(new, name, Some(id::random()), materials, import))
    }

    /// Creates the file `path`, whose content `fill` writes and closes.
    fn publish(
        path: &Path,
        fill: impl FnOnce(&Path) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        let unwritable = |problem| SourceError::Unwritable { path: path.into(), problem };
        if path.exists() {
            return Err(unwritable(std::io::ErrorKind::AlreadyExists.into()));
        }
        // The file gets its final name when it is complete: a killed process leaves no broken
        // world.
        let new = publish::reserve(path).map_err(unwritable)?;
        fill(&new).map_err(|error| match error {
            SourceError::Unreadable { problem, .. } => unwritable(problem),
            other => other,
        })?;
        publish::name(new, path).map_err(unwritable)
    }

    /// Writes a world without chunks into an empty file.
    fn fill(
        path: &Path,
        name: &str,
        id: Option<u128>,
        materials: &MaterialTable,
        import: Option<Vec<u8>>,
    ) -> Result<(), SourceError> {
        Store::create(path, |it| write_new(it, name, id, materials, import))?.close()
    }

    /// Opens a world for reading and writing. Recovers a world that was not closed because its
    /// process was killed.
    ///
    /// # Errors
    /// [`InUse`](SourceError::InUse) if the world is already open for writing. Also files that are
    /// no stored world, have a newer version, or are damaged as a whole.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Self::open_with(path, CommitPolicy::default())
    }

    /// Opens a world for reading and writing, with the given commit policy. See
    /// [`open`](Self::open).
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn open_with(path: &Path, policy: CommitPolicy) -> Result<Self, SourceError> {
        Self::open_on(path, policy, 0)
    }

    /// Opens a world for reading and writing. Compresses on `threads` threads; 0 means one per
    /// core.
    fn open_on(path: &Path, policy: CommitPolicy, threads: usize) -> Result<Self, SourceError> {
        let store = Self::store(path, Access::Write, policy.cache_bytes())?;
        Self::of(store, Some((policy, CommitMode::Background { packers: threads })))
    }

    /// Opens a world for reading, as of the last commit. Any number of readers and one writer may
    /// have the file open. Later commits do not change what this reader sees, so the file can grow
    /// meanwhile.
    ///
    /// # Errors
    /// See [`open`](Self::open). A world that is open for writing elsewhere is no error.
    pub fn open_read_only(path: &Path) -> Result<Self, SourceError> {
        Self::open_to_read(path, CommitPolicy::default())
    }

    /// Opens a world for reading, with the page cache that `policy` defines.
    fn open_to_read(path: &Path, policy: CommitPolicy) -> Result<Self, SourceError> {
        Self::of(Self::store(path, Access::Read, policy.cache_bytes())?, None)
    }

    /// Reads a world from the bytes of its file, for example in a browser. `name` is used in
    /// messages.
    ///
    /// # Cost
    /// Copies the bytes.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, SourceError> {
        Self::check_magic(bytes, bytes.len(), name.as_ref())?;
        let file = MemoryFile::of_bytes(name, bytes.to_vec(), usize::MAX);
        Self::of(Store::open_in(&file, CACHE_BYTES)?, None)
    }

    fn store(path: &Path, access: Access, cache_bytes: usize) -> Result<Store, SourceError> {
        if !Self::is_stored(path) {
            let unreadable = |problem| SourceError::Unreadable { path: path.into(), problem };
            let found = match fs::metadata(path).map_err(unreadable)? {
                it if it.is_dir() => "a folder, not a stored world".into(),
                it => format!("not a stored world ({} bytes without its signature)", it.len()),
            };
            return Err(SourceError::Unsupported { path: path.into(), found });
        }
        Store::open_with(path, access, cache_bytes)
    }

    /// Shrinks the file as far as possible without compressing records again. Useful for finished
    /// worlds and after many edits.
    ///
    /// # Cost
    /// Moves up to the whole file.
    ///
    /// # Errors
    /// See [`open`](Self::open). Also fails while the world is open for reading elsewhere.
    pub fn compact(path: &Path) -> Result<(), SourceError> {
        Self::store(path, Access::Write, CACHE_BYTES)?.close()?;
        Store::compact(path)
    }

    /// Whether the file begins with the signature of stored worlds.
    pub fn is_stored(path: &Path) -> bool {
        use std::io::Read;
        let mut start = [0; MAGIC.len()];
        fs::metadata(path).is_ok_and(|it| it.is_file())
            && fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
            && start == MAGIC
    }

    /// Returns an error unless a file of `len` bytes begins with the signature of stored worlds.
    fn check_magic(bytes: &[u8], len: usize, path: &Path) -> Result<(), SourceError> {
        if bytes.starts_with(&MAGIC) {
            return Ok(());
        }
        let found = format!("not a stored world ({len} bytes without its signature)");
        Err(SourceError::Unsupported { path: path.into(), found })
    }

    fn of(store: Store, writing: Option<(CommitPolicy, CommitMode)>) -> Result<Self, SourceError> {
        let Meta { head, id, materials } = read_meta(&store)?;
        let index = read_index(&store, &head)?;
        let name = head.name.clone();
        let committed = Arc::new(RwLock::new(Committed::new(head, index)));
        let store = Arc::new(store);
        let shared = || (Arc::clone(&store), Arc::clone(&committed));
        let committer = writing.map(|(policy, mode)| {
            let (store, committed) = shared();
            Committer::new(store, committed, policy, mode)
        });
        let committer = committer.transpose()?;
        Ok(Self { name, id, materials, committed, committer, faults: Mutex::default(), store })
    }

    /// Whether another process may write the file while it is open for reading here.
    pub(crate) fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// Random id that the file got when it was created. Moving, copying and repairing keep it.
    /// `None` for files from before ids existed.
    pub const fn id(&self) -> Option<u128> {
        self.id
    }

    /// Number of commits since the file was created.
    pub fn revision(&self) -> u64 {
        self.with_committed(|committed| committed.head.revision)
    }

    /// Version of the file format.
    pub fn version(&self) -> u32 {
        self.with_committed(|committed| committed.head.version)
    }

    /// Replaces chunks; a chunk of only air removes the stored one. Reads return the new chunks
    /// immediately. They are committed together, later: by the [`CommitPolicy`], by
    /// [`flush`](Self::flush), or when the world is closed or dropped.
    ///
    /// # Cost
    /// O(chunks); voxel data is shared, not copied. Blocks on the disk only if more than four times
    /// [`CommitPolicy::max_bytes`] are pending.
    ///
    /// # Errors
    /// A world that is open for reading only, a chunk with another side length, or an earlier
    /// commit that failed. After a failed commit, [`flush`](Self::flush) tries again.
    pub fn put(
        &self,
        chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
    ) -> Result<(), SourceError> {
        self.put_batch(Batch::of_chunks(of_one_side(chunks)?))
    }

    /// Appends materials to the world's table. They are committed with the next chunks.
    /// [`materials`](drystone_formats::Source::materials) includes them when the world is opened again.
    ///
    /// # Errors
    /// [`OtherMaterials`](SourceError::OtherMaterials) unless `materials` begins with the materials
    /// that the world was opened with. For other errors see [`put`](Self::put).
    pub fn put_materials(&self, materials: &MaterialTable) -> Result<(), SourceError> {
        if !meta::begins_with(materials, &self.materials) {
            return Err(SourceError::OtherMaterials { path: self.path().into() });
        }
        self.put_batch(Batch { materials: Some(materials.clone()), ..Batch::default() })
    }

    fn put_batch(&self, batch: Batch) -> Result<(), SourceError> {
        match &self.committer {
            Some(committer) if !batch.is_empty() => committer.put(batch),
            Some(_) => Ok(()),
            None => Err(SourceError::ReadOnly { path: self.path().into() }),
        }
    }

    /// Commits all pending changes and returns when they are on disk.
    ///
    /// # Errors
    /// A write that failed. The changes stay pending, so the call can be repeated.
    pub fn flush(&self) -> Result<(), SourceError> {
        self.committer.as_ref().map_or(Ok(()), Committer::flush)
    }

    /// Commits all pending changes and closes the file.
    ///
    /// # Errors
    /// A write that failed. The error contains the world with all pending changes. Close it again
    /// when there is disk space, or copy it elsewhere.
    pub fn close(self) -> Result<(), Box<NotClosed>> {
        let closed = self.flush().and_then(|()| self.store.close());
        closed.map_err(|error| Box::new(NotClosed { world: self, error }))
    }
}

/// The chunks by position, or an error if one has another side length than [`Chunk::SIDE`].
fn of_one_side(
    chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
) -> Result<BTreeMap<ChunkPos, Chunk>, SourceError> {
    let chunks = chunks.into_iter().map(|(position, chunk)| match chunk.side() {
        Chunk::SIDE => Ok((position, chunk)),
        found => Err(SourceError::ChunkSide { found, expected: Chunk::SIDE }),
    });
    chunks.collect()
}

/// First bytes of every database file.
const MAGIC: [u8; 4] = Format::STORED_SIGNATURE;
const WRONG_SUM: &str = "its checksum is wrong";
const MISSING: &str = "it is missing from its group";

/// The path with `.` and `ending` appended.
fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Text for a chunk in messages.
fn location_of(position: ChunkPos) -> String {
    format!("chunk {},{},{}", position.x, position.y, position.z)
}

/// Error of [`StoredWorld::close`]. Contains the world, which is still open.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct NotClosed {
    /// The world, with its pending changes.
    pub world: StoredWorld,
    /// Why the world could not be closed.
    pub error: SourceError,
}

impl From<Box<NotClosed>> for SourceError {
    fn from(not_closed: Box<NotClosed>) -> Self {
        not_closed.error
    }
}

impl std::fmt::Debug for StoredWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredWorld").field("path", &self.path()).finish_non_exhaustive()
    }
}
