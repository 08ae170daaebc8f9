use std::fs::File;
use std::io::{ErrorKind, Read, Result, Seek, SeekFrom};
use std::ops::Bound;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use redb::{BackendError, StorageBackend};

/// A file that was cut short, read as if it were as long as its head says. What was cut off is
/// zeros: it is found to be wrong when it is read, since all that is stored has its checksum.
/// Nothing is written.
#[derive(Debug)]
pub(super) struct CutFile {
    file: Mutex<File>,
    found: u64,
    expected: u64,
}

/// Where in the database's head the flags are, and the one that says that it was not closed.
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
        // As if it had been closed: else all of it would have to be whole.
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

    // Who repairs a file holds a lock of all of it.
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

/// What is wrong with the length of a file that cannot be opened; `None` where nothing is.
pub(super) fn cut(path: &Path) -> Option<String> {
    let (found, expected) = lengths(path).ok().flatten()?;
    Some(format!("cut short: {found} of {expected} bytes"))
}

/// The length of a file that is too short, and the one that its head tells.
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
    // Pages to a region: its head and its data; regions that are full, and pages of the last.
    let [page, region_head, region_data, full, last] = [12, 16, 20, 24, 28].map(word);
    let is_head = page.is_power_of_two() && (512..=1 << 16).contains(&page);
    let pages = (region_head + region_data)
        .checked_mul(full)
        .and_then(|pages| pages.checked_add(1 + if last > 0 { region_head + last } else { 0 }));
    let expected = pages.and_then(|pages| pages.checked_mul(page));
    // A head that lies is not believed: a world is not a thousand times as long as its file.
    let expected =
        expected.filter(|&expected| is_head && expected > found && expected / 1000 <= found);
    Ok(expected.map(|expected| (found, expected)))
}
