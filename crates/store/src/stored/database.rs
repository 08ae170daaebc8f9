use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use drystone_formats::{MemoryFile, SourceError};
use redb::{
    Database, DatabaseError, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, TableDefinition,
    WriteTransaction,
};

use super::options::CACHE_BYTES;
use super::pages::{CHUNKS, LEVELS, Values, ValuesMut};

mod opening;

use opening::{compact, exclusive, open, open_memory, shared};

/// Bits of present chunks, by region.
pub(super) const INDEX: TableDefinition<'_, [i32; 3], &[u8]> = TableDefinition::new("index");
/// Metadata of the world, by name.
pub(super) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");

/// A database file that reopens itself after a disk failure.
///
/// The database may panic on damaged pages. Every call goes through [`read`](Self::read) or
/// [`write`](Self::write), which catch the panic and never use the handle again. A handle also
/// stops working after a disk failure; the next call then opens the file again.
pub(super) struct Store {
    path: PathBuf,
    access: Access,
    cache_bytes: usize,
    state: RwLock<State>,
}

enum State {
    Open(Box<Open>),
    /// The disk failed; the next call opens the file again.
    Failed,
    /// The pages contradict each other; the file stays closed.
    Lost,
    Closed,
}

struct Open {
    /// Number of the opening, unique in the process. A reopened file has a new number.
    id: u64,
    handle: Handle,
    /// Whether the lock permits one writer and any number of readers.
    is_shared: bool,
    /// Snapshot of the commit at opening; `None` if open for writing.
    snapshot: Option<ReadTransaction>,
    /// Chunks as of the last commit, for readers.
    chunks: Values,
    /// LOD chunks as of the last commit; `None` until the table exists.
    levels: Option<Values>,
}

enum Handle {
    Write(Database),
    Read(ReadOnlyDatabase),
}

impl Handle {
    fn begin_read(&self) -> Result<ReadTransaction, redb::Error> {
        Ok(match self {
            Self::Write(database) => database.begin_read()?,
            Self::Read(database) => database.begin_read()?,
        })
    }

    fn open(self, is_shared: bool) -> Result<Box<Open>, redb::Error> {
        let transaction = self.begin_read()?;
        let (chunks, levels) = tables(&transaction)?;
        let snapshot = matches!(self, Self::Read(_)).then_some(transaction);
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Open { id, handle: self, is_shared, snapshot, chunks, levels }))
    }
}

/// The chunk and LOD tables in a transaction.
fn tables(transaction: &ReadTransaction) -> Result<(Values, Option<Values>), redb::Error> {
    let missing = || redb::Error::TableDoesNotExist("chunks".into());
    let chunks = Values::open(transaction, CHUNKS)?.ok_or_else(missing)?;
    Ok((chunks, Values::open(transaction, LEVELS)?))
}

/// Access mode of a file.
#[derive(Clone, Debug)]
pub(super) enum Access {
    Write,
    /// Read, together with other readers and one writer.
    Read,
    /// Read a file that was cut short.
    ReadCut,
    /// Read and write a file in memory.
    Memory(MemoryFile),
    /// Read and write a disk that fails on request.
    #[cfg(test)]
    Disk(super::tests::disk::Disk),
}

