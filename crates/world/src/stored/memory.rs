use std::fmt::{self, Debug, Formatter};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use drystone_voxel::MaterialTable;
use redb::StorageBackend;

use super::committer::Who;
use super::database::Store;
use super::{CommitPolicy, StoredWorld, id, write_new};
use crate::WorldError;

/// The file of a stored world in memory, as where there are no files: in a page of a browser.
/// Its bytes are those of a file on disk. Clones are the same file.
///
/// # Cost
/// Up to twice what the world takes, and as much once more while it grows.
///
/// # Limits
/// The database grows to twice its length at once, so only half of what a file may have is sure to
/// be used; a new one, which begins with 4 KiB more than 1 MiB, uses nearly all of a limit that is
/// by a hundredth above a power of two.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
/// use drystone_world::{CommitPolicy, MemoryFile, Source, StoredWorld, WorldError, parse_source};
///
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
/// let file = MemoryFile::new("stones.drystone", 16 << 20);
/// StoredWorld::create_in(&file, "stones", &materials)?;
///
/// let world = StoredWorld::open_in(&file, CommitPolicy::default())?;
/// world.put([(ChunkPos::new(0, 0, 0), Chunk::new(Chunk::SIDE, stone))])?;
/// world.flush()?;
/// let read = parse_source(&file.finished()?, "stones.drystone")?;
/// assert_eq!(read.chunk_count(), 1);
/// # Ok::<(), WorldError>(())
/// ```
#[derive(Clone)]
pub struct MemoryFile(Arc<Inner>);

struct Inner {
    name: PathBuf,
    max_bytes: usize,
    bytes: RwLock<Vec<u8>>,
}

/// More than the database adds to what it can use, in bytes.
const HEADS_BYTES: usize = 1 << 20;

impl MemoryFile {
    /// An empty file that grows to so many bytes at the most; the name is for messages.
    pub fn new(name: impl Into<PathBuf>, max_bytes: usize) -> Self {
        Self::of_bytes(name, Vec::new(), max_bytes)
    }

    /// The file of these bytes. Where the first doubling of what it has would go beyond so many
    /// bytes, it may grow by that one, if there are no more of them to begin with.
    pub fn of_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>, max_bytes: usize) -> Self {
        let once_bytes = match bytes.len() {
            0 => 0,
            len => Self::doubled(len.min(max_bytes)),
        };
        let max_bytes = max_bytes.max(once_bytes);
        Self(Arc::new(Inner { name: name.into(), max_bytes, bytes: RwLock::new(bytes) }))
    }

    /// How many bytes a file of so many has at the most when it has grown once.
    pub const fn doubled(len: usize) -> usize {
        len.saturating_mul(2).saturating_add(HEADS_BYTES)
    }

    /// What it is called.
    pub fn name(&self) -> &Path {
        &self.0.name
    }

    /// The bytes of the file as it would be if it were closed now, as small as it gets: with all
    /// that was committed. The file itself stays as it is.
    ///
    /// # Cost
    /// Two copies for a moment, and moving what lies behind what is free.
    ///
    /// # Errors
    /// No stored world, or no memory for the copies.
    pub fn finished(&self) -> std::result::Result<Vec<u8>, WorldError> {
        let copy = || -> Result<Vec<u8>> {
            let (bytes, mut copy) = (self.read_bytes(), Vec::new());
            copy.try_reserve_exact(bytes.len()).map_err(|_| ErrorKind::OutOfMemory)?;
            copy.extend_from_slice(&bytes);
            Ok(copy)
        };
        let unreadable = |problem| WorldError::Unreadable { path: self.name().into(), problem };
        let copy = Self::of_bytes(self.name(), copy().map_err(unreadable)?, usize::MAX);
        Store::compact_in(&copy)?;
        Ok(std::mem::take(&mut *copy.write_bytes()))
    }

    /// Looks at all of it that the database reads when it writes: damage there may stop the
    /// program, as [`parse_source`](crate::parse_source) may at other damage.
    ///
    /// # Errors
    /// What is damaged.
    pub fn verify(&self) -> std::result::Result<(), WorldError> {
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

/// The bytes from `offset` on, so many.
fn range(offset: u64, len: usize) -> Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).map_err(|_| ErrorKind::InvalidInput)?;
    let end = start.checked_add(len).ok_or(ErrorKind::InvalidInput)?;
    Ok(start..end)
}

/// What the database reads and writes.
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
            let most = max_bytes >> 20;
            let problem = format!("there is room in memory for {most} MiB, and no more");
            Error::new(ErrorKind::StorageFull, problem)
        })?;
        let mut bytes = self.0.write_bytes();
        let more = len.saturating_sub(bytes.len());
        let no_memory = |_| Error::new(ErrorKind::OutOfMemory, "there is no more memory");
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
    /// A new world without chunks, in an empty file in memory: see [`create`](Self::create).
    ///
    /// # Errors
    /// A file that is not empty, or has no room.
    pub fn create_in(
        file: &MemoryFile,
        name: &str,
        materials: &MaterialTable,
    ) -> std::result::Result<(), WorldError> {
        if !file.read_bytes().is_empty() {
            let problem = ErrorKind::AlreadyExists.into();
            return Err(WorldError::Unreadable { path: file.name().into(), problem });
        }
        let id = Some(id::random());
        let made = Store::create_in(file, |it| write_new(it, name, id, materials, None));
        made.and_then(|store| store.close()).inspect_err(|_| file.write_bytes().clear())
    }

    /// Opens a world in memory to read and to change it: see [`open`](Self::open). Nobody else
    /// may have it open. There is no thread that commits: what was put waits for
    /// [`flush`](Self::flush), or until [`put`](Self::put) finds too much waiting, and these
    /// commit it themselves.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(
        file: &MemoryFile,
        policy: CommitPolicy,
    ) -> std::result::Result<Self, WorldError> {
        Self::check_magic(&file.read_bytes(), file.name())?;
        Self::of(Store::open_in(file, policy.cache_bytes())?, Some((policy, Who::Asks)))
    }
}
