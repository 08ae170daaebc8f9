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

/// Offset of the flags in the database's head, and the flag of a file that was not closed.
const FLAGS: u64 = 9;
const IS_OPEN: u8 = 2;

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
        let flags = FLAGS.checked_sub(offset).and_then(|at| there.get_mut(at as usize));
        if let Some(flags) = flags {
            *flags &= !IS_OPEN;
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
    let mut head = [0; 32];
    if found < head.len() as u64 {
        return Ok(None);
    }
    file.read_exact(&mut head)?;
    let word = |at: usize| {
        u64::from(u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]))
    };
    // In pages: a region's head and data; number of full regions, pages of the last one.
    let [page, region_head, region_data, full, last] = [12, 16, 20, 24, 28].map(word);
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
