//! Output of the program: results on standard output, notes on standard error, and how numbers
//! and meshes are shown.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use drystone_render::{RenderError, replace_file};

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

/// Prints the lines of a table to standard error.
pub(crate) fn print_lines(text: &str) {
    // If standard error is closed, the table is lost.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes a drawing to a file, which it replaces.
pub(crate) fn write_svg(path: &Path, svg: &str) -> Result<(), RenderError> {
    replace_file(path, |part| fs::write(part, svg).map_err(|error| error.to_string()))
        .map_err(|reason| RenderError::Picture { path: path.into(), reason })
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

/// Returns a mesh's colour. Hues lie a golden section apart, so that neighbours differ, on three
/// levels of lightness.
pub(crate) fn mesh_color(slot: u32) -> [u8; 3] {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    const SATURATION: f64 = 0.45;
    let hue = f64::from(slot) * GOLDEN % 1.0 * 360.0;
    let lightness = [0.62, 0.71, 0.53][slot as usize % 3];
    let reach = SATURATION * (1.0_f64 - (2.0 * lightness - 1.0_f64).abs()) / 2.0;
    [0.0, 240.0, 120.0].map(|turn| {
        // Trapezium over the colour wheel: two thirds of it at one end or the other.
        let sixths = (hue + turn) % 360.0 / 60.0;
        let at = ((sixths - 3.0).abs() - 1.5).clamp(-0.5, 0.5) * 2.0;
        ((lightness + reach * at) * 255.0).round() as u8
    })
}

/// Formats a number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats bytes in the largest unit with at least one whole.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..=1_023 => format!("{count} bytes"),
        1_024..=1_048_575 => format!("{:.1} KiB", count as f64 / 1_024.0),
        _ => format!("{:.1} MiB", count as f64 / f64::from(1 << 20)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(plain("a\nb\u{1b}[31mé"), "a\\nb\\u{1b}[31mé");
    }

    #[test]
    fn numbers_are_grouped_and_have_units() {
        let numbers = [0, 12, 123, 1_234, 12_345, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "12", "123", "1,234", "12,345", "1,234,567"]);
        assert_eq!([512, 1_536, 3 << 20].map(bytes), ["512 bytes", "1.5 KiB", "3.0 MiB"]);
    }

    #[test]
    fn neighbours_differ_in_colour() {
        for slot in 0..200 {
            assert_ne!(mesh_color(slot), mesh_color(slot + 1));
        }
    }
}
