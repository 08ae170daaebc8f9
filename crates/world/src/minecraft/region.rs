use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fault::Fault;
use super::unpack::{MAX_COLUMN_BYTES, unpack};

/// Columns a side of a region.
pub(super) const SIDE_COLUMNS: i32 = 32;
/// What places in the file are counted in.
const SECTOR_BYTES: u64 = 4096;
/// The table of places, and that of times.
const HEADER_SECTORS: u64 = 2;
/// A column's length and how it is compressed.
const COLUMN_HEADER_BYTES: u64 = 5;
/// Set in the way of compression where the column lies in a file of its own.
const EXTERNAL: u8 = 0x80;
/// The most that a file of one column may hold.
const MAX_EXTERNAL_BYTES: u64 = 64 << 20;
/// The most that all columns unpack to that are read from a region while it is open: those of a
/// stack, or of a row of stacks. It is what four columns may take, and bounds a region at 4 GiB.
const MAX_OPEN_BYTES: usize = 4 * MAX_COLUMN_BYTES;

/// A file of 32 × 32 columns.
///
/// ```text
///  sector 0        1        2 …
///  ┌──────────────┬────────┬──────────────────────────┬─────────┬──
///  │ 1024 × place │ times  │ length, method, data ╱╱╱ │ …       │
///  │ and sectors  │        │                          │         │
///  └──────────────┴────────┴──────────────────────────┴─────────┴──
/// ```
#[derive(Debug)]
pub(super) struct Region {
    /// The file's name, for messages.
    pub(super) name: String,
    /// Its place, in regions.
    pub(super) at: [i32; 2],
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    File(PathBuf),
    Memory(Arc<[u8]>),
}

/// A region that was opened: where its columns lie.
pub(super) struct OpenRegion<'a> {
    region: &'a Region,
    reader: Box<dyn ReadSeek + 'a>,
    size_bytes: u64,
    places: Vec<u8>,
    /// What may still be unpacked.
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

    /// How long it is; 0 where nobody can say.
    pub(super) fn size_bytes(&self) -> u64 {
        match &self.bytes {
            Bytes::File(path) => std::fs::metadata(path).map_or(0, |data| data.len()),
            Bytes::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Opens the file and reads its table of places.
    ///
    /// # Errors
    /// What the system says, and a file that ends within its tables. An empty one, which
    /// the game leaves where it has nothing to save, has no columns.
    pub(super) fn open(&self) -> io::Result<OpenRegion<'_>> {
        let (mut reader, size_bytes): (Box<dyn ReadSeek>, u64) = match &self.bytes {
            Bytes::File(path) => {
                let file = open_plain(path)?;
                let size_bytes = file.metadata()?.len();
                (Box::new(file), size_bytes)
            }
            Bytes::Memory(bytes) => (Box::new(io::Cursor::new(&bytes[..])), bytes.len() as u64),
        };
        let mut places = Vec::new();
        if size_bytes != 0 {
            if size_bytes < HEADER_SECTORS * SECTOR_BYTES {
                let problem = format!("cut off in its tables, at byte {size_bytes}");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
            }
            places.resize(SECTOR_BYTES as usize, 0);
            reader.read_exact(&mut places)?;
        }
        Ok(OpenRegion { region: self, reader, size_bytes, places, left_bytes: MAX_OPEN_BYTES })
    }
}

/// A plain file: devices and pipes could keep their reader waiting.
fn open_plain(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
    }
    File::open(path)
}

