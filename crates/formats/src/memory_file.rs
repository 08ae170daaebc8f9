use std::fmt::{self, Debug, Formatter};
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A file in memory, for targets without files such as browsers. Its bytes are the same as on
/// disk. Clones share one file.
///
/// # Cost
/// A stored world takes up to twice its size, and the same again while it grows.
///
/// # Limits
/// The database of a stored world doubles its length when it grows, so only half of the limit is
/// certain to be usable. A new file starts with 4 KiB more than 1 MiB. A limit one percent above a
/// power of two is therefore almost fully usable.
///
/// # Examples
/// ```
/// use drystone_formats::MemoryFile;
///
/// let file = MemoryFile::new("stones.drystone", 1 << 20);
/// file.set_len(4)?;
/// file.write_at(2, b"ab")?;
/// assert_eq!(file.to_bytes()?, b"\0\0ab");
/// assert!(file.set_len(2 << 20).is_err());
/// # Ok::<(), std::io::Error>(())
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

    /// Replaces the bytes from `offset` on.
    ///
    /// # Errors
    /// Bytes beyond the end of the file. Nothing is written then.
    pub fn write_at(&self, offset: u64, data: &[u8]) -> Result<()> {
        let mut bytes = self.lock();
        let part = bytes.get_mut(range(offset, data.len())?).ok_or(ErrorKind::UnexpectedEof)?;
        part.copy_from_slice(data);
        Ok(())
    }

    /// Truncates the file, or appends zeros.
    ///
    /// # Errors
    /// The limit, or a lack of memory. The file keeps its length then.
    pub fn set_len(&self, len: u64) -> Result<()> {
        let max_bytes = self.0.max_bytes;
        let len = usize::try_from(len).ok().filter(|&len| len <= max_bytes).ok_or_else(|| {
            let max_mib = max_bytes >> 20;
            let problem = format!("the file in memory has reached its limit of {max_mib} MiB");
            Error::new(ErrorKind::StorageFull, problem)
        })?;
        let mut bytes = self.lock();
        let more = len.saturating_sub(bytes.len());
        let no_memory = |_| Error::new(ErrorKind::OutOfMemory, "out of memory");
        bytes.try_reserve_exact(more).map_err(no_memory)?;
        bytes.resize(len, 0);
        Ok(())
    }

    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    /// Bytes beyond the end of the file.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let bytes = self.bytes();
        let part = bytes.get(range(offset, out.len())?).ok_or(ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(part);
        Ok(())
    }

    /// Returns a copy of all bytes.
    ///
    /// # Errors
    /// A lack of memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (bytes, mut copy) = (self.bytes(), Vec::new());
        copy.try_reserve_exact(bytes.len()).map_err(|_| ErrorKind::OutOfMemory)?;
        copy.extend_from_slice(&bytes);
        Ok(copy)
    }

    /// Returns all bytes and leaves the file empty.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.lock())
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Name of the file.
    pub fn name(&self) -> &Path {
        &self.0.name
    }

    fn bytes(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.0.bytes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        self.0.bytes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debug for MemoryFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryFile").field("name", &self.0.name).field("len", &self.len()).finish()
    }
}

/// The range of `len` bytes from `offset` on.
fn range(offset: u64, len: usize) -> Result<Range<usize>> {
    let start = usize::try_from(offset).map_err(|_| ErrorKind::InvalidInput)?;
    let end = start.checked_add(len).ok_or(ErrorKind::InvalidInput)?;
    Ok(start..end)
}
