use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use drystone_formats::SourceError;
use drystone_voxel::{Material, NodePos};

use super::folder_of;
use crate::codec::{opened, sealed};
use crate::packed::directory::{Entry, EntryContent};
use crate::packed::group::{self, Content, Encoded};
use crate::packed::key::GroupKey;

/// The folder in which records are collected until they are joined: for each level a file with all records,
/// and one with their directory entries. `progress` names the state from which a killed run is resumed.
///
/// The lengths in `progress` decide. What files have beyond them was written after it, and is cut off.
pub(super) struct Spools {
    /// The packed world that is written.
    pub(super) path: PathBuf,
    folder: PathBuf,
    /// Held open with a lock, so that two runs do not write the same files.
    _lock: File,
    fingerprint: u64,
    levels: Vec<Option<Level>>,
}

/// Files of a level.
struct Level {
    records: BufWriter<File>,
    record_bytes: u64,
    entries: BufWriter<File>,
    entry_count: u64,
}

/// State of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Begun {
    /// Number of processed cells.
    pub(super) cells: u64,
    /// Number of processed chunk positions.
    pub(super) done: u64,
    /// Number of chunks that could not be read.
    pub(super) lost: u64,
}

/// Files of the folder, besides those of the levels.
const LOCK: &str = "lock";
const PROGRESS: &str = "progress";
const PROGRESS_NEW: &str = "progress.new";
const DIRECTORY: &str = "directory";
/// Length of an entry in a file, in bytes: rank, mask, length of the record (0 without one), and its checksum
/// or the material.
const ENTRY_BYTES: usize = 16 + 1 + 4 + 8;
/// Number of levels.
const LEVELS: usize = NodePos::MAX_LEVEL as usize + 1;

