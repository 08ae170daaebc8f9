use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use redb::{
    Database, DatabaseError, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, TableDefinition,
    WriteTransaction,
};

use super::MemoryFile;
use super::pages::{CHUNKS, LEVELS, Values, ValuesMut};
use crate::WorldError;

mod opening;

use opening::{compact, exclusive, open, open_memory, shared};

/// Which chunks there are, by region.
pub(super) const INDEX: TableDefinition<'_, [i32; 3], &[u8]> = TableDefinition::new("index");
/// What is known of the whole, by name.
pub(super) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");

/// Memory for pages that are read again and again, if nothing else is said.
pub(super) const CACHE_BYTES: usize = 32 << 20;

/// The database file.
///
/// Damage that the database itself finds may be a panic: every call goes through
/// [`read`](Self::read) or [`write`](Self::write), which catch it, and after one the handle is
/// never used again. After the disk failed, which a handle does not get over either, the file
/// is opened anew by whoever asks next.
pub(super) struct Store {
    path: PathBuf,
    access: Access,
    cache_bytes: usize,
    state: RwLock<State>,
}

enum State {
    Open(Box<Open>),
    /// The disk failed; to be opened anew.
    Failed,
    /// Its pages contradict each other.
    Lost,
    Closed,
}

struct Open {
    /// Tells one handle from another of the same file.
    id: u64,
    handle: Handle,
    /// Whether others may have the file open too: one that writes, and any that read.
    is_shared: bool,
    /// Where others may write: all of it as of one commit, the one there was when it was opened.
    snapshot: Option<ReadTransaction>,
    /// The chunks as of the last commit, for readers.
    chunks: Values,
    /// Those of larger voxels; `None` until there are any.
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

/// The tables of chunks and of levels as a transaction sees them.
fn tables(transaction: &ReadTransaction) -> Result<(Values, Option<Values>), redb::Error> {
    let missing = || redb::Error::TableDoesNotExist("chunks".into());
    let chunks = Values::open(transaction, CHUNKS)?.ok_or_else(missing)?;
    Ok((chunks, Values::open(transaction, LEVELS)?))
}

/// How a file is opened.
#[derive(Clone, Debug)]
pub(super) enum Access {
    Write,
    /// Together with others that read.
    Read,
    /// The same, of a file that was cut short.
    ReadCut,
    /// In memory, where nobody else has it.
    Memory(MemoryFile),
    /// On a disk that fails when a test says so.
    #[cfg(test)]
    Disk(super::tests::disk::Disk),
}

impl Store {
    /// Makes the file and its tables; `fill` writes what must be there from the start.
    pub(super) fn create(
        path: &Path,
        fill: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, WorldError> {
        let make = || shared(CACHE_BYTES, |builder| builder.create(path));
        Self::create_by(path, Access::Write, make, fill)
    }

    /// The same in memory.
    pub(super) fn create_in(
        file: &MemoryFile,
        fill: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, WorldError> {
        let make = || Ok((open_memory(file, CACHE_BYTES)?, false));
        Self::create_by(file.name(), Access::Memory(file.clone()), make, fill)
    }

    fn create_by(
        path: &Path,
        access: Access,
        make: impl FnOnce() -> Result<(Database, bool), DatabaseError>,
        fill: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, WorldError> {
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

    pub(super) fn open(path: &Path, access: Access) -> Result<Self, WorldError> {
        Self::open_with(path, access, CACHE_BYTES)
    }

    /// The same, with so much memory for pages that are read again.
    pub(super) fn open_with(
        path: &Path,
        access: Access,
        cache_bytes: usize,
    ) -> Result<Self, WorldError> {
        let state = RwLock::new(State::Open(open(path, &access, cache_bytes)?));
        Ok(Self { path: path.into(), access, cache_bytes, state })
    }

    /// The same in memory; what was not closed is put right there.
    pub(super) fn open_in(file: &MemoryFile, cache_bytes: usize) -> Result<Self, WorldError> {
        Self::open_with(file.name(), Access::Memory(file.clone()), cache_bytes)
    }

    /// Moves pages together and gives back what is free at the file's end.
    pub(super) fn compact(path: &Path) -> Result<(), WorldError> {
        // Pages that somebody reads must not be moved.
        caught(path, || compact(exclusive(CACHE_BYTES).open(path)?))
    }

    /// The same in memory.
    pub(super) fn compact_in(file: &MemoryFile) -> Result<(), WorldError> {
        caught(file.name(), || compact(open_memory(file, CACHE_BYTES)?))
    }

    /// Looks whether the database in memory is whole, what is only for writing included.
    pub(super) fn verify_in(file: &MemoryFile) -> Result<(), WorldError> {
        let is_whole =
            caught(file.name(), || Ok(open_memory(file, CACHE_BYTES)?.check_integrity()?))?;
        if is_whole { Ok(()) } else { Err(damaged(file.name(), DATABASE, PANICKED)) }
    }

    /// Keeps others from changing a file as long as it lives, and changes nothing itself; `None`
    /// where the file cannot be opened, so that nobody does.
    pub(super) fn hold(path: &Path) -> Result<Option<ReadOnlyDatabase>, WorldError> {
        match caught(path, || Ok(exclusive(CACHE_BYTES).open_read_only(path)?)) {
            Err(error @ WorldError::InUse { .. }) => Err(error),
            held => Ok(held.ok()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether another may write the file while it is read here: what is read stays as it was.
    pub(super) fn is_shared(&self) -> bool {
        matches!(&*self.peek(), State::Open(open) if open.is_shared)
    }

    /// Asks the chunks of the last commit.
    pub(super) fn chunks<T>(
        &self,
        work: impl FnOnce(&Values) -> Result<T, redb::Error>,
    ) -> Result<T, WorldError> {
        self.guarded(|open| work(&open.chunks))
    }

    /// Asks the chunks of larger voxels, where there are any.
    pub(super) fn levels<T>(
        &self,
        work: impl FnOnce(&Values) -> Result<Option<T>, redb::Error>,
    ) -> Result<Option<T>, WorldError> {
        self.guarded(|open| open.levels.as_ref().map_or(Ok(None), work))
    }

    /// Asks any table: as of now, or where others may write, as of when it was opened.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, WorldError> {
        self.guarded(|open| match &open.snapshot {
            Some(snapshot) => work(snapshot),
            None => work(&open.handle.begin_read()?),
        })
    }

    /// Changes tables, all at once or not at all: what was returned from is there after
    /// whatever happens.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, WorldError> {
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
            return Err(WorldError::ReadOnly { path: self.path.clone() });
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
    ) -> Result<T, WorldError> {
        self.open_again()?;
        let (done, id) = {
            let state = self.peek();
            let open = match &*state {
                State::Open(open) => open,
                State::Closed => return Err(damaged(&self.path, DATABASE, "it was closed")),
                _ => return Err(damaged(&self.path, DATABASE, "it failed before")),
            };
            (catch_unwind(AssertUnwindSafe(|| work(open))), open.id)
        };
        match done {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => {
                if is_of_disk(&error) {
                    self.give_up(id, State::Failed);
                }
                Err(world_error(&self.path, error))
            }
            Err(_) => {
                self.give_up(id, State::Lost);
                Err(damaged(&self.path, DATABASE, PANICKED))
            }
        }
    }

    fn open_again(&self) -> Result<(), WorldError> {
        if !matches!(*self.peek(), State::Failed) {
            return Ok(());
        }
        let mut state = self.lock();
        if matches!(*state, State::Failed) {
            *state = State::Open(open(&self.path, &self.access, self.cache_bytes)?);
        }
        Ok(())
    }

    /// Uses the handle `id` never again, unless another took its place meanwhile.
    fn give_up(&self, id: u64, to: State) {
        let mut state = self.lock();
        if !matches!(&*state, State::Open(open) if open.id == id) {
            return;
        }
        let is_lost = matches!(to, State::Lost);
        let old = std::mem::replace(&mut *state, to);
        if is_lost {
            // Closing would write to the file by what is not known to be true.
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

    /// Closes the file. Where that fails, it can be asked again.
    pub(super) fn close(&self) -> Result<(), WorldError> {
        let mut state = self.lock();
        let State::Open(open) = std::mem::replace(&mut *state, State::Closed) else {
            return Ok(());
        };
        let closed = caught(&self.path, || match open.handle {
            Handle::Write(database) => Ok(database.close()?),
            Handle::Read(database) => Ok(database.close()?),
        });
        closed.inspect_err(|error| {
            let is_of_disk = matches!(error, WorldError::Unreadable { .. });
            *state = if is_of_disk { State::Failed } else { State::Lost };
        })
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Whoever wants to know calls `close` before.
        let _ = self.close();
    }
}

/// The place of damage that is the whole file's: nothing more can be read of it.
pub(crate) const DATABASE: &str = "database";
const PANICKED: &str = "its pages contradict each other";

/// Does what a damaged file may make panic.
fn caught<T>(path: &Path, work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, WorldError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| world_error(path, error)),
        Err(_) => Err(damaged(path, DATABASE, PANICKED)),
    }
}

/// Whether the disk failed, now or before: the handle refuses to work from then on.
const fn is_of_disk(error: &redb::Error) -> bool {
    matches!(error, redb::Error::Io(_) | redb::Error::PreviousIo)
}

/// A transaction that keeps with itself what tells how pages are used: after a kill, opening
/// neither reads the whole file nor has to find out whether the last commit is whole.
fn begin_write(database: &Database) -> Result<WriteTransaction, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_quick_repair(true);
    Ok(transaction)
}

/// Damage at a place, with what to do about it.
pub(super) fn damaged(path: &Path, place: impl Display, problem: impl Display) -> WorldError {
    WorldError::BadStored {
        path: path.into(),
        place: place.to_string(),
        problem: problem.to_string(),
    }
}

/// What the database says in our words.
fn world_error(path: &Path, error: redb::Error) -> WorldError {
    let path = path.to_path_buf();
    match error {
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => {
            WorldError::InUse { path }
        }
        redb::Error::UpgradeRequired(found) => WorldError::OldDatabase { path, found },
        redb::Error::TableDoesNotExist(_) | redb::Error::TableTypeMismatch { .. } => {
            WorldError::Unsupported { path, found: "a database of something else".into() }
        }
        redb::Error::Io(problem) => WorldError::Unreadable { path, problem },
        redb::Error::PreviousIo => {
            let problem = std::io::Error::other("the disk failed before");
            WorldError::Unreadable { path, problem }
        }
        other => damaged(&path, DATABASE, other),
    }
}
