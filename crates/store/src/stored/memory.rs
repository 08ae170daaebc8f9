use std::fmt::{self, Debug, Formatter};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use drystone_formats::SourceError;
use drystone_voxel::MaterialTable;
use redb::StorageBackend;

use super::committer::CommitMode;
use super::database::Store;
use super::{CommitPolicy, StoredWorld, id, write_new};

/// A file of a stored world in memory, for targets without files such as browsers. Its bytes are
/// the same as on disk. Clones share one file.
///
/// # Cost
/// Up to twice the size of the world, and the same again while it grows.
///
/// # Limits
/// The database doubles its length when it grows, so only half of the limit is certain to be
/// usable. A new file starts with 4 KiB more than 1 MiB. A limit one percent above a power of two
/// is therefore almost fully usable.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
/// use drystone_formats::{Input, Source, SourceError};
/// use drystone_store::{CommitPolicy, MemoryFile, StoredWorld};
/// use drystone_world::{OpenOptions, open_voxels};
///
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
/// let file = MemoryFile::new("stones.drystone", 16 << 20);
/// StoredWorld::create_in(&file, "stones", &materials)?;
///
/// let world = StoredWorld::open_in(&file, CommitPolicy::default())?;
/// world.put([(ChunkPos::new(0, 0, 0), Chunk::new(Chunk::SIDE, stone))])?;
/// world.flush()?;
/// let bytes = file.finished()?;
/// let input = Input::Bytes { bytes: &bytes, name: "stones.drystone" };
/// let read = open_voxels(input, &OpenOptions::default())?;
/// assert_eq!(read.chunk_count(), 1);
/// # Ok::<(), SourceError>(())
/// ```
#[derive(Clone)]
pub struct MemoryFile(Arc<Inner>);

struct Inner {
    name: PathBuf,
    max_bytes: usize,
    bytes: RwLock<Vec<u8>>,
}

/// Upper bound of the database's own overhead, in bytes.
const HEADS_BYTES: usize = 1 << 20;

impl MemoryFile {
    /// Creates an empty file that grows to at most `max_bytes` bytes. `name` is used in messages.
    pub fn new(name: impl Into<PathBuf>, max_bytes: usize) -> Self {
        Self::of_bytes(name, Vec::new(), max_bytes)
    }

    /// Creates a file with these bytes that grows to at most `max_bytes` bytes. The file can always
    /// double once, even beyond the limit, unless `bytes` already exceeds the limit.
    pub fn of_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>, max_bytes: usize) -> Self {
        let once_bytes = match bytes.len() {
            0 => 0,
            len => Self::doubled(len.min(max_bytes)),
        };
        let max_bytes = max_bytes.max(once_bytes);
        Self(Arc::new(Inner { name: name.into(), max_bytes, bytes: RwLock::new(bytes) }))
    }

    /// Upper bound of the length, in bytes, of a file of `len` bytes after it has grown once.
    pub const fn doubled(len: usize) -> usize {
        len.saturating_mul(2).saturating_add(HEADS_BYTES)
    }

    /// Name of the file.
    pub fn name(&self) -> &Path {
        &self.0.name
    }

    /// The bytes of the file as if it were closed now, with all commits and as short as possible.
    /// Does not change the file.
    ///
    /// # Cost
    /// Two copies for a moment, and moving used pages together.
    ///
    /// # Errors
    /// The file is no stored world, or memory for the copies is missing.
    pub fn finished(&self) -> std::result::Result<Vec<u8>, SourceError> {
        let copy = || -> Result<Vec<u8>> {
            let (bytes, mut copy) = (self.read_bytes(), Vec::new());
            copy.try_reserve_exact(bytes.len()).map_err(|_| ErrorKind::OutOfMemory)?;
            copy.extend_from_slice(&bytes);
            Ok(copy)
        };
        let unreadable = |problem| SourceError::Unreadable { path: self.name().into(), problem };
        let copy = Self::of_bytes(self.name(), copy().map_err(unreadable)?, usize::MAX);
        Store::compact_in(&copy)?;
        Ok(std::mem::take(&mut *copy.write_bytes()))
    }

    /// Checks all pages that the database reads when it writes. Damage to these may panic, like
    /// other damage in `open` of `drystone-world`.
    ///
    /// # Errors
    /// The first damage that is found.
    pub fn verify(&self) -> std::result::Result<(), SourceError> {
        Store::verify_in(self)
    }

    fn read_bytes(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.0.bytes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_bytes(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        self.0.bytes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debug for MemoryFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let len = self.read_bytes().len();
        f.debug_struct("MemoryFile").field("name", &self.0.name).field("len", &len).finish()
    }
}

/// The range of `len` bytes from `offset` on.
fn range(offset: u64, len: usize) -> Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).map_err(|_| ErrorKind::InvalidInput)?;
    let end = start.checked_add(len).ok_or(ErrorKind::InvalidInput)?;
    Ok(start..end)
}

/// Storage backend of the database.
#[derive(Debug)]
pub(super) struct Memory(pub(super) MemoryFile);

impl StorageBackend for Memory {
    fn len(&self) -> Result<u64> {
        Ok(self.0.read_bytes().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let bytes = self.0.read_bytes();
        let part = bytes.get(range(offset, out.len())?).ok_or(ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(part);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let max_bytes = self.0.0.max_bytes;
        let len = usize::try_from(len).ok().filter(|&len| len <= max_bytes).ok_or_else(|| {
            let max_mib = max_bytes >> 20;
            let problem = format!("the file in memory has reached its limit of {max_mib} MiB");
            Error::new(ErrorKind::StorageFull, problem)
        })?;
        let mut bytes = self.0.write_bytes();
        let more = len.saturating_sub(bytes.len());
        let no_memory = |_| Error::new(ErrorKind::OutOfMemory, "out of memory");
        bytes.try_reserve_exact(more).map_err(no_memory)?;
        bytes.resize(len, 0);
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        let mut bytes = self.0.write_bytes();
        let part = bytes.get_mut(range(offset, data.len())?).ok_or(ErrorKind::UnexpectedEof)?;
        part.copy_from_slice(data);
        Ok(())
    }
}

impl StoredWorld {
    /// Creates a world without chunks in an empty file in memory. See [`create`](Self::create).
    ///
    /// # Errors
    /// The file is not empty, or its limit is too low.
    pub fn create_in(
        file: &MemoryFile,
        name: &str,
        materials: &MaterialTable,
    ) -> std::result::Result<(), SourceError> {
        if !file.read_bytes().is_empty() {
            let problem = ErrorKind::AlreadyExists.into();
            return Err(SourceError::Unreadable { path: file.name().into(), problem });
        }
        let id = Some(id::random());
        let made = Store::create_in(file, |it| write_new(it, name, id, materials, None));
        made.and_then(|store| store.close()).inspect_err(|_| file.write_bytes().clear())
    }

    /// Opens a world in memory for reading and writing. See [`open`](Self::open). The caller must
    /// not have the file open already. No background thread commits: [`flush`](Self::flush) commits
    /// on the calling thread, and so does [`put`](Self::put) when too much is pending.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn open_in(
        file: &MemoryFile,
        policy: CommitPolicy,
    ) -> std::result::Result<Self, SourceError> {
        Self::check_magic(&file.read_bytes(), file.name())?;
        Self::of(Store::open_in(file, policy.cache_bytes())?, Some((policy, CommitMode::OnCaller)))
    }
}
