use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};

use drystone_voxel::{Chunk, ChunkPos, MaterialTable};

use crate::WorldError;

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
mod open;
mod pages;
mod progress;
mod publish;
mod read;
mod record;
mod salvage;
mod saving;
mod summary;
mod survey;
#[cfg(test)]
pub(crate) mod tests;
mod zstd;

use batch::{Batch, Committed};
pub use check::WorldCheck;
pub use committer::CommitPolicy;
use committer::{Committer, Who};
pub(crate) use database::DATABASE;
use database::{Access, CACHE_BYTES, Store};
pub use later::StoredLater;
pub use memory::MemoryFile;
pub(crate) use meta::is_same_kind;
use open::{Meta, read_index, read_meta, write_new};
pub use summary::StoredSummary;

/// A world in one file, which survives being killed at any moment, and power cuts on disks that
/// sync when they say so: what was committed is there, what was not is absent.
///
/// ```text
///  put ─► pending ──after a while, or many──► packed ─► one transaction ─► file
///            │                                             (values, index, head)
///  chunk ◄───┴── else from the file: index ─► value ─► checksum ─► unpacked
/// ```
/// The file is a `redb` database of six tables:
///
/// | table | key | value |
/// |---|---|---|
/// | `chunks` | a group of 2 × 2 × 2 chunks: X, Z, Y as big-endian words, their highest bit turned | `1`, a bit for each chunk that is there, for each of them its record's length (4 bytes) and checksum (8), then the records |
/// | `chunk pages` | a group's key, and a number (2 bytes, big-endian) | the next 4,074 bytes of the group's value |
/// | `levels`, `level pages` | the same of nodes: a node's level stands in X above bit 26 | the same, of the node's place |
/// | `index` | a region of 16³ chunks: X, Y, Z | a bit for each chunk that is there (512 bytes), checksum (8) |
/// | `meta` | `world` | version (4), revision, chunks, regions (8 each), name, checksum (8) |
/// | | `materials` | for each but air: red, green, blue, opacity, the name's length (2), name; checksum (8) |
/// | | `id` | 16 bytes by which the world is known under any name, checksum (8); may be missing |
/// | | `writer` | a number of whoever committed last |
/// | | `import` | how far an import has come, checksum (8) |
///
/// What `levels` holds follows from `chunks`, and need not be there. Who changes a chunk
/// removes all nodes above it in the same transaction; they are made again when they are asked
/// for, and kept where the world is open for writing. Numbers are little-endian where nothing
/// else is said. Checksums are XXH3, 64 bits; those of records are mixed with
/// the chunk's place, so that a record in another's place is found out.
///
/// A value too long for a page of the database would be rounded up to a power of two of these.
/// So it is cut: `chunks` holds `2`, the value's length (4) and its beginning, which is at least
/// all that stands before the first record, and `chunk pages` the rest.
///
/// A record is `0` and a body as it is, or `1` and a body packed by `zstd`. A body is `254`
/// and what [`Chunk::write_bricks`] says, of a chunk that is kept in bricks, or else the chunk's
/// runs, X fastest, then Y, then Z:
///
/// | bytes | what |
/// |---|---|
/// | 1 | how the chunk is kept in memory: 0 uniform; 1, 2, 4, 8, 16 bits a voxel; 255 runs |
/// | 2 | materials less one |
/// | 2 each | the materials, those of most runs first |
/// | 2 | runs less one |
/// | 1 a run | its length below 32 (else 0), and times 32 its material's place in the list (7 and more: 7) |
/// | 2 | runs of a material from place 7 on |
/// | 2 each | these places |
/// | 1 to 3 each | the lengths of 32 and more, seven bits a byte, lowest first, all but the last with their highest bit set |
///
/// # Cost
/// Opening reads the index, 4 KiB for each 32,000 chunks or fewer that are near each other, and
/// keeps it. A chunk takes some 23 µs to read, verify and unpack; on disk, a chunk of terrain
/// some 1.6 KB, and a sixth more for larger voxels. Memory: 32 MiB of pages at the most, and what waits to be committed.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
/// use drystone_world::{Source, StoredWorld, WorldError};
///
/// let folder = std::env::temp_dir().join(format!("drystone-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&folder).unwrap();
/// let path = folder.join("world.drystone");
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
///
/// let world = StoredWorld::create(&path, "a stone", &materials)?;
/// world.put([(ChunkPos::new(0, 0, 0), Chunk::new(Chunk::SIDE, stone))])?;
/// world.close()?; // commits; so does dropping it, but nobody hears of a failure
///
/// let world = StoredWorld::open(&path)?;
/// assert_eq!(world.chunk(ChunkPos::new(0, 0, 0))?.uniform(), Some(stone));
/// # world.close()?;
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok::<(), WorldError>(())
/// ```
pub struct StoredWorld {
    name: String,
    id: Option<u128>,
    materials: MaterialTable,
    committed: Arc<RwLock<Committed>>,
    /// `None` of a world that is only read.
    committer: Option<Committer>,
    faults: Mutex<Vec<String>>,
    store: Arc<Store>,
}

