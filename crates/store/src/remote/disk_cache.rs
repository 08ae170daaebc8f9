use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use hashbrown::HashMap;
use tempfile::NamedTempFile;
use twox_hash::{XxHash3_64, XxHash3_128};

use crate::ranges::BLOCK_BYTES;

/// Parts of a remote file on the disk, in a folder that all processes share.
///
/// Each file is a segment of 16 blocks: their checksums, 0 for those that are not there, then the blocks.
/// A segment is replaced as a whole, so that readers and writers of several processes do not disturb each
/// other. Failures are ignored: the part is then received again.
pub(super) struct DiskCache {
    /// Folder of all remote files.
    root: PathBuf,
    /// Folder of this one. Its name is the checksum of the start of the file, which covers its content.
    folder: PathBuf,
    max_bytes: u64,
    file_bytes: u64,
    /// Bytes written since the size of the folder was last checked.
    written: AtomicU64,
    /// Blocks of each segment that are there, a bit each, as far as that is known.
    known: Mutex<HashMap<u64, u16>>,
}

const SEGMENT_BLOCKS: u64 = 16;
const SUMS_BYTES: usize = 8 * SEGMENT_BLOCKS as usize;
/// Number of bytes after which the size of the folder is checked.
const CHECK_BYTES: u64 = 64 << 20;
/// Time after which reading a segment marks it as recently used again.
const MARK_AFTER: Duration = Duration::from_secs(3_600);

/// The blocks of a segment. `None`: not there.
type Segment = [Option<Vec<u8>>; SEGMENT_BLOCKS as usize];

impl DiskCache {
    /// Opens the parts of a file of this length that starts with `front`. Deletes the least recently used
    /// parts of all files beyond the limit.
    pub(super) fn open(root: &Path, max_bytes: u64, file_bytes: u64, front: &[u8]) -> Self {
        let name = format!("{:032x}-{file_bytes:x}", XxHash3_128::oneshot(front));
        let folder = root.join(name);
        let (root, written) = (root.to_path_buf(), AtomicU64::new(0));
        let known = Mutex::default();
        let cache = Self { root, folder, max_bytes, file_bytes, written, known };
        cache.shrink_later();
        cache
    }

    /// Returns a block, if it is there and undamaged.
    pub(super) fn read(&self, block: u64) -> Option<Vec<u8>> {
        let (index, at) = (block / SEGMENT_BLOCKS, (block % SEGMENT_BLOCKS) as usize);
        let known = self.known().get(&index).copied();
        if known.is_some_and(|mask| mask >> at & 1 == 0) {
            return None;
        }
        let opened = self.open_segment(index);
        let sums = opened.as_ref().map_or([0; SEGMENT_BLOCKS as usize], |it| it.1);
        self.known().insert(index, mask_of(&sums.map(|sum| sum != 0)));
        let (mut file, _) = opened.filter(|_| sums[at] != 0)?;
        let before = sums[..at].iter().filter(|sum| **sum != 0).count() as u64;
        file.seek(SeekFrom::Start(SUMS_BYTES as u64 + before * BLOCK_BYTES)).ok()?;
        self.read_block(&mut file, block, sums[at])
    }

    /// Opens a segment, and returns the checksums of its blocks.
    fn open_segment(&self, index: u64) -> Option<(File, [u64; SEGMENT_BLOCKS as usize])> {
        let path = self.path_of(index);
        let mut file = File::open(&path).ok()?;
        let mut sums = [[0; 8]; SEGMENT_BLOCKS as usize];
        file.read_exact(sums.as_flattened_mut()).ok()?;
        let is_old = |time: SystemTime| time.elapsed().is_ok_and(|age| age > MARK_AFTER);
        if file.metadata().and_then(|it| it.modified()).is_ok_and(is_old) {
            let marked = File::options().write(true).open(&path);
            let _ = marked.and_then(|file| file.set_modified(SystemTime::now()));
        }
        Some((file, sums.map(u64::from_le_bytes)))
    }

