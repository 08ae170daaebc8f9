use std::io::Result;

use drystone_formats::MemoryFile;
use redb::StorageBackend;

/// A file in memory as the storage of the database.
#[derive(Debug)]
pub(super) struct Memory(pub(super) MemoryFile);

impl StorageBackend for Memory {
    fn len(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.0.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.0.write_at(offset, data)
    }
}
