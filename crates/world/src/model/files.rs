use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::WorldError;

/// Gives the bytes of a file that a model names, by that name and at most so many of them.
pub type ReadBeside<'a> = dyn FnMut(&str, u64) -> Result<Vec<u8>, WorldError> + 'a;

/// The bytes of a plain file of at most `limit_bytes`.
pub(super) fn read(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, WorldError> {
    let unreadable = |problem| WorldError::Unreadable { path: path.into(), problem };
    let unsupported =
        |found: &str| WorldError::Unsupported { path: path.into(), found: found.into() };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unsupported("a folder, not a file"));
    }
    if !metadata.is_file() {
        return Err(unsupported("a device or pipe, not a plain file"));
    }
    let too_large = |found| WorldError::TooLarge {
        what: path.display().to_string(),
        found,
        limit: limit_bytes,
        unit: "bytes",
        advice: super::fault::SPLIT,
    };
    if metadata.len() > limit_bytes {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::new();
    // A file that grows while it is read must not grow past the limit either.
    let file = File::open(path).map_err(unreadable)?;
    file.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit_bytes {
        return Err(too_large(bytes.len() as u64));
    }
    if bytes.is_empty() {
        return Err(unsupported("an empty file"));
    }
    Ok(bytes)
}

/// The files that a model names, as long as there are bytes left to spend on them.
pub(super) struct Beside<'a> {
    read: &'a mut ReadBeside<'a>,
    left_bytes: u64,
}

impl<'a> Beside<'a> {
    pub(super) fn new(read: &'a mut ReadBeside<'a>, left_bytes: u64) -> Self {
        Self { read, left_bytes }
    }

    /// The bytes of the file of this name, as the model writes it.
    pub(super) fn read(&mut self, name: &str) -> Result<Vec<u8>, WorldError> {
        let bytes = (self.read)(name, self.left_bytes)?;
        self.left_bytes = self.left_bytes.saturating_sub(bytes.len() as u64);
        Ok(bytes)
    }
}
