use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::portion::{GoOn, WriteFault};

/// A temporary file beside the exported one, for data that follow others of unknown length.
///
/// The file has no name while it is open, so that a kill leaves nothing behind. Where a system
/// does not allow that, it is removed when the value is dropped.
pub(super) struct Scratch {
    file: Option<BufWriter<File>>,
    /// Number of written bytes.
    len: u64,
    /// Name of the file, if it could not be removed at once.
    left: Option<PathBuf>,
}

impl Scratch {
    /// Creates an empty file in the folder of `path`. `name` tells several of them apart.
    pub(super) fn beside(path: &Path, name: &str) -> io::Result<Self> {
        let mut own = path.as_os_str().to_owned();
        own.push(name);
        let own = PathBuf::from(own);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&own)?;
        let left = fs::remove_file(&own).is_err().then_some(own);
        Ok(Self { file: Some(BufWriter::with_capacity(1 << 16, file)), len: 0, left })
    }

    /// Returns the number of written bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the written bytes, from the first one.
    pub(super) fn read(&mut self) -> io::Result<BufReader<File>> {
        let file = self.file.take().ok_or(io::ErrorKind::NotFound)?;
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::with_capacity(1 << 16, file))
    }

    /// Copies the written bytes, and calls `go_on` for each MiB. Stops when it returns an error.
    pub(super) fn copy(
        &mut self,
        to: &mut impl Write,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), WriteFault> {
        /// Bytes between two calls: some milliseconds on a slow disk.
        const STEP_BYTES: u64 = 1 << 20;
        let mut from = self.read()?;
        loop {
            go_on()?;
            if io::copy(&mut from.by_ref().take(STEP_BYTES), to)? < STEP_BYTES {
                return Ok(());
            }
        }
    }
}

impl Write for Scratch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?.write(bytes)?;
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.file = None;
        if let Some(path) = &self.left {
            // Nothing more can be done about a file that cannot be removed.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file without a name is gone after a kill. Its length is below, at and above a step.
    #[test]
    fn a_temporary_file_has_no_name_and_is_copied_whole() {
        let folder = std::env::temp_dir().join(format!("drystone-scratch-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for len in [0, 7, 1 << 20, (1 << 20) + 1, 5 << 19] {
            let mut file = Scratch::beside(&folder.join("a.ply"), ".faces").unwrap();
            let bytes: Vec<u8> = (0..len).map(|n: u32| (n % 251) as u8).collect();
            file.write_all(&bytes).unwrap();
            assert_eq!(file.len(), u64::from(len));
            if cfg!(unix) {
                assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "it has a name");
            }
            let mut copy = Vec::new();
            file.copy(&mut copy, &mut || Ok(())).unwrap();
            assert!(copy == bytes, "{len} bytes");
        }
        fs::remove_dir(folder).unwrap();
    }
}
