use std::path::Path;

use redb::{Builder, ConcurrencyMode, Database, DatabaseError, StorageError};

use super::{Access, Handle, MemoryFile, Open, caught};
use crate::WorldError;
use crate::stored::memory::Memory;
use crate::stored::salvage::CutFile;

/// Opens a file as it is said.
pub(super) fn open(
    path: &Path,
    access: &Access,
    cache_bytes: usize,
) -> Result<Box<Open>, WorldError> {
    caught(path, || match access {
        Access::Write => {
            let (database, is_shared) = open_to_write(path, cache_bytes)?;
            Handle::Write(database).open(is_shared)
        }
        Access::Read => {
            // Who reads beside a writer does not look whether the file is whole.
            let whole = match exclusive(cache_bytes).open_read_only(path) {
                // It was not closed: that is put right by whoever may write, once.
                Err(DatabaseError::RepairAborted) => {
                    drop(open_to_write(path, cache_bytes)?);
                    None
                }
                // Whoever writes it has looked.
                Err(DatabaseError::DatabaseAlreadyOpen) => None,
                opened => Some(opened?),
            };
            let opened = shared(cache_bytes, |builder| builder.open_read_only(path));
            drop(whole);
            let (database, is_shared) = opened?;
            Handle::Read(database).open(is_shared)
        }
        Access::ReadCut => {
            let mut builder = exclusive(cache_bytes);
            // Else it would read which pages are free, which only who writes has to know.
            builder.set_concurrency_mode(ConcurrencyMode::SingleWriter);
            let database = builder.open_read_only_with_backend(CutFile::open(path)?)?;
            Handle::Read(database).open(false)
        }
        Access::Memory(file) => Handle::Write(open_memory(file, cache_bytes)?).open(false),
        #[cfg(test)]
        Access::Disk(disk) => {
            let opened = shared(cache_bytes, |it| it.create_with_backend(disk.handle()))?;
            Handle::Write(opened.0).open(opened.1)
        }
    })
}

/// Opens a file in memory, or makes one that is empty a database.
pub(super) fn open_memory(
    file: &MemoryFile,
    cache_bytes: usize,
) -> Result<Database, DatabaseError> {
    exclusive(cache_bytes).create_with_backend(Memory(file.clone()))
}

/// Moves pages together and closes the file.
pub(super) fn compact(mut database: Database) -> Result<(), redb::Error> {
    while database.compact()? {}
    Ok(database.close()?)
}

/// With whether others may have it open too.
fn open_to_write(path: &Path, cache_bytes: usize) -> Result<(Database, bool), DatabaseError> {
    shared(cache_bytes, |builder| builder.open(path))
}

/// Opens a file so that one may write it while others read what was there when they began: the
/// writer leaves those pages alone. Where the system has no locks for that, who writes is alone.
pub(super) fn shared<T>(
    cache_bytes: usize,
    open: impl Fn(&Builder) -> Result<T, DatabaseError>,
) -> Result<(T, bool), DatabaseError> {
    let mut builder = exclusive(cache_bytes);
    builder.set_concurrency_mode(ConcurrencyMode::SingleWriter);
    match open(&builder) {
        Err(DatabaseError::Storage(StorageError::Unsupported)) => {
            Ok((open(&exclusive(cache_bytes))?, false))
        }
        opened => Ok((opened?, true)),
    }
}

/// With so much memory for pages, and nobody beside who opens.
pub(super) fn exclusive(cache_bytes: usize) -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(cache_bytes);
    builder
}
