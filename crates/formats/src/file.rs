use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::error::SourceError;

/// Reads a plain file of at most `limit_bytes` bytes that begins with `magic`. `kind` names the
/// file format in errors.
pub(crate) fn read_file(
    path: &Path,
    magic: &[u8],
    kind: &str,
    limit_bytes: u64,
) -> Result<Vec<u8>, SourceError> {
    let unreadable = |problem| SourceError::Unreadable { path: path.into(), problem };
    let unsupported = |found: String| SourceError::Unsupported { path: path.into(), found };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unsupported("a folder, not a file".into()));
    }
    if !metadata.is_file() {
        return Err(unsupported("a device or pipe, not a plain file".into()));
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.by_ref().take(magic.len() as u64).read_to_end(&mut bytes).map_err(unreadable)?;
    if metadata.len() == 0 {
        return Err(unsupported("an empty file".into()));
    }
    if bytes != magic {
        return Err(unsupported(format!(
            "not {kind}: it begins with \"{}\"",
            bytes.escape_ascii()
        )));
    }
    let too_large = |found| SourceError::TooLarge {
        what: path.display().to_string(),
        found,
        limit: limit_bytes,
        unit: "bytes",
        advice: "split the scene into several files",
    };
    if metadata.len() > limit_bytes {
        return Err(too_large(metadata.len()));
    }
    // A file that grows while it is read must not grow past the limit either.
    let rest = (limit_bytes + 1).saturating_sub(magic.len() as u64);
    file.take(rest).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit_bytes {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}
