use std::borrow::Cow;

use crate::fault::Fault;
use crate::model::fault::{malformed, quoted};

/// Iterator over the statements of a file, with their line numbers from 1.
///
/// Lines end with LF, CR or both. A backslash at the end of a line continues the statement on the
/// next line. Comments begin with `#` and cannot be continued.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

/// A statement: a keyword and the rest of the line.
pub(super) struct Statement<'a> {
    /// Number of its first line.
    pub(super) line: u64,
    text: Cow<'a, [u8]>,
    keyword_len: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Self { rest: bytes, number: 0 }
    }

    /// The next line without its line ending.
    fn next_line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let end = end.unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..));
        self.rest = rest.unwrap_or_default();
        Some(line)
    }

    /// The next line with all of its continuations.
    fn next_text(&mut self) -> Option<(u64, Cow<'a, [u8]>)> {
        let line = self.next_line()?;
        let number = self.number;
        if line.trim_ascii_start().starts_with(b"#") {
            return Some((number, Cow::Borrowed(&[])));
        }
        let Some(start) = line.strip_suffix(b"\\") else { return Some((number, line.into())) };
        let mut text = start.to_vec();
        while let Some(line) = self.next_line() {
            text.push(b' ');
            let Some(more) = line.strip_suffix(b"\\") else {
                text.extend_from_slice(line);
                break;
            };
            text.extend_from_slice(more);
        }
        Some((number, text.into()))
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Statement<'a>;

    fn next(&mut self) -> Option<Statement<'a>> {
        loop {
            let (line, text) = self.next_text()?;
            let text = match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii()),
                Cow::Owned(text) => Cow::Owned(text.trim_ascii().to_vec()),
            };
            if !text.is_empty() {
                let keyword_len = text.iter().position(u8::is_ascii_whitespace);
                let keyword_len = keyword_len.unwrap_or(text.len());
                return Some(Statement { line, text, keyword_len });
            }
        }
    }
}

impl Statement<'_> {
    pub(super) fn keyword(&self) -> &[u8] {
        self.text.get(..self.keyword_len).unwrap_or_default()
    }

    /// The text after the keyword. Names may contain spaces.
    pub(super) fn rest(&self) -> &[u8] {
        self.text.get(self.keyword_len..).unwrap_or_default().trim_ascii()
    }

    /// The words after the keyword, up to a comment.
    pub(super) fn words(&self) -> impl Iterator<Item = &[u8]> {
        let words = self.rest().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.take_while(|word| !word.starts_with(b"#"))
    }
}

/// Error of a statement.
pub(super) fn bad(line: u64, problem: impl Into<String>) -> Fault {
    malformed(format_args!("line {line}"), problem)
}

/// Parses a finite number.
pub(super) fn number(word: &[u8]) -> Result<f32, String> {
    let parsed = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f32>().ok());
    match parsed {
        None => Err(format!("{} is not a number", quoted(word))),
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(format!("{} is NaN, infinite or beyond f32", quoted(word))),
    }
}

/// Parses `min` to `N` numbers. Missing numbers are 0.
pub(super) fn numbers<const N: usize>(it: &Statement, min: usize) -> Result<[f32; N], Fault> {
    let mut numbers = [0.0; N];
    let mut count = 0;
    for (number_of, word) in numbers.iter_mut().zip(it.words()) {
        *number_of = number(word).map_err(|problem| bad(it.line, problem))?;
        count += 1;
    }
    if count < min {
        let problem = format!("{} has {count} numbers, but needs {min}", quoted(it.keyword()));
        return Err(bad(it.line, problem));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(text: &str) -> Vec<(u64, String)> {
        let text_of = |s: Statement| {
            let words: Vec<_> = s.words().map(String::from_utf8_lossy).collect();
            (s.line, format!("{}:{}", s.keyword().escape_ascii(), words.join(",")))
        };
        Lines::new(text.as_bytes()).map(text_of).collect()
    }

    #[test]
    fn lines_end_in_three_ways_and_can_be_continued() {
        let text = "\u{feff}v 1 2\nf 1\t2\r\n\r\n  g  a \rx\\\n y \\\r\n z\n# no \\\nlast";
        let expected = [(1, "v:1,2"), (2, "f:1,2"), (4, "g:a"), (5, "x:y,z"), (9, "last:")];
        assert_eq!(statements(text), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn comments_end_words_but_not_names() {
        let lines: Vec<_> = Lines::new(b"usemtl red #2 # x").collect();
        assert_eq!(lines[0].rest(), b"red #2 # x");
        assert_eq!(lines[0].words().collect::<Vec<_>>(), [b"red"]);
        assert!(statements("#\n \n\\\n\\").is_empty());
    }
}
