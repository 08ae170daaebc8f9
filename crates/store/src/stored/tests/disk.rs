//! A simulated disk in memory. It can fail at a chosen write, call a hook at a write, and records a
//! journal of writes and syncs.

use std::fmt::{self, Debug, Formatter};
use std::io;
use std::ops::Bound;
use std::sync::MutexGuard;

use redb::{BackendError, StorageBackend};

use super::*;
use crate::stored::committer::CommitMode;
use crate::stored::database::Access;

/// A simulated disk. Clones share one disk.
#[derive(Clone, Default)]
pub(in super::super) struct Disk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// Number of changes until the disk fails; `None` for never.
    left: Option<u64>,
    /// Hook, and the number of changes before it is called.
    hook: Option<(u64, Hook)>,
    /// Handle that has the file open for writing.
    writer: Option<u64>,
    handle_count: u64,
    journal: Vec<Change>,
}

type Hook = Box<dyn FnOnce() + Send>;

/// A change of the disk.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write { offset: u64, data: Vec<u8> },
    SetLen(u64),
    Sync,
}

impl Change {
    /// Applies the change. Drops the part of a write beyond the end of the bytes.
    pub(super) fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } => {
                let to = bytes.get_mut(*offset as usize..).unwrap_or_default();
                to.iter_mut().zip(data).for_each(|(to, byte)| *to = *byte);
            }
            Self::SetLen(len) => bytes.resize(*len as usize, 0),
            Self::Sync => {}
        }
    }
}

impl Disk {
    pub(super) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(State { bytes, ..State::default() })))
    }

    /// Creates a disk with a world without chunks.
    pub(super) fn with_world() -> Self {
        let file = MemoryFile::new("new", usize::MAX);
        NewWorld::new("", &materials(300)).create((&file).into()).unwrap();
        Self::of_bytes(StoredWorld::finished_bytes(&file).unwrap())
    }

    /// Opens the world on the disk. Only explicit calls commit.
    pub(super) fn open(&self, mode: CommitMode) -> Result<StoredWorld, SourceError> {
        let policy = CommitPolicy { max_delay: Duration::from_secs(3600), max_bytes: u64::MAX };
        let store = Store::open(Path::new("w.drystone"), Access::Disk(self.clone()), CACHE_BYTES)?;
        StoredWorld::of(store, Some((policy, mode)))
    }

    /// Makes the disk fail after this number of changes.
    pub(super) fn fail_after(&self, changes: u64) {
        self.lock().left = Some(changes);
    }

    /// Makes the disk work again, and removes the hook.
    pub(super) fn work(&self) {
        let mut state = self.lock();
        (state.left, state.hook) = (None, None);
    }

    /// Calls `hook` once, after this number of further changes.
    pub(super) fn call_after(&self, changes: u64, hook: impl FnOnce() + Send + 'static) {
        self.lock().hook = Some((changes, Box::new(hook)));
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// All changes since the disk was created.
    pub(super) fn journal(&self) -> Vec<Change> {
        self.lock().journal.clone()
    }

    pub(super) fn journal_len(&self) -> usize {
        self.lock().journal.len()
    }

    /// Storage backend for a database.
    pub(in super::super) fn handle(&self) -> Handle {
        let mut state = self.lock();
        state.handle_count += 1;
        Handle { disk: self.clone(), id: state.handle_count }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn change(&self, change: Change) -> io::Result<()> {
        let hook = {
            let mut state = self.lock();
            match &mut state.hook {
                Some((0, _)) => state.hook.take(),
                Some((after, _)) => {
                    *after -= 1;
                    None
                }
                None => None,
            }
        };
        if let Some((_, hook)) = hook {
            hook();
        }
        let state = &mut *self.lock();
        match &mut state.left {
            Some(0) => return Err(io::ErrorKind::StorageFull.into()),
            Some(left) => *left -= 1,
            None => {}
        }
        change.apply(&mut state.bytes);
        state.journal.push(change);
        Ok(())
    }
}

impl Debug for Disk {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").finish_non_exhaustive()
    }
}

/// An open file. All lock ranges share one lock, the writer's, since these tests have no readers.
#[derive(Debug)]
pub(in super::super) struct Handle {
    disk: Disk,
    id: u64,
}

impl StorageBackend for Handle {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.disk.lock();
        let part = state.bytes.get(offset as usize..).and_then(|from| from.get(..out.len()));
        out.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.change(Change::SetLen(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.change(Change::Sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.disk.change(Change::Write { offset, data: data.to_vec() })
    }

    fn close(&self) -> io::Result<()> {
        let mut state = self.disk.lock();
        state.writer = state.writer.filter(|&writer| writer != self.id);
        Ok(())
    }

    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(*self.disk.lock().writer.get_or_insert(self.id) == self.id)
    }

    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(false)
    }
}
