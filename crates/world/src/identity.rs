//! What tells one source from another: texts that stay the same wherever a file lies, from one
//! version of this crate to the next. Whoever changes what chunks a source gives changes its
//! words here, too.

use std::path::Path;

use twox_hash::XxHash3_64;

/// What was read whole: of what kind, the file's name without its folders, length and checksum.
pub(crate) fn of_bytes(kind: &str, name: &str, bytes: &[u8]) -> String {
    let sum = XxHash3_64::oneshot(bytes);
    format!("{kind} \"{}\" of {} bytes, sum {sum:016x}", file_name(name), bytes.len())
}

/// A path's last part; all of it where it has none.
pub(crate) fn file_name(path: &str) -> String {
    let last = Path::new(path).file_name();
    last.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// One checksum of many numbers.
pub(crate) fn sum_of(numbers: impl IntoIterator<Item = [u64; 3]>) -> u64 {
    numbers.into_iter().fold(0, |sum, numbers| {
        XxHash3_64::oneshot_with_seed(sum, numbers.map(u64::to_le_bytes).as_flattened())
    })
}

/// An option that may be left to the file.
pub(crate) fn option(value: Option<f64>) -> String {
    value.map_or_else(|| "file".into(), |value| value.to_string())
}
