use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::error::SourceError;

/// Reads a plain file of at most `limit_bytes` bytes that begins with `magic`. `kind` names the
/// file format in errors; `advice` is for a file that is too large.
pub(crate) fn read_file(
    path: &Path,
    magic: &[u8],
    kind: &str,
    limit_bytes: u64,
    advice: &'static str,
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
    if bytes != magic && !bytes.is_empty() {
        let start = bytes.escape_ascii();
        return Err(unsupported(format!("not {kind}: it begins with \"{start}\"")));
    }
    let check_size = |found| {
        let (what, limit, unit) = (path.display().to_string(), limit_bytes, "bytes");
        let too_large = SourceError::TooLarge { what, found, limit, unit, advice };
        if found > limit { Err(too_large) } else { Ok(()) }
    };
    check_size(metadata.len())?;
    // A file that grows while it is read must not grow past the limit either.
    let rest = limit_bytes.saturating_add(1).saturating_sub(magic.len() as u64);
    file.take(rest).read_to_end(&mut bytes).map_err(unreadable)?;
    check_size(bytes.len() as u64)?;
    if bytes.is_empty() { Err(unsupported("an empty file".into())) } else { Ok(bytes) }
}