impl StoredWorld {
    /// The ending of such files.
    pub const EXTENSION: &str = "drystone";
    /// The most faults that are kept for [`Source::faults`](crate::Source::faults).
    const MAX_FAULTS: usize = 10_000;

    /// A new world without chunks. The same numbers mean the same materials in it as in
    /// `materials`, of whose names the first 65,535 bytes are kept.
    ///
    /// # Errors
    /// A file that is there already, or that cannot be made.
    pub fn create(path: &Path, name: &str, materials: &MaterialTable) -> Result<Self, WorldError> {
        Self::create_with(path, name, materials, None)?;
        Self::open(path)
    }

    /// The same, closed, with how far an import has come from the start.
    pub(crate) fn create_with(
        path: &Path,
        name: &str,
        materials: &MaterialTable,
        import: Option<Vec<u8>>,
    ) -> Result<(), WorldError> {
        Self::publish(path, |new| Self::fill(new, name, Some(id::random()), materials, import))
    }

    /// Makes a file that `fill` writes, closed.
    fn publish(
        path: &Path,
        fill: impl FnOnce(&Path) -> Result<(), WorldError>,
    ) -> Result<(), WorldError> {
        let unwritable = |problem| WorldError::Unwritable { path: path.into(), problem };
        if path.exists() {
            return Err(unwritable(std::io::ErrorKind::AlreadyExists.into()));
        }
        // Under another name until it is a world: killed before that, it is not in the way.
        let new = publish::reserve(path).map_err(unwritable)?;
        fill(&new).map_err(|error| match error {
            WorldError::Unreadable { problem, .. } => unwritable(problem),
            other => other,
        })?;
        publish::name(new, path).map_err(unwritable)
    }

    /// Makes an empty file a world without chunks.
    fn fill(
        path: &Path,
        name: &str,
        id: Option<u128>,
        materials: &MaterialTable,
        import: Option<Vec<u8>>,
    ) -> Result<(), WorldError> {
        Store::create(path, |it| write_new(it, name, id, materials, import))?.close()
    }

    /// Opens a world to read and to change it. One that was not closed, because its process
    /// was killed, is put right on the way.
    ///
    /// # Errors
    /// [`InUse`](WorldError::InUse) while another has it open to change it; what is no stored
    /// world, is of a newer version or is damaged as a whole.
    pub fn open(path: &Path) -> Result<Self, WorldError> {
        Self::open_with(path, CommitPolicy::default())
    }

