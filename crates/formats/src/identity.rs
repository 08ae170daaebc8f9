//! Identities of sources: texts that do not depend on the folder of a file or the version of this
//! crate. Change a source's text whenever it returns other chunks.

use std::path::Path;

use twox_hash::XxHash3_64;

/// Returns the identity of a file that was read completely: format, file name without folders,
/// length and checksum.
pub(crate) fn of_bytes(kind: &str, name: &str, bytes: &[u8]) -> String {
    let sum = XxHash3_64::oneshot(bytes);
    format!("{kind} \"{}\" of {} bytes, sum {sum:016x}", file_name(name), bytes.len())
}

/// Returns the last part of a path, or all of it if it has none.
pub(crate) fn file_name(path: &str) -> String {
    let last = Path::new(path).file_name();
    last.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns one checksum of many numbers.
pub(crate) fn sum_of(numbers: impl IntoIterator<Item = [u64; 3]>) -> u64 {
    numbers.into_iter().fold(0, |sum, numbers| {
        XxHash3_64::oneshot_with_seed(sum, numbers.map(u64::to_le_bytes).as_flattened())
    })
}

/// Formats an option that may be taken from the file.
pub(crate) fn option(value: Option<f64>) -> String {
    value.map_or_else(|| "file".into(), |value| value.to_string())
}
