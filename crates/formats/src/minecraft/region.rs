use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::RegionFiles;
use super::problems::damaged;
use super::unpack::{MAX_COLUMN_BYTES, unpack};
use crate::error::SourceError;
use crate::fault::Fault;

/// Side of a region, in columns.
pub(super) const SIDE_COLUMNS: i32 = 32;
/// Size of a sector, the unit of offsets in the file, in bytes.
const SECTOR_BYTES: u64 = 4096;
/// Number of sectors of the two tables: column offsets and times.
const HEADER_SECTORS: u64 = 2;
/// Length of a column's header, in bytes: its length and compression method.
const COLUMN_HEADER_BYTES: u64 = 5;
/// Bit of the compression method for columns in a file of their own.
const EXTERNAL: u8 = 0x80;
/// Maximum size of a file of one column, in bytes.
const MAX_EXTERNAL_BYTES: u64 = 64 << 20;
/// Maximum total size of the decompressed columns of a region while it is open, in bytes. That
/// covers the four columns of a stack, or a row of stacks. Limits a region to 4 GiB.
const MAX_OPEN_BYTES: usize = 4 * MAX_COLUMN_BYTES;

/// A region file: 32 × 32 columns.
///
/// ```text
///  sector 0        1        2 …
///  ┌──────────────┬────────┬──────────────────────────┬─────────┬──
///  │ 1024 × offset│ times  │ length, method, data ╱╱╱ │ …       │
///  │ and sectors  │        │                          │         │
///  └──────────────┴────────┴──────────────────────────┴─────────┴──
/// ```
pub(super) struct Region {
    /// Name of the file, for messages.
    pub(super) name: String,
    /// Position of the region, in regions.
    pub(super) at: [i32; 2],
    bytes: Bytes,
}

enum Bytes {
    File(PathBuf),
    Memory(Arc<[u8]>),
    Elsewhere { files: Arc<dyn RegionFiles>, file: String, size_bytes: u64 },
}