impl OpenRegion<'_> {
    /// The data of the column at `x`, `z` within the region (each 0 to 31), unpacked;
    /// `None` where there is no column. Of columns that begin in one sector, only the first in
    /// the table is read.
    ///
    /// # Errors
    /// A place beyond the file or of another column, a length that lies, damaged data, more
    /// data than is unpacked of one region.
    pub(super) fn column(&mut self, x: usize, z: usize) -> Result<Option<Vec<u8>>, Fault> {
        let entry = 4 * (x + SIDE_COLUMNS as usize * z);
        let Some(&[a, b, c, sectors]) = self.places.get(entry..).and_then(<[u8]>::first_chunk)
        else {
            return Ok(None);
        };
        let sector = u64::from(u32::from_be_bytes([0, a, b, c]));
        if sector == 0 && sectors == 0 {
            return Ok(None);
        }
        let start = sector * SECTOR_BYTES;
        let room = self.size_bytes.saturating_sub(start).min(u64::from(sectors) * SECTOR_BYTES);
        if sector < HEADER_SECTORS || room < COLUMN_HEADER_BYTES {
            return Err(Fault::damaged(format!(
                "said to lie at sector {sector}, {sectors} long, in a file of {} bytes",
                self.size_bytes
            )));
        }
        self.expect_first(entry, sector)?;
        self.reader.seek(SeekFrom::Start(start))?;
        let mut header = [0; COLUMN_HEADER_BYTES as usize];
        self.reader.read_exact(&mut header)?;
        let [a, b, c, d, method] = header;
        // The length counts the method's byte.
        let length = u64::from(u32::from_be_bytes([a, b, c, d])).checked_sub(1);
        let place = format!("byte {start} of the file");
        let Some(length) = length.filter(|&length| length <= room - COLUMN_HEADER_BYTES) else {
            let length = u32::from_be_bytes([a, b, c, d]);
            return Err(Fault::damaged(format!("{length} bytes long in {room}")).within(&place));
        };
        let packed = if method & EXTERNAL == 0 {
            let mut packed = vec![0; length as usize];
            self.reader.read_exact(&mut packed)?;
            packed
        } else {
            self.external(x, z)?
        };
        self.unpack(method & !EXTERNAL, &packed).map(Some).map_err(|fault| fault.within(&place))
    }

    /// That no column before the one at `entry` in the table begins in the same sector.
    fn expect_first(&self, entry: usize, sector: u64) -> Result<(), Fault> {
        let (entries, _) = self.places.as_chunks::<4>();
        let begins_there =
            |&[a, b, c, _]: &[u8; 4]| u64::from(u32::from_be_bytes([0, a, b, c])) == sector;
        match entries.iter().take(entry / 4).position(begins_there) {
            None => Ok(()),
            Some(first) => {
                let [x, z] = [first % SIDE_COLUMNS as usize, first / SIDE_COLUMNS as usize];
                let [x, z] = self.region.column_at(x, z);
                let problem = format!("said to lie at sector {sector}, where column {x}, {z} lies");
                Err(Fault::damaged(problem))
            }
        }
    }

    /// Unpacks a column, as long as there are bytes left to spend.
    fn unpack(&mut self, method: u8, packed: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        let result = unpack(method, packed, MAX_COLUMN_BYTES.min(self.left_bytes), &mut bytes);
        let is_spent = bytes.len() > self.left_bytes;
        self.left_bytes = self.left_bytes.saturating_sub(bytes.len());
        match result {
            Ok(()) => Ok(bytes),
            Err(_) if is_spent || self.left_bytes == 0 => Err(Fault::damaged(format!(
                "more than {MAX_OPEN_BYTES} bytes unpacked in this row of columns"
            ))),
            Err(fault) => Err(fault),
        }
    }

    /// The column's own file, beside the region's.
    fn external(&self, x: usize, z: usize) -> Result<Vec<u8>, Fault> {
        let Bytes::File(path) = &self.region.bytes else {
            return Err(Fault::damaged("kept in a file of its own, which is not at hand"));
        };
        let [x, z] = self.region.column_at(x, z);
        let name = format!("c.{x}.{z}.mcc");
        let read = || {
            let mut bytes = Vec::new();
            let file = open_plain(&path.with_file_name(&name))?;
            file.take(MAX_EXTERNAL_BYTES + 1).read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(bytes)
        };
        let bytes = read().map_err(|problem| Fault::from(problem).within(&name))?;
        if bytes.len() as u64 > MAX_EXTERNAL_BYTES {
            return Err(Fault::damaged(format!("{name}: more than {MAX_EXTERNAL_BYTES} bytes")));
        }
        Ok(bytes)
    }
}

impl Region {
    /// The place in the world, in columns, of the column at `x`, `z` within the region.
    pub(super) fn column_at(&self, x: usize, z: usize) -> [i32; 2] {
        [self.at[0] * SIDE_COLUMNS + x as i32, self.at[1] * SIDE_COLUMNS + z as i32]
    }
}
