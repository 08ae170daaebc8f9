use std::fs::File;
use std::io::{ErrorKind, Read, Result, Seek, SeekFrom};
use std::ops::Bound;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use redb::{BackendError, StorageBackend};

/// A read-only view of a file that was cut short, with the length that its head states. The missing
/// bytes read as zeros. Checksums detect them when they are read.
#[derive(Debug)]
pub(super) struct CutFile {
    file: Mutex<File>,
    found: u64,
    expected: u64,
}

/// Head of a database file of redb 4.5, by offset. Numbers are 4 bytes, little-endian.
mod head {
    /// Flags of the file, 1 byte.
    pub(super) const FLAGS: u64 = 9;
    /// Flag of a file that was not closed.
    pub(super) const IS_OPEN: u8 = 2;
    /// Length of a page, in bytes.
    pub(super) const PAGE_BYTES: usize = 12;
    /// Length of a region's head, in pages.
    pub(super) const REGION_HEAD_PAGES: usize = 16;
    /// Length of a full region's data, in pages.
    pub(super) const REGION_DATA_PAGES: usize = 20;
    /// Number of full regions.
    pub(super) const FULL_REGIONS: usize = 24;
    /// Length of the last region's data, in pages. 0 if all regions are full.
    pub(super) const LAST_REGION_PAGES: usize = 28;
    /// Length of the part of the head that is read here.
    pub(super) const BYTES: usize = 32;
}

impl CutFile {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let (found, expected) = lengths(path)?.ok_or(ErrorKind::InvalidData)?;
        Ok(Self { file: Mutex::new(File::open(path)?), found, expected })
    }
}

impl StorageBackend for CutFile {
    fn len(&self) -> Result<u64> {
        Ok(self.expected)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let left = self.found.saturating_sub(offset).min(out.len() as u64) as usize;
        let (there, cut_off) = out.split_at_mut(left);
        cut_off.fill(0);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(there)?;
        // Clears the flag. The database would otherwise need the whole file for its recovery.
        let flags = head::FLAGS.checked_sub(offset).and_then(|at| there.get_mut(at as usize));
        if let Some(flags) = flags {
            *flags &= !head::IS_OPEN;
        }
        Ok(())
    }

    fn set_len(&self, _: u64) -> Result<()> {
        Err(ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync_data(&self) -> Result<()> {
        Ok(())
    }

    fn write(&self, _: u64, _: &[u8]) -> Result<()> {
        Err(ErrorKind::ReadOnlyFilesystem.into())
    }

    // The repair already holds a lock on the whole file.
    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Locked<bool> {
        Ok(true)
    }

    fn lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Locked<()> {
        Ok(())
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Locked<()> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Locked<bool> {
        Ok(false)
    }
}

type Locked<T> = std::result::Result<T, BackendError>;

/// Describes how much of a file is missing; `None` if its length is correct or unknown.
pub(super) fn cut(path: &Path) -> Option<String> {
    let (found, expected) = lengths(path).ok().flatten()?;
    Some(format!("cut short: {found} of {expected} bytes"))
}

/// Actual length of a file that is too short, and the length that its head states.
fn lengths(path: &Path) -> Result<Option<(u64, u64)>> {
    let mut file = File::open(path)?;
    let found = file.metadata()?.len();
    let mut bytes = [0; head::BYTES];
    if found < bytes.len() as u64 {
        return Ok(None);
    }
    file.read_exact(&mut bytes)?;
    let word = |at: usize| {
        u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
    };
    let [page, full] = [head::PAGE_BYTES, head::FULL_REGIONS].map(word);
    let [region_head, region_data] = [head::REGION_HEAD_PAGES, head::REGION_DATA_PAGES].map(word);
    let last = word(head::LAST_REGION_PAGES);
    let is_head = page.is_power_of_two() && (512..=1 << 16).contains(&page);
    let pages = (region_head + region_data)
        .checked_mul(full)
        .and_then(|pages| pages.checked_add(1 + if last > 0 { region_head + last } else { 0 }));
    let expected = pages.and_then(|pages| pages.checked_mul(page));
    // Ignores an implausible head: a file is not cut to less than a thousandth.
    let expected =
        expected.filter(|&expected| is_head && expected > found && expected / 1000 <= found);
    Ok(expected.map(|expected| (found, expected)))
}