    /// The same, with commits as `policy` says.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: &Path, policy: CommitPolicy) -> Result<Self, WorldError> {
        Self::open_on(path, policy, 0)
    }

    /// The same, packing on so many threads; 0 for as many as there are cores.
    fn open_on(path: &Path, policy: CommitPolicy, threads: usize) -> Result<Self, WorldError> {
        let store = Self::store(path, Access::Write, policy.cache_bytes())?;
        Self::of(store, Some((policy, Who::Thread { packers: threads })))
    }

    /// Opens a world to read it as it is now, together with others that read, and one that may
    /// change it: that leaves what is read here as it is, so the file may grow meanwhile.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for one that others change.
    pub fn open_read_only(path: &Path) -> Result<Self, WorldError> {
        Self::open_to_read(path, CommitPolicy::default())
    }

    /// The same, with as much memory as one takes that is written by this policy.
    fn open_to_read(path: &Path, policy: CommitPolicy) -> Result<Self, WorldError> {
        Self::of(Self::store(path, Access::Read, policy.cache_bytes())?, None)
    }

    /// Reads a world from the bytes of its file, as where there are no files; `name` is for
    /// messages.
    ///
    /// # Cost
    /// Keeps a copy of the bytes.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, WorldError> {
        Self::check_magic(bytes, name.as_ref())?;
        let file = MemoryFile::of_bytes(name, bytes.to_vec(), usize::MAX);
        Self::of(Store::open_in(&file, CACHE_BYTES)?, None)
    }

    fn store(path: &Path, access: Access, cache_bytes: usize) -> Result<Store, WorldError> {
        if !Self::is_stored(path) {
            let unreadable = |problem| WorldError::Unreadable { path: path.into(), problem };
            let found = match fs::metadata(path).map_err(unreadable)? {
                it if it.is_dir() => "a folder, not a stored world".into(),
                it => format!("not a stored world ({} bytes that begin otherwise)", it.len()),
            };
            return Err(WorldError::Unsupported { path: path.into(), found });
        }
        Store::open_with(path, access, cache_bytes)
    }

    /// Makes the file as small as it gets without packing anything anew: for worlds that are
    /// finished, or were edited for long.
    ///
    /// # Cost
    /// Moves up to the whole file.
    ///
    /// # Errors
    /// As [`open`](Self::open), and while another reads it.
    pub fn compact(path: &Path) -> Result<(), WorldError> {
        Self::store(path, Access::Write, CACHE_BYTES)?.close()?;
        Store::compact(path)
    }

    /// Whether the file begins as stored worlds do.
    pub fn is_stored(path: &Path) -> bool {
        use std::io::Read;
        let mut start = [0; MAGIC.len()];
        fs::metadata(path).is_ok_and(|it| it.is_file())
            && fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
            && start == MAGIC
    }

    /// The same of a file's bytes.
    pub(crate) fn is_stored_of(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Refuses bytes that begin otherwise.
    fn check_magic(bytes: &[u8], path: &Path) -> Result<(), WorldError> {
        if Self::is_stored_of(bytes) {
            return Ok(());
        }
        let found = format!("not a stored world ({} bytes that begin otherwise)", bytes.len());
        Err(WorldError::Unsupported { path: path.into(), found })
    }

    fn of(store: Store, writing: Option<(CommitPolicy, Who)>) -> Result<Self, WorldError> {
        let Meta { head, id, materials } = read_meta(&store)?;
        let index = read_index(&store, &head)?;
        let name = head.name.clone();
        let committed = Arc::new(RwLock::new(Committed::new(head, index)));
        let store = Arc::new(store);
        let shared = || (Arc::clone(&store), Arc::clone(&committed));
        let committer = writing.map(|(policy, who)| {
            let (store, committed) = shared();
            Committer::new(store, committed, policy, who)
        });
        let committer = committer.transpose()?;
        Ok(Self { name, id, materials, committed, committer, faults: Mutex::default(), store })
    }

    /// Whether another may change the file while it is open here to be read.
    pub(crate) fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// A random number that the file got when it was made and has wherever it is moved or
    /// copied, repaired or not; `None` of files from before there were such.
    pub const fn id(&self) -> Option<u128> {
        self.id
    }

    /// How often was committed, ever.
    pub fn revision(&self) -> u64 {
        self.with_committed(|committed| committed.head.revision)
    }

    /// The version of the file's format.
    pub fn version(&self) -> u32 {
        self.with_committed(|committed| committed.head.version)
    }

    /// Takes chunks in the place of those that are there; all-air ones remove them. They are
    /// read back at once, and committed together, later: as the [`CommitPolicy`] says, on
    /// [`flush`](Self::flush), and when the world is closed or dropped.
    ///
    /// # Cost
    /// O(chunks) shared voxels; waits for the disk only when four times
    /// [`CommitPolicy::max_bytes`] are waiting.
    ///
    /// # Errors
    /// A world that is only read, chunks of another side, or an earlier commit that failed:
    /// then [`flush`](Self::flush) tries again.
    pub fn put(
        &self,
        chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
    ) -> Result<(), WorldError> {
        self.put_batch(Batch::of_chunks(of_one_side(chunks)?))
    }

    /// Adds the materials behind those that are there, to be committed with what is put next;
    /// [`materials`](crate::Source::materials) has them when the world is opened again.
    ///
    /// # Errors
    /// [`OtherMaterials`](WorldError::OtherMaterials) unless `materials` begins with those
    /// that the world was opened with; else as [`put`](Self::put).
    pub fn put_materials(&self, materials: &MaterialTable) -> Result<(), WorldError> {
        if !meta::begins_with(materials, &self.materials) {
            return Err(WorldError::OtherMaterials { path: self.path().into() });
        }
        self.put_batch(Batch { materials: Some(materials.clone()), ..Batch::default() })
    }

    fn put_batch(&self, batch: Batch) -> Result<(), WorldError> {
        match &self.committer {
            Some(committer) if !batch.is_empty() => committer.put(batch),
            Some(_) => Ok(()),
            None => Err(WorldError::ReadOnly { path: self.path().into() }),
        }
    }

    /// Commits what was put and returns when it is on disk.
    ///
    /// # Errors
    /// When it cannot be written; it is kept and can be tried again.
    pub fn flush(&self) -> Result<(), WorldError> {
        self.committer.as_ref().map_or(Ok(()), Committer::flush)
    }

    /// Commits what was put and closes the file.
    ///
    /// # Errors
    /// When it cannot be written: then the world comes back, with all that was put, to be
    /// closed again when there is room, or to be copied elsewhere.
    pub fn close(self) -> Result<(), Box<NotClosed>> {
        let closed = self.flush().and_then(|()| self.store.close());
        closed.map_err(|error| Box::new(NotClosed { world: self, error }))
    }
}

/// The chunks by their places, if all are of the side that is stored.
fn of_one_side(
    chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
) -> Result<BTreeMap<ChunkPos, Chunk>, WorldError> {
    let chunks = chunks.into_iter().map(|(position, chunk)| match chunk.side() {
        Chunk::SIDE => Ok((position, chunk)),
        found => Err(WorldError::ChunkSide { found, expected: Chunk::SIDE }),
    });
    chunks.collect()
}

/// What the files of the database begin with.
const MAGIC: [u8; 4] = *b"redb";
const WRONG_SUM: &str = "its checksum is wrong";
const MISSING: &str = "it is not in its group";

/// The path with a further ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

fn place_of(position: ChunkPos) -> String {
    format!("chunk {},{},{}", position.x, position.y, position.z)
}

/// A world that could not be closed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct NotClosed {
    /// The world as it was, with what waits to be written.
    pub world: StoredWorld,
    /// Why it could not be closed.
    pub error: WorldError,
}

impl From<Box<NotClosed>> for WorldError {
    fn from(not_closed: Box<NotClosed>) -> Self {
        not_closed.error
    }
}

impl std::fmt::Debug for StoredWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredWorld").field("path", &self.path()).finish_non_exhaustive()
    }
}
