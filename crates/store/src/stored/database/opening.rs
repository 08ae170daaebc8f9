use std::io;
use std::path::Path;

use drystone_formats::{MemoryFile, SourceError};
use redb::{Builder, ConcurrencyMode, Database, DatabaseError, StorageBackend, StorageError};

use super::{Access, Handle, Open, caught};
use crate::stored::salvage::CutFile;

/// Opens a file in the given access mode.
pub(super) fn open(
    path: &Path,
    access: &Access,
    cache_bytes: usize,
) -> Result<Box<Open>, SourceError> {
    caught(path, || match access {
        Access::Write => {
            let (database, is_shared) = open_to_write(path, cache_bytes)?;
            Handle::Write(database).open(is_shared)
        }
        Access::Read => {
            // A shared reader does not check that the file was closed properly. Check here.
            let whole = match exclusive(cache_bytes).open_read_only(path) {
                // Not closed properly: opening for writing recovers the file.
                Err(DatabaseError::RepairAborted) => {
                    drop(open_to_write(path, cache_bytes)?);
                    None
                }
                // The current writer has checked it.
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
            // The default mode would read the list of free pages, which only writers need.
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

/// Opens a file in memory, or creates a database in an empty one.
pub(super) fn open_memory(
    file: &MemoryFile,
    cache_bytes: usize,
) -> Result<Database, DatabaseError> {
    exclusive(cache_bytes).create_with_backend(Memory(file.clone()))
}

/// Moves used pages together and closes the file.
pub(super) fn compact(mut database: Database) -> Result<(), redb::Error> {
    while database.compact()? {}
    Ok(database.close()?)
}

/// Opens a file for writing. The flag is true if readers may open it too.
fn open_to_write(path: &Path, cache_bytes: usize) -> Result<(Database, bool), DatabaseError> {
    shared(cache_bytes, |builder| builder.open(path))
}

/// Opens a file so that one writer and any number of readers can share it. The writer does not
/// touch pages that readers use. On systems without the required locks, the writer has the file
/// alone and the flag is false.
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

/// Builder for exclusive access with a page cache of `cache_bytes` bytes.
pub(super) fn exclusive(cache_bytes: usize) -> Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(cache_bytes);
    builder
}

/// A file in memory as the storage of the database.
#[derive(Debug)]
struct Memory(MemoryFile);

impl StorageBackend for Memory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, data)
    }
}
