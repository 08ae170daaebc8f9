use std::fmt;

use crate::fault::Fault;

/// Advice for a file with invalid content.
pub(super) const EXPORT_AGAIN: &str = "the file is damaged or violates its format: export it again";
/// Advice for a file that exceeds a limit.
pub(super) const SPLIT: &str = "split the model into several files, or raise the limit";

/// A problem of a file that violates its format.
pub(super) fn malformed(location: impl fmt::Display, problem: impl Into<String>) -> Fault {
    Fault::new(location, problem, EXPORT_AGAIN)
}

/// Text from a file for a message: escaped, and cut to 40 bytes.
pub(super) fn quoted(bytes: &[u8]) -> String {
    const MAX_BYTES: usize = 40;
    match bytes.get(..MAX_BYTES) {
        Some(start) if bytes.len() > MAX_BYTES => format!("\"{}…\"", start.escape_ascii()),
        _ => format!("\"{}\"", bytes.escape_ascii()),
    }
}

/// A name from a file, cut to 255 bytes.
pub(super) fn name_of(bytes: &[u8]) -> String {
    const MAX_BYTES: usize = 255;
    let bytes = bytes.get(..MAX_BYTES).unwrap_or(bytes);
    let mut name = String::from_utf8_lossy(bytes).into_owned();
    // The replacement for a character that was cut can be longer than its remainder.
    while name.len() > MAX_BYTES {
        name.pop();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_files_is_escaped_and_cut() {
        assert_eq!(quoted(b"1\n\x80"), r#""1\n\x80""#);
        assert_eq!(quoted(&[b'7'; 41]), format!("\"{}…\"", "7".repeat(40)));
        assert_eq!(name_of("é".repeat(200).as_bytes()).len(), 254);
        assert_eq!(name_of(&[0xff; 300]).len(), 255);
    }
}
