use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::TempPath;

use super::publish;
use crate::WorldError;

/// A copy of a file that was cut short, as long as the file says that it was. What was cut off
/// is zeros there: it is found to be wrong when it is read, since all that is stored has its
/// checksum. Removed when dropped.
pub(super) struct Salvage {
    path: TempPath,
    /// What was found, in words.
    pub(super) problem: String,
}

/// Bytes of the database's head that are looked at, and where in them is what.
const HEAD_BYTES: usize = 32;
const FLAGS: usize = 9;
/// In the flags: that it was not closed.
const IS_OPEN: u8 = 2;

impl Salvage {
    /// `None` for a file that is as long as it says, or whose head says nothing.
    ///
    /// # Errors
    /// A file that cannot be read, or no room for the copy.
    pub(super) fn of(path: &Path) -> Result<Option<Self>, WorldError> {
        let unreadable = |problem| WorldError::Unreadable { path: path.into(), problem };
        let Some((head, found, expected)) = lengths(path).map_err(unreadable)? else {
            return Ok(None);
        };
        let copy = publish::reserve(path).map_err(unreadable)?;
        let problem = format!("cut short: {found} of {expected} bytes");
        let salvage = Self { path: copy, problem };
        salvage.fill(path, head, expected).map_err(unreadable)?;
        Ok(Some(salvage))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn fill(&self, path: &Path, head: [u8; HEAD_BYTES], expected: u64) -> std::io::Result<()> {
        fs::copy(path, &self.path)?;
        let mut file = OpenOptions::new().write(true).open(&self.path)?;
        file.set_len(expected)?;
        // Opened as if it had been closed: else all of it would have to be whole.
        file.seek(SeekFrom::Start(FLAGS as u64))?;
        file.write_all(&[head[FLAGS] & !IS_OPEN])
    }
}

/// What is wrong with the length of a file that cannot be opened; `None` where nothing is.
pub(super) fn cut(path: &Path) -> Option<String> {
    let (_, found, expected) = lengths(path).ok().flatten()?;
    Some(format!("cut short: {found} of {expected} bytes"))
}

/// The head of a file that is too short, its length, and the one that the head tells.
fn lengths(path: &Path) -> std::io::Result<Option<([u8; HEAD_BYTES], u64, u64)>> {
    let mut file = File::open(path)?;
    let found = file.metadata()?.len();
    let mut head = [0; HEAD_BYTES];
    if found < HEAD_BYTES as u64 {
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
    Ok(expected.map(|expected| (head, found, expected)))
}
