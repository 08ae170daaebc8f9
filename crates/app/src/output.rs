//! Output of the program: results on standard output, notes on standard error.

use std::io::{self, Write};

use crate::AppError;

/// Prints a result to standard output. A closed pipe is not an error; a full disk is.
pub(crate) fn print(text: &str) -> Result<(), AppError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints one line to standard error, without control characters from file names.
pub(crate) fn note(text: &str) {
    // If standard error is closed, the note is lost.
    let _ = writeln!(io::stderr(), "drystone: {}", plain(text));
}

/// Returns the text with control characters escaped, as `\u{1b}`.
pub(crate) fn plain(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut plain, c| {
        if c.is_control() {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
        plain
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(plain("a\nb\u{1b}[31mé"), "a\\nb\\u{1b}[31mé");
    }
}