    /// Reads the next block of a segment. `None` if it is cut off or damaged.
    fn read_block(&self, file: &mut File, block: u64, sum: u64) -> Option<Vec<u8>> {
        let rest = self.file_bytes.checked_sub(block * BLOCK_BYTES)?;
        let mut bytes = vec![0; rest.min(BLOCK_BYTES) as usize];
        file.read_exact(&mut bytes).ok()?;
        (sum_of(&bytes) == sum).then_some(bytes)
    }

    /// Adds a range of whole blocks. They replace those that are there.
    pub(super) fn write(&self, range: &Range<u64>, bytes: &[u8]) {
        let first = range.start / BLOCK_BYTES;
        let mut blocks = (first..).zip(bytes.chunks(BLOCK_BYTES as usize)).peekable();
        while let Some(&(block, _)) = blocks.peek() {
            let index = block / SEGMENT_BLOCKS;
            let mut segment = self.read_segment(index).unwrap_or_default();
            while let Some((block, bytes)) = blocks.next_if(|it| it.0 / SEGMENT_BLOCKS == index) {
                segment[(block % SEGMENT_BLOCKS) as usize] = Some(bytes.to_vec());
            }
            // A part that cannot be stored is received again.
            let is_stored = self.write_segment(index, &segment).is_ok();
            self.known().insert(
                index,
                if is_stored { mask_of(&segment.each_ref().map(Option::is_some)) } else { 0 },
            );
        }
        if self.written.load(Ordering::Relaxed) > CHECK_BYTES.min(self.max_bytes / 8) {
            self.shrink_later();
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<u64, u16>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path_of(&self, index: u64) -> PathBuf {
        self.folder.join(format!("{index:x}"))
    }

    fn read_segment(&self, index: u64) -> Option<Segment> {
        let (mut file, sums) = self.open_segment(index)?;
        let mut segment = Segment::default();
        for (block, sum) in (index * SEGMENT_BLOCKS..).zip(sums).filter(|(_, sum)| *sum != 0) {
            segment[(block % SEGMENT_BLOCKS) as usize] = self.read_block(&mut file, block, sum);
        }
        Some(segment)
    }

    fn write_segment(&self, index: u64, segment: &Segment) -> io::Result<()> {
        let sums = segment.iter().map(|block| block.as_deref().map_or(0, sum_of).to_le_bytes());
        let mut bytes: Vec<u8> = sums.flatten().collect();
        segment.iter().flatten().for_each(|block| bytes.extend_from_slice(block));
        fs::create_dir_all(&self.folder)?;
        let file = NamedTempFile::new_in(&self.folder)?;
        fs::write(file.path(), &bytes)?;
        file.persist(self.path_of(index))?;
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Deletes parts beyond the limit on another thread: that may take a second.
    fn shrink_later(&self) {
        self.written.store(0, Ordering::Relaxed);
        let (root, max_bytes) = (self.root.clone(), self.max_bytes);
        std::thread::spawn(move || shrink(&root, max_bytes));
    }
}

/// Deletes the least recently used parts of all files until a tenth of the limit is free, if the folder is
/// over the limit.
fn shrink(root: &Path, max_bytes: u64) {
    let folders = fs::read_dir(root).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
    let mut files: Vec<(SystemTime, u64, PathBuf)> = files
        .filter_map(|file| {
            let file = file.ok()?;
            let meta = file.metadata().ok()?;
            Some((meta.modified().ok()?, meta.len(), file.path()))
        })
        .collect();
    let mut bytes: u64 = files.iter().map(|(_, len, _)| len).sum();
    if bytes <= max_bytes {
        return;
    }
    files.sort_unstable();
    for (_, len, path) in files {
        if bytes <= max_bytes / 10 * 9 {
            break;
        }
        // Another process may delete it at the same time.
        if fs::remove_file(&path).is_ok() {
            bytes -= len;
        }
        // Succeeds for empty folders only.
        let _ = path.parent().map(fs::remove_dir);
    }
}

/// Returns the blocks of a segment that are there, a bit each.
fn mask_of(present: &[bool]) -> u16 {
    let bits = (0_u16..).zip(present).filter(|(_, present)| **present);
    bits.fold(0, |mask, (at, _)| mask | 1 << at)
}

/// Checksum of a block; never 0.
fn sum_of(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes).max(1)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const FILE_BYTES: u64 = 100 * BLOCK_BYTES + 100;

    fn content() -> Vec<u8> {
        (0..FILE_BYTES).map(|at| ((at * 31) >> 7) as u8).collect()
    }

    fn bytes_of(range: &Range<u64>) -> Vec<u8> {
        content()[range.start as usize..range.end as usize].to_vec()
    }

    /// Returns a range of whole blocks, if all of it is there.
    fn read(cache: &DiskCache, range: &Range<u64>) -> Option<Vec<u8>> {
        // As in another process.
        cache.known().clear();
        let blocks = range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES);
        let blocks: Option<Vec<_>> = blocks.map(|block| DiskCache::read(cache, block)).collect();
        blocks.map(|blocks| blocks.concat())
    }

    #[test]
    fn blocks_are_read_back_by_another_process_and_damage_is_not() {
        let root = TempDir::new().unwrap();
        let cache = DiskCache::open(root.path(), 1 << 30, FILE_BYTES, b"front");
        let written = [62 * BLOCK_BYTES..66 * BLOCK_BYTES, 100 * BLOCK_BYTES..FILE_BYTES];
        for range in &written {
            assert_eq!(read(&cache, range), None);
            cache.write(range, &bytes_of(range));
        }
        let other = DiskCache::open(root.path(), 1 << 30, FILE_BYTES, b"front");
        for range in &written {
            assert_eq!(read(&other, range), Some(bytes_of(range)));
        }
        assert_eq!(read(&other, &(61 * BLOCK_BYTES..66 * BLOCK_BYTES)), None, "a part");
        let changed = DiskCache::open(root.path(), 1 << 30, FILE_BYTES, b"another front");
        assert_eq!(read(&changed, &written[0]), None, "another file at the address");
        // Every damaged or cut segment is ignored.
        let path = other.path_of(3);
        let whole = fs::read(&path).unwrap();
        let range = 62 * BLOCK_BYTES..64 * BLOCK_BYTES;
        for at in (0..whole.len()).step_by(97) {
            let mut wrong = whole.clone();
            wrong[at] ^= 4;
            fs::write(&path, &wrong).unwrap();
            assert!(read(&other, &range).is_none_or(|found| found == bytes_of(&range)), "{at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(read(&other, &range), None, "{at}");
        }
        cache.write(&range, &bytes_of(&range));
        assert_eq!(read(&other, &range), Some(bytes_of(&range)));
    }

    #[test]
    fn the_folder_stays_within_its_limit() {
        let root = TempDir::new().unwrap();
        let max_bytes = 12 * BLOCK_BYTES;
        let all = 0..FILE_BYTES;
        for (name, age_s) in [(b"oldest", 300), (b"middle", 200), (b"newest", 100)] {
            let cache = DiskCache::open(root.path(), u64::MAX, FILE_BYTES, name);
            let range = 0..4 * BLOCK_BYTES;
            cache.write(&range, &bytes_of(&range));
            let time = SystemTime::now() - Duration::from_secs(age_s);
            File::options().write(true).open(cache.path_of(0)).unwrap().set_modified(time).unwrap();
        }
        shrink(root.path(), max_bytes);
        let newest = DiskCache::open(root.path(), max_bytes, FILE_BYTES, b"newest");
        let range = 0..4 * BLOCK_BYTES;
        assert_eq!(read(&newest, &range), Some(bytes_of(&range)));
        for (name, is_there) in [(b"oldest", false), (b"middle", true)] {
            let cache = DiskCache::open(root.path(), max_bytes, FILE_BYTES, name);
            assert_eq!(read(&cache, &range).is_some(), is_there);
        }
        assert_eq!(read(&newest, &all), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_stores_nothing() {
        let root = TempDir::new().unwrap();
        let file = root.path().join("a file");
        fs::write(&file, "text").unwrap();
        let cache = DiskCache::open(&file, 1 << 30, FILE_BYTES, b"front");
        cache.write(&(0..BLOCK_BYTES), &bytes_of(&(0..BLOCK_BYTES)));
        assert_eq!(read(&cache, &(0..BLOCK_BYTES)), None);
        assert_eq!(fs::read(&file).unwrap(), b"text");
    }
}