impl Store {
    /// Creates the file and its tables. `fill` writes the initial content.
    pub(super) fn create(
        path: &Path,
        fill: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, SourceError> {
        let make = || shared(CACHE_BYTES, |builder| builder.create(path));
        Self::create_by(path, Access::Write, make, fill)
    }

    /// Creates the tables in a file in memory. `fill` writes the initial content.
    pub(super) fn create_in(
        file: &MemoryFile,
        fill: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, SourceError> {
        let make = || Ok((open_memory(file, CACHE_BYTES)?, false));
        Self::create_by(file.name(), Access::Memory(file.clone()), make, fill)
    }

    fn create_by(
        path: &Path,
        access: Access,
        make: impl FnOnce() -> Result<(Database, bool), DatabaseError>,
        fill: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, SourceError> {
        let open = caught(path, || {
            let (database, is_shared) = make()?;
            let transaction = begin_write(&database)?;
            ValuesMut::open(&transaction, CHUNKS)?;
            transaction.open_table(INDEX)?;
            fill(&transaction)?;
            transaction.commit()?;
            Handle::Write(database).open(is_shared)
        })?;
        let state = RwLock::new(State::Open(open));
        Ok(Self { path: path.into(), access, cache_bytes: CACHE_BYTES, state })
    }

    /// Opens a file with a page cache of `cache_bytes` bytes. `path` is the name of a file in
    /// memory.
    pub(super) fn open(
        path: &Path,
        access: Access,
        cache_bytes: usize,
    ) -> Result<Self, SourceError> {
        let state = RwLock::new(State::Open(open(path, &access, cache_bytes)?));
        Ok(Self { path: path.into(), access, cache_bytes, state })
    }

    /// Moves used pages together and truncates the file.
    pub(super) fn compact(path: &Path) -> Result<(), SourceError> {
        // Exclusive: pages that are being read must not move.
        caught(path, || compact(exclusive(CACHE_BYTES).open(path)?))
    }

    /// Moves the used pages of a file in memory together and truncates it.
    pub(super) fn compact_in(file: &MemoryFile) -> Result<(), SourceError> {
        caught(file.name(), || compact(open_memory(file, CACHE_BYTES)?))
    }

    /// Checks the integrity of a database in memory, including the pages that only writers read.
    pub(super) fn verify_in(file: &MemoryFile) -> Result<(), SourceError> {
        let is_whole =
            caught(file.name(), || Ok(open_memory(file, CACHE_BYTES)?.check_integrity()?))?;
        if is_whole { Ok(()) } else { Err(damaged(file.name(), DATABASE, PANICKED)) }
    }

    /// Locks a file against writers as long as the result lives. Returns `None` if the file cannot
    /// be opened: then no writer can either.
    pub(super) fn hold(path: &Path) -> Result<Option<ReadOnlyDatabase>, SourceError> {
        match caught(path, || Ok(exclusive(CACHE_BYTES).open_read_only(path)?)) {
            Err(error @ SourceError::InUse { .. }) => Err(error),
            held => Ok(held.ok()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether another process may write the file while it is read here. Readers keep their
    /// snapshot.
    pub(super) fn is_shared(&self) -> bool {
        matches!(&*self.peek(), State::Open(open) if open.is_shared)
    }

    /// Reads the chunks of the last commit.
    pub(super) fn chunks<T>(
        &self,
        work: impl FnOnce(&Values) -> Result<T, redb::Error>,
    ) -> Result<T, SourceError> {
        self.guarded(|open| work(&open.chunks))
    }

    /// Reads the LOD chunks of the last commit; `None` if there are none.
    pub(super) fn levels<T>(
        &self,
        work: impl FnOnce(&Values) -> Result<Option<T>, redb::Error>,
    ) -> Result<Option<T>, SourceError> {
        self.guarded(|open| open.levels.as_ref().map_or(Ok(None), work))
    }

    /// Reads any table, as of the last commit or of the snapshot at opening.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, SourceError> {
        self.guarded(|open| match &open.snapshot {
            Some(snapshot) => work(snapshot),
            None => work(&open.handle.begin_read()?),
        })
    }

    /// Changes tables in one durable transaction: all changes are on disk when this returns `Ok`,
    /// and none otherwise.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, SourceError> {
        let Some(done) = self.guarded(|open| match &open.handle {
            Handle::Read(_) => Ok(None),
            Handle::Write(database) => {
                let transaction = begin_write(database)?;
                let done = work(&transaction)?;
                transaction.commit()?;
                Ok(Some((done, open.id, tables(&database.begin_read()?)?)))
            }
        })?
        else {
            return Err(SourceError::ReadOnly { path: self.path.clone() });
        };
        let (done, id, tables) = done;
        match &mut *self.lock() {
            State::Open(open) if open.id == id => (open.chunks, open.levels) = tables,
            _ => {}
        }
        Ok(done)
    }

    fn guarded<T>(
        &self,
        work: impl FnOnce(&Open) -> Result<T, redb::Error>,
    ) -> Result<T, SourceError> {
        self.open_again()?;
        let (done, id) = {
            let state = self.peek();
            let open = match &*state {
                State::Open(open) => open,
                State::Closed => return Err(damaged(&self.path, DATABASE, "already closed")),
                _ => {
                    return Err(damaged(&self.path, DATABASE, "unusable after an earlier failure"));
                }
            };
            (catch_unwind(AssertUnwindSafe(|| work(open))), open.id)
        };
        match done {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => {
                if is_io_error(&error) {
                    self.abandon(id, State::Failed);
                }
                Err(world_error(&self.path, error))
            }
            Err(_) => {
                self.abandon(id, State::Lost);
                Err(damaged(&self.path, DATABASE, PANICKED))
            }
        }
    }

    fn open_again(&self) -> Result<(), SourceError> {
        if !matches!(*self.peek(), State::Failed) {
            return Ok(());
        }
        let mut state = self.lock();
        if matches!(*state, State::Failed) {
            *state = State::Open(open(&self.path, &self.access, self.cache_bytes)?);
        }
        Ok(())
    }

    /// Stops using the handle `id`, unless it was replaced meanwhile.
    fn abandon(&self, id: u64, to: State) {
        let mut state = self.lock();
        if !matches!(&*state, State::Open(open) if open.id == id) {
            return;
        }
        let is_lost = matches!(to, State::Lost);
        let old = std::mem::replace(&mut *state, to);
        if is_lost {
            // Closing would write state that may be wrong.
            std::mem::forget(old);
        } else {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(old)));
        }
    }

    fn peek(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the file. Can be called again after a failure.
    pub(super) fn close(&self) -> Result<(), SourceError> {
        let mut state = self.lock();
        let State::Open(open) = std::mem::replace(&mut *state, State::Closed) else {
            return Ok(());
        };
        let closed = caught(&self.path, || match open.handle {
            Handle::Write(database) => Ok(database.close()?),
            Handle::Read(database) => Ok(database.close()?),
        });
        closed.inspect_err(|error| {
            let is_io_error = matches!(error, SourceError::Unreadable { .. });
            *state = if is_io_error { State::Failed } else { State::Lost };
        })
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Callers that need the result call `close` first.
        let _ = self.close();
    }
}

/// Location in messages for damage to the whole file, which prevents all reads.
pub(crate) const DATABASE: &str = "database";
const PANICKED: &str = "its pages contradict each other";

/// Runs `work` and turns a panic, which a damaged file can cause, into an error.
fn caught<T>(path: &Path, work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, SourceError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| world_error(path, error)),
        Err(_) => Err(damaged(path, DATABASE, PANICKED)),
    }
}

/// Whether the disk failed, in this call or before. The handle refuses all work from then on.
const fn is_io_error(error: &redb::Error) -> bool {
    matches!(error, redb::Error::Io(_) | redb::Error::PreviousIo)
}

/// Begins a transaction that also stores which pages are used. Opening after a kill then neither
/// reads the whole file nor verifies the last commit.
fn begin_write(database: &Database) -> Result<WriteTransaction, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_quick_repair(true);
    Ok(transaction)
}

/// The error for damage at a location.
pub(super) fn damaged(path: &Path, location: impl Display, problem: impl Display) -> SourceError {
    SourceError::BadStored {
        path: path.into(),
        location: location.to_string(),
        problem: problem.to_string(),
    }
}

/// Translates an error of the database.
fn world_error(path: &Path, error: redb::Error) -> SourceError {
    let path = path.to_path_buf();
    match error {
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => {
            SourceError::InUse { path }
        }
        redb::Error::UpgradeRequired(found) => SourceError::OldDatabase { path, found },
        redb::Error::TableDoesNotExist(_) | redb::Error::TableTypeMismatch { .. } => {
            SourceError::Unsupported { path, found: "a database of another kind".into() }
        }
        redb::Error::Io(problem) => SourceError::Unreadable { path, problem },
        redb::Error::PreviousIo => {
            let problem = std::io::Error::other("the disk failed earlier");
            SourceError::Unreadable { path, problem }
        }
        other => damaged(&path, DATABASE, other),
    }
}