impl Spools {
    /// Opens the folder beside `path`, or creates it.
    ///
    /// # Errors
    /// When the folder cannot be written, or another process is packing there.
    pub(super) fn open(path: &Path, fingerprint: u64) -> Result<Self, SourceError> {
        let folder = folder_of(path);
        let unwritable = |problem| SourceError::Unwritable { path: folder.clone(), problem };
        // The final file is written at the end: find out now if that is impossible.
        if path.is_dir() {
            let problem = io::ErrorKind::IsADirectory.into();
            return Err(SourceError::Unwritable { path: path.into(), problem });
        }
        fs::create_dir_all(&folder).map_err(unwritable)?;
        let mut options = OpenOptions::new();
        let lock = options.create(true).truncate(false).write(true).open(folder.join(LOCK));
        let lock = lock.map_err(unwritable)?;
        // File systems without locks do not protect against a second run.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(SourceError::InUse { path: folder });
        }
        let levels = std::iter::repeat_with(|| None).take(LEVELS).collect();
        Ok(Self { path: path.into(), folder, _lock: lock, fingerprint, levels })
    }

    /// Opens the files of an earlier run, and returns where it was and the state that it saved. Without one, all
    /// files are empty.
    ///
    /// # Errors
    /// An earlier run had another source, or its files cannot be read.
    pub(super) fn resume(&mut self) -> Result<Option<(Begun, Vec<u8>)>, SourceError> {
        let path = self.folder.join(PROGRESS);
        let saved = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(problem) => return Err(SourceError::Unreadable { path, problem }),
        };
        let mut rest =
            opened(&saved).ok_or_else(|| self.refused("its progress file is damaged"))?;
        if take_u64(&mut rest) != Some(self.fingerprint) {
            let problem = "it was begun with another source or version, or this source has changed";
            return Err(self.refused(problem));
        }
        let (begun, lens) =
            positions(&mut rest).ok_or_else(|| self.refused("another version began it"))?;
        for (level, (record_bytes, entry_count)) in (0..).zip(lens) {
            if entry_count > 0 {
                self.levels[usize::from(level)] =
                    Some(self.level_files(level, record_bytes, entry_count)?);
            }
        }
        Ok(Some((begun, rest.to_vec())))
    }

    /// The error of a folder that cannot be resumed.
    pub(super) fn refused(&self, problem: &'static str) -> SourceError {
        SourceError::NotResumed { path: self.folder.clone(), problem }
    }

    /// Opens the files of a level and cuts them to a length.
    fn level_files(
        &self,
        level: u8,
        record_bytes: u64,
        entry_count: u64,
    ) -> Result<Level, SourceError> {
        let open = |name: String, len: u64| {
            let path = self.folder.join(name);
            let mut options = OpenOptions::new();
            let file = options.create(true).truncate(false).read(true).write(true).open(&path);
            let cut = file.and_then(|mut file| {
                if file.metadata()?.len() < len {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                file.set_len(len)?;
                file.seek(SeekFrom::Start(len))?;
                Ok(BufWriter::with_capacity(1 << 16, file))
            });
            cut.map_err(|problem| SourceError::Unwritable { path, problem })
        };
        Ok(Level {
            records: open(records_name(level.into()), record_bytes)?,
            record_bytes,
            entries: open(entries_name(level.into()), entry_count * ENTRY_BYTES as u64)?,
            entry_count,
        })
    }

    /// Appends a group. Groups of a level come in the order of the curve.
    ///
    /// # Errors
    /// When the disk is full.
    pub(super) fn put(&mut self, key: GroupKey, encoded: &Encoded) -> Result<(), SourceError> {
        let (record, content) = match &encoded.content {
            Content::Uniform(material) => (&[][..], EntryContent::Uniform(*material)),
            Content::Record(record) => {
                let (len, checksum) = (record.len() as u32, group::checksum(key, record));
                (record.as_slice(), EntryContent::Record { len, checksum })
            }
        };
        self.put_entry(Entry { key, mask: encoded.mask, content }, record)
    }

    /// Appends a group like [`put`](Self::put), with its record as it is in a file.
    ///
    /// # Errors
    /// When the disk is full.
    pub(super) fn put_entry(&mut self, entry: Entry, record: &[u8]) -> Result<(), SourceError> {
        let Entry { key, mask, content } = entry;
        if self.levels[usize::from(key.level)].is_none() {
            self.levels[usize::from(key.level)] = Some(self.level_files(key.level, 0, 0)?);
        }
        let Some(level) = &mut self.levels[usize::from(key.level)] else { return Ok(()) };
        let (len, word) = match content {
            EntryContent::Uniform(material) => (0, u64::from(material.0)),
            EntryContent::Record { len, checksum } => (len, checksum),
        };
        let mut bytes = key.rank.to_le_bytes().to_vec();
        bytes.push(mask);
        bytes.extend(len.to_le_bytes());
        bytes.extend(word.to_le_bytes());
        level.record_bytes += record.len() as u64;
        level.entry_count += 1;
        let written =
            level.records.write_all(record).and_then(|()| level.entries.write_all(&bytes));
        written.map_err(|problem| self.unwritable(problem))
    }

    /// Saves where the run is and the caller's state, from which the next run resumes.
    ///
    /// # Errors
    /// When the disk is full.
    pub(super) fn save(&mut self, begun: Begun, state: &[u8]) -> Result<(), SourceError> {
        let mut bytes = self.fingerprint.to_le_bytes().to_vec();
        [begun.cells, begun.done, begun.lost].iter().for_each(|it| bytes.extend(it.to_le_bytes()));
        for level in &self.levels {
            let lens = level.as_ref().map_or([0; 2], |it| [it.record_bytes, it.entry_count]);
            lens.iter().for_each(|len| bytes.extend(len.to_le_bytes()));
        }
        bytes.extend(state);
        let written = self.sync().and_then(|()| {
            let new = self.folder.join(PROGRESS_NEW);
            let mut file = File::create(&new)?;
            file.write_all(&sealed(bytes))?;
            file.sync_all()?;
            fs::rename(&new, self.folder.join(PROGRESS))
        });
        written.map_err(|problem| self.unwritable(problem))
    }

    /// Waits until all files are on disk.
    fn sync(&mut self) -> io::Result<()> {
        for level in self.levels.iter_mut().flatten() {
            for writer in [&mut level.records, &mut level.entries] {
                writer.flush()?;
                writer.get_ref().sync_data()?;
            }
        }
        Ok(())
    }

    fn unwritable(&self, problem: io::Error) -> SourceError {
        SourceError::Unwritable { path: self.folder.clone(), problem }
    }

    /// Returns the levels that have groups, highest first.
    pub(super) fn levels(&self) -> impl Iterator<Item = u8> {
        (0..LEVELS as u8).rev().filter(|&level| self.entry_count(level) > 0)
    }

    /// Number of groups of a level.
    pub(super) fn entry_count(&self, level: u8) -> u64 {
        self.levels[usize::from(level)].as_ref().map_or(0, |level| level.entry_count)
    }

    /// Calls `each` with the directory entries of a level, at most `count` at a time.
    ///
    /// # Errors
    /// When they cannot be read, and the errors of `each`.
    pub(super) fn for_each_entries(
        &mut self,
        level: u8,
        count: usize,
        mut each: impl FnMut(&[Entry]) -> io::Result<()>,
    ) -> Result<(), SourceError> {
        let Some(files) = &mut self.levels[usize::from(level)] else { return Ok(()) };
        let mut read = || {
            files.entries.flush()?;
            let mut file = files.entries.get_ref();
            file.seek(SeekFrom::Start(0))?;
            let mut reader = BufReader::with_capacity(1 << 16, file);
            let mut left = files.entry_count;
            while left > 0 {
                let mut entries = Vec::new();
                for _ in 0..left.min(count as u64) {
                    let mut bytes = [0; ENTRY_BYTES];
                    reader.read_exact(&mut bytes)?;
                    entries.push(entry_of(level, &bytes));
                }
                left -= entries.len() as u64;
                each(&entries)?;
            }
            Ok(())
        };
        let result: io::Result<()> = read();
        result.map_err(|problem| self.unwritable(problem))
    }

    /// Appends all records of a level to a file.
    ///
    /// # Errors
    /// When they cannot be copied.
    pub(super) fn copy_records(&mut self, level: u8, to: &mut File) -> io::Result<()> {
        let Some(files) = &mut self.levels[usize::from(level)] else { return Ok(()) };
        files.records.flush()?;
        let mut file = files.records.get_ref();
        file.seek(SeekFrom::Start(0))?;
        let copied = io::copy(&mut file.take(files.record_bytes), to)?;
        if copied == files.record_bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Creates an empty file for the directory.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(super) fn directory_file(&self) -> Result<File, SourceError> {
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(true).read(true).write(true);
        options.open(self.folder.join(DIRECTORY)).map_err(|problem| self.unwritable(problem))
    }

    /// Removes the files of this run and the folder, if nothing else is in it.
    pub(super) fn remove(mut self) {
        let folder = self.folder.clone();
        // What cannot be removed stays, and does no harm.
        let remove = |name: &str| _ = fs::remove_file(folder.join(name));
        self.levels.clear();
        [PROGRESS, PROGRESS_NEW, DIRECTORY].iter().for_each(|name| remove(name));
        for level in 0..LEVELS {
            [records_name(level), entries_name(level)].iter().for_each(|name| remove(name));
        }
        drop(self);
        remove(LOCK);
        let _ = fs::remove_dir(folder);
    }
}

fn records_name(level: usize) -> String {
    format!("level-{level}")
}

fn entries_name(level: usize) -> String {
    format!("level-{level}-entries")
}

fn entry_of(level: u8, bytes: &[u8; ENTRY_BYTES]) -> Entry {
    let rank = u128::from_le_bytes(std::array::from_fn(|at| bytes[at]));
    let len = u32::from_le_bytes(std::array::from_fn(|at| bytes[17 + at]));
    let word = u64::from_le_bytes(std::array::from_fn(|at| bytes[21 + at]));
    let content = match len {
        0 => EntryContent::Uniform(Material(word as u16)),
        len => EntryContent::Record { len, checksum: word },
    };
    Entry { key: GroupKey { level, rank }, mask: bytes[16], content }
}

/// Reads where a run was, and the lengths of all levels' files.
fn positions(rest: &mut &[u8]) -> Option<(Begun, Vec<(u64, u64)>)> {
    let begun = Begun { cells: take_u64(rest)?, done: take_u64(rest)?, lost: take_u64(rest)? };
    let lens = (0..LEVELS).map(|_| Some((take_u64(rest)?, take_u64(rest)?)));
    Some((begun, lens.collect::<Option<_>>()?))
}

pub(super) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*taken)
}

pub(super) fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(u64::from_le_bytes)
}
