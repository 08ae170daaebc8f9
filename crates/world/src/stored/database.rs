use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use redb::{
    Builder, Database, DatabaseError, ReadOnlyDatabase, ReadOnlyTable, ReadTransaction,
    ReadableDatabase, StorageError, TableDefinition, TableError, WriteTransaction,
};

use super::group::Key;
use crate::WorldError;

/// Values of eight chunks, by group.
pub(super) const CHUNKS: TableDefinition<'_, &Key, &[u8]> = TableDefinition::new("chunks");
/// Values of eight chunks of larger voxels, by group.
pub(super) const LEVELS: TableDefinition<'_, &Key, &[u8]> = TableDefinition::new("levels");
/// Which chunks there are, by region.
pub(super) const INDEX: TableDefinition<'_, [i32; 3], &[u8]> = TableDefinition::new("index");
/// What is known of the whole, by name.
pub(super) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");

/// Memory for pages that are read again and again.
const CACHE_BYTES: usize = 32 << 20;

/// The database file.
///
/// Damage that the database itself finds may be a panic: every call goes through
/// [`read`](Self::read) or [`write`](Self::write), which catch it, and after one the handle is
/// never used again.
pub(super) struct Store {
    path: PathBuf,
    open: RwLock<Option<Open>>,
}

struct Open {
    handle: Handle,
    /// The chunks as of the last commit, for readers.
    chunks: ChunksTable,
    /// Those of larger voxels; `None` until there are any.
    levels: Option<ChunksTable>,
}

pub(super) type ChunksTable = ReadOnlyTable<&'static Key, &'static [u8]>;

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

    fn open(self) -> Result<Open, redb::Error> {
        let (chunks, levels) = tables(&self.begin_read()?)?;
        Ok(Open { handle: self, chunks, levels })
    }
}

/// The tables of chunks and of levels as a transaction sees them.
fn tables(
    transaction: &ReadTransaction,
) -> Result<(ChunksTable, Option<ChunksTable>), redb::Error> {
    let levels = match transaction.open_table(LEVELS) {
        Ok(levels) => Some(levels),
        Err(TableError::TableDoesNotExist(_)) => None,
        Err(error) => return Err(error.into()),
    };
    Ok((transaction.open_table(CHUNKS)?, levels))
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    /// Together with others that read.
    Read,
}

impl Store {
    /// Makes the file and its tables; `fill` writes what must be there from the start.
    pub(super) fn create(
        path: &Path,
        fill: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, WorldError> {
        Self::opened(path, || {
            let database = builder().create(path)?;
            let transaction = begin_write(&database)?;
            transaction.open_table(CHUNKS)?;
            transaction.open_table(INDEX)?;
            fill(&transaction)?;
            transaction.commit()?;
            Handle::Write(database).open()
        })
    }

    pub(super) fn open(path: &Path, access: Access) -> Result<Self, WorldError> {
        Self::opened(path, || {
            let database = match access {
                Access::Write => Handle::Write(builder().open(path)?),
                Access::Read => match builder().open_read_only(path) {
                    // It was not closed: that is put right by whoever may write, once.
                    Err(DatabaseError::RepairAborted) => {
                        drop(builder().open(path)?);
                        Handle::Read(builder().open_read_only(path)?)
                    }
                    opened => Handle::Read(opened?),
                },
            };
            database.open()
        })
    }

    fn opened(
        path: &Path,
        work: impl FnOnce() -> Result<Open, redb::Error>,
    ) -> Result<Self, WorldError> {
        let opened = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(opened) => opened.map_err(|error| world_error(path, error))?,
            Err(_) => return Err(damaged(path, DATABASE, PANICKED)),
        };
        Ok(Self { path: path.into(), open: RwLock::new(Some(opened)) })
    }

    /// Moves pages together and gives back what is free at the file's end.
    pub(super) fn compact(path: &Path) -> Result<(), WorldError> {
        let compacted = catch_unwind(AssertUnwindSafe(|| -> Result<(), redb::Error> {
            let mut database = builder().open(path)?;
            while database.compact()? {}
            Ok(database.close()?)
        }));
        match compacted {
            Ok(compacted) => compacted.map_err(|error| world_error(path, error)),
            Err(_) => Err(damaged(path, DATABASE, PANICKED)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Asks the chunks of the last commit.
    pub(super) fn chunks<T>(
        &self,
        work: impl FnOnce(&ChunksTable) -> Result<T, redb::Error>,
    ) -> Result<T, WorldError> {
        self.guarded(|open| work(&open.chunks))
    }

    /// Asks the chunks of larger voxels, where there are any.
    pub(super) fn levels<T>(
        &self,
        work: impl FnOnce(&ChunksTable) -> Result<Option<T>, redb::Error>,
    ) -> Result<Option<T>, WorldError> {
        self.guarded(|open| open.levels.as_ref().map_or(Ok(None), work))
    }

    /// Asks any table, as of now.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, WorldError> {
        self.guarded(|open| work(&open.handle.begin_read()?))
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
                Ok(Some((done, tables(&database.begin_read()?)?)))
            }
        })?
        else {
            return Err(WorldError::ReadOnly { path: self.path.clone() });
        };
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.as_mut() {
            (open.chunks, open.levels) = done.1;
        }
        Ok(done.0)
    }

    fn guarded<T>(
        &self,
        work: impl FnOnce(&Open) -> Result<T, redb::Error>,
    ) -> Result<T, WorldError> {
        let done = {
            let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
            let Some(open) = open.as_ref() else {
                return Err(damaged(&self.path, DATABASE, "it failed before"));
            };
            catch_unwind(AssertUnwindSafe(|| work(open)))
        };
        match done {
            Ok(done) => done.map_err(|error| world_error(&self.path, error)),
            Err(_) => {
                let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
                // Closing would write to the file by what is not known to be true.
                std::mem::forget(open.take());
                Err(damaged(&self.path, DATABASE, PANICKED))
            }
        }
    }

    /// Closes the file; says if that failed.
    pub(super) fn close(&self) -> Result<(), WorldError> {
        let open = self.open.write().unwrap_or_else(PoisonError::into_inner).take();
        let closed = catch_unwind(AssertUnwindSafe(|| match open.map(|open| open.handle) {
            Some(Handle::Write(database)) => database.close(),
            Some(Handle::Read(database)) => database.close(),
            None => Ok(()),
        }));
        match closed {
            Ok(closed) => closed.map_err(|error| world_error(&self.path, error.into())),
            Err(_) => Err(damaged(&self.path, DATABASE, PANICKED)),
        }
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

fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    builder
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
        redb::Error::UpgradeRequired(found) => {
            WorldError::NewerStored { path, found: found.into(), known: super::meta::VERSION }
        }
        redb::Error::TableDoesNotExist(_) | redb::Error::TableTypeMismatch { .. } => {
            WorldError::Unsupported { path, found: "a database of something else".into() }
        }
        redb::Error::Io(problem) => WorldError::Unreadable { path, problem },
        other => damaged(&path, DATABASE, other),
    }
}

/// Damage that is found within a transaction, in the database's words.
pub(super) fn corrupted(problem: impl Display) -> redb::Error {
    StorageError::Corrupted(problem.to_string()).into()
}