/// An open region, with the offsets of its columns.
pub(super) struct OpenRegion<'a> {
    region: &'a Region,
    reader: Box<dyn ReadSeek + 'a>,
    size_bytes: u64,
    /// Offset and length of each column, in sectors.
    table: Vec<u8>,
    /// Number of bytes that may still be decompressed.
    left_bytes: usize,
}

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl Region {
    pub(super) fn file(path: &Path, at: [i32; 2]) -> Self {
        Self { name: path.display().to_string(), at, bytes: Bytes::File(path.into()) }
    }

    pub(super) fn memory(name: &str, bytes: &[u8]) -> Self {
        Self { name: name.into(), at: [0, 0], bytes: Bytes::Memory(bytes.into()) }
    }

    /// `folder` is the display name of the folder that has the file.
    pub(super) fn elsewhere(
        files: &Arc<dyn RegionFiles>,
        folder: &str,
        (file, size_bytes): (String, u64),
        at: [i32; 2],
    ) -> Self {
        let name = format!("{}/{file}", folder.trim_end_matches('/'));
        Self { name, at, bytes: Bytes::Elsewhere { files: Arc::clone(files), file, size_bytes } }
    }

    /// Size of the file, in bytes; 0 if unknown.
    pub(super) fn size_bytes(&self) -> u64 {
        match &self.bytes {
            Bytes::Elsewhere { size_bytes, .. } => *size_bytes,
            Bytes::File(path) => std::fs::metadata(path).map_or(0, |data| data.len()),
            Bytes::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Opens the file and reads its table of offsets.
    ///
    /// # Errors
    /// Errors of the system, and a file that ends within its tables. An empty file has no columns;
    /// the game creates such files.
    pub(super) fn open(&self) -> io::Result<OpenRegion<'_>> {
        let of_file = |path: &Path| -> io::Result<(Box<dyn ReadSeek>, u64)> {
            let file = open_plain(path)?;
            let size_bytes = file.metadata()?.len();
            Ok((Box::new(file), size_bytes))
        };
        let (mut reader, size_bytes): (Box<dyn ReadSeek>, u64) = match &self.bytes {
            Bytes::File(path) => of_file(path)?,
            Bytes::Elsewhere { files, file, .. } => of_file(&files.copy(file)?)?,
            Bytes::Memory(bytes) => (Box::new(io::Cursor::new(&bytes[..])), bytes.len() as u64),
        };
        let mut table = Vec::new();
        if size_bytes != 0 {
            if size_bytes < HEADER_SECTORS * SECTOR_BYTES {
                let problem = format!("cut off in its tables, at byte {size_bytes}");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
            }
            table.resize(SECTOR_BYTES as usize, 0);
            reader.read_exact(&mut table)?;
        }
        Ok(OpenRegion { region: self, reader, size_bytes, table, left_bytes: MAX_OPEN_BYTES })
    }

    /// Opens the file. Returns `None` for damaged tables, which are added to `faults`.
    ///
    /// # Errors
    /// Errors of the system.
    pub(super) fn open_undamaged(
        &self,
        faults: &mut Vec<SourceError>,
    ) -> Result<Option<OpenRegion<'_>>, SourceError> {
        let unreadable = |problem| self.unreadable(self.name.clone().into(), problem);
        match self.open() {
            Ok(open) => Ok(Some(open)),
            Err(problem) if is_damage(&problem) => {
                faults.push(unreadable(problem));
                Ok(None)
            }
            Err(problem) => Err(unreadable(problem)),
        }
    }

    /// A failed read of a column in the file `path`: damage, or an error of the system.
    fn failed(&self, path: impl Into<PathBuf>, problem: io::Error) -> Fault {
        match is_damage(&problem) {
            true => Fault::from(problem),
            false => Fault::Other(self.unreadable(path.into(), problem)),
        }
    }

    fn unreadable(&self, path: PathBuf, problem: io::Error) -> SourceError {
        match self.bytes {
            Bytes::Elsewhere { .. } => {
                SourceError::NotReceived { path, problem: problem.to_string() }
            }
            _ => SourceError::Unreadable { path, problem },
        }
    }
}

/// Whether an error means damage of the file. Others are of the system, such as a disk that fails.
fn is_damage(problem: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, UnexpectedEof};
    matches!(problem.kind(), InvalidInput | UnexpectedEof)
}

/// Opens a plain file. Refuses devices and pipes, which could block the reader.
fn open_plain(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
    }
    File::open(path)
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Region").field("name", &self.name).finish_non_exhaustive()
    }
}

