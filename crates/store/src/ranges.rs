use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;

use drystone_formats::ArrivalState;

/// Length of a block, in bytes. Files that come over a network are requested and cached in blocks.
pub(crate) const BLOCK_BYTES: u64 = 4 << 10;

/// A sequence of bytes that is read in parts: a file, an object of a web server, or memory.
///
/// Any thread may read. The bytes do not change while they are read; if they do, the checksums of a packed
/// world report it.
pub trait ByteRanges: Send + Sync {
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// When it cannot be found out.
    fn size(&self) -> io::Result<u64>;

    /// Reads a range of bytes, all of it.
    ///
    /// # Errors
    /// When the range is not inside of the bytes ([`UnexpectedEof`](ErrorKind::UnexpectedEof)), or cannot
    /// be read.
    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>>;

    /// Returns the requests of bytes that come over a network, for callers that must not wait. `None`
    /// if [`read`](Self::read) never waits for a network.
    fn arriving(&self) -> Option<&dyn ArrivingRanges> {
        None
    }
}

/// Bytes that come over a network after they were requested.
pub trait ArrivingRanges {
    /// Reads a range, if all of it is here.
    fn read_here(&self, range: &Range<u64>) -> Option<Vec<u8>>;

    /// Requests ranges, the most urgent first. They replace those of the previous call, which are
    /// cancelled unless they are among the new ones.
    fn request(&self, ranges: &[Range<u64>]);

    /// Drops a range whose bytes were wrong, so that it is requested again, from its origin.
    fn discard(&self, range: Range<u64>);

    /// Sets the limit for received bytes in memory.
    fn limit_memory(&self, bytes: usize);

    /// Returns the state of the connection.
    fn state(&self) -> ArrivalState;
}

/// A local file. It is kept open, so that a file that replaces it is not seen.
#[derive(Debug)]
pub struct LocalRanges {
    file: File,
}

impl LocalRanges {
    /// Opens a file.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::open(path)? })
    }
}

/// Length of a range that is read from memory or a file with `size` bytes.
pub(crate) fn checked_len(range: &Range<u64>, size: u64) -> io::Result<usize> {
    let len = range.end.checked_sub(range.start).filter(|_| range.end <= size);
    len.and_then(|len| usize::try_from(len).ok()).ok_or_else(|| ErrorKind::UnexpectedEof.into())
}

impl ByteRanges for LocalRanges {
    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        // Checked first: a damaged file must not make this allocate more than the file has.
        let mut bytes = vec![0; checked_len(&range, self.size()?)?];
        read_exact_at(&self.file, &mut bytes, range.start)?;
        Ok(bytes)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let at = offset + done as u64;
        match std::os::windows::fs::FileExt::seek_read(file, &mut bytes[done..], at) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn read_exact_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

impl ByteRanges for Vec<u8> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        checked_len(&range, self.len() as u64)?;
        Ok(self[range.start as usize..range.end as usize].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_memory_return_the_same_ranges() {
        let bytes: Vec<u8> = (0..=255).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let local = LocalRanges::open(file.path()).unwrap();
        assert_eq!((local.size().unwrap(), bytes.size().unwrap()), (256, 256));
        for range in [0..0, 0..256, 7..9, 255..256, 256..256] {
            let expected = bytes.read(range.clone()).unwrap();
            assert_eq!(expected.len() as u64, range.end - range.start);
            assert_eq!(local.read(range).unwrap(), expected);
        }
        let outside = [0..257, 256..257, u64::MAX - 1..u64::MAX, Range { start: 9, end: 7 }];
        for range in outside {
            for ranges in [&local as &dyn ByteRanges, &bytes] {
                let error = ranges.read(range.clone()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{range:?}");
            }
        }
    }
}
