//! The two ways out: what was asked for, and notes about it.

use std::io::{self, Write};

use crate::AppError;

/// Prints what was asked for. A reader that has seen enough and closed the pipe is no
/// error; a full disk is.
pub(crate) fn print(text: &str) -> Result<(), AppError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// One line to whoever watches; names from files cannot break it or steer the terminal.
pub(crate) fn note(text: &str) {
    // Where standard error is closed, nobody watches.
    let _ = writeln!(io::stderr(), "drystone: {}", plain(text));
}

/// The text with control characters written out, as `\u{1b}`.
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
    fn control_characters_are_written_out() {
        assert_eq!(plain("a\nb\u{1b}[31mé"), "a\\nb\\u{1b}[31mé");
    }
}