impl OpenRegion<'_> {
    /// Decompressed data of the column at `x`, `z` within the region (each 0 to 31); `None` if
    /// there is no column. If columns share a first sector, only the first in the table is read.
    ///
    /// # Errors
    /// An offset beyond the file or of another column, a wrong length, damaged data, or too much
    /// decompressed data in this region. [`Fault::Other`] for errors of the system.
    pub(super) fn column(&mut self, x: usize, z: usize) -> Result<Option<Vec<u8>>, Fault> {
        let entry = 4 * (x + SIDE_COLUMNS as usize * z);
        let Some(&[a, b, c, sectors]) = self.table.get(entry..).and_then(<[u8]>::first_chunk)
        else {
            return Ok(None);
        };
        let sector = u64::from(u32::from_be_bytes([0, a, b, c]));
        if sector == 0 && sectors == 0 {
            return Ok(None);
        }
        let start = sector * SECTOR_BYTES;
        let available =
            self.size_bytes.saturating_sub(start).min(u64::from(sectors) * SECTOR_BYTES);
        if sector < HEADER_SECTORS || available < COLUMN_HEADER_BYTES {
            return Err(damaged(format!(
                "its table entry gives sector {sector}, length {sectors}, in a file of {} bytes",
                self.size_bytes
            )));
        }
        self.expect_first(entry, sector)?;
        let mut header = [0; COLUMN_HEADER_BYTES as usize];
        self.reader
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.reader.read_exact(&mut header))
            .map_err(|problem| self.region.failed(&self.region.name, problem))?;
        let [a, b, c, d, method] = header;
        // The length includes the byte of the method.
        let length = u64::from(u32::from_be_bytes([a, b, c, d])).checked_sub(1);
        let location = format!("byte {start} of the file");
        let Some(length) = length.filter(|&length| length <= available - COLUMN_HEADER_BYTES)
        else {
            let length = u32::from_be_bytes([a, b, c, d]);
            let problem = format!("claims {length} bytes, but {available} are available");
            return Err(damaged(problem).within(&location));
        };
        let packed = if method & EXTERNAL == 0 {
            let mut packed = vec![0; length as usize];
            let read = self.reader.read_exact(&mut packed);
            read.map_err(|problem| self.region.failed(&self.region.name, problem))?;
            packed
        } else {
            self.external(x, z)?
        };
        self.unpack(method & !EXTERNAL, &packed).map(Some).map_err(|fault| fault.within(&location))
    }

    /// Checks that no earlier column in the table begins in the same sector.
    fn expect_first(&self, entry: usize, sector: u64) -> Result<(), Fault> {
        let (entries, _) = self.table.as_chunks::<4>();
        let begins_there =
            |&[a, b, c, _]: &[u8; 4]| u64::from(u32::from_be_bytes([0, a, b, c])) == sector;
        match entries.iter().take(entry / 4).position(begins_there) {
            None => Ok(()),
            Some(first) => {
                let [x, z] = [first % SIDE_COLUMNS as usize, first / SIDE_COLUMNS as usize];
                let [x, z] = self.region.column_at(x, z);
                let problem =
                    format!("its table entry gives sector {sector}, like that of column {x}, {z}");
                Err(damaged(problem))
            }
        }
    }

    /// Decompresses a column, within the limit for the open region.
    fn unpack(&mut self, method: u8, packed: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        let result = unpack(method, packed, MAX_COLUMN_BYTES.min(self.left_bytes), &mut bytes);
        let is_spent = bytes.len() > self.left_bytes;
        self.left_bytes = self.left_bytes.saturating_sub(bytes.len());
        match result {
            Ok(()) => Ok(bytes),
            Err(_) if is_spent || self.left_bytes == 0 => Err(damaged(format!(
                "more than {MAX_OPEN_BYTES} bytes decompressed in this row of columns"
            ))),
            Err(fault) => Err(fault),
        }
    }

    /// Reads the column's own file, beside the region's.
    fn external(&self, x: usize, z: usize) -> Result<Vec<u8>, Fault> {
        let [x, z] = self.region.column_at(x, z);
        let name = format!("c.{x}.{z}.mcc");
        let path = match &self.region.bytes {
            Bytes::File(path) => Ok(path.with_file_name(&name)),
            Bytes::Elsewhere { files, .. } => files.copy(&name),
            Bytes::Memory(_) => {
                return Err(damaged("stored in a file of its own, which is not available"));
            }
        };
        let read = || {
            let mut bytes = Vec::new();
            let file = open_plain(&path?)?;
            file.take(MAX_EXTERNAL_BYTES + 1).read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(bytes)
        };
        let bytes = read().map_err(|problem| match problem.kind() {
            io::ErrorKind::NotFound => Fault::from(problem).within(&name),
            _ => {
                let path = Path::new(&self.region.name).with_file_name(&name);
                self.region.failed(path, problem).within(&name)
            }
        })?;
        if bytes.len() as u64 > MAX_EXTERNAL_BYTES {
            return Err(damaged(format!("{name}: more than {MAX_EXTERNAL_BYTES} bytes")));
        }
        Ok(bytes)
    }
}

impl Region {
    /// Position in the world, in columns, of the column at `x`, `z` within the region.
    pub(super) fn column_at(&self, x: usize, z: usize) -> [i32; 2] {
        [self.at[0] * SIDE_COLUMNS + x as i32, self.at[1] * SIDE_COLUMNS + z as i32]
    }
}
