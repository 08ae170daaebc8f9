//! Extracts the prose of a file: comments and string literals of Rust code, or the whole text
//! of any other file.
//!
//! `proc_macro2` drops plain comments, so this module has a small lexer of its own.

use crate::repository::TextFile;

/// Kind of a [`Prose`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A block of `///` or `//!` lines.
    Doc,
    /// A block of `//` lines, or a `/* */` comment.
    Comment,
    /// A string literal.
    Literal,
    /// The whole text of a file that is not Rust.
    Text,
}

/// One piece of prose, without its comment markers or quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prose {
    pub(crate) kind: Kind,
    /// Line on which the piece begins, counted from 1.
    pub(crate) line: usize,
    /// Text with the line breaks of the source.
    pub(crate) text: String,
}

/// A word of a [`Prose`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word in lower case.
    pub(crate) text: String,
    pub(crate) line: usize,
    /// Whether only white space separates this word from the previous one.
    pub(crate) follows: bool,
}

/// Returns the prose of a file, in the order of the file.
pub(crate) fn prose_of(file: &TextFile) -> Vec<Prose> {
    if file.is_rust() {
        merged(pieces(&file.text))
    } else {
        vec![Prose { kind: Kind::Text, line: 1, text: unmarked(&file.text) }]
    }
}

impl Prose {
    /// Splits the text at everything that is not a letter, a digit, `_`, `-` or `'`.
    pub(crate) fn words(&self) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        let mut line = self.line;
        let mut follows = false;
        let mut is_inside = false;
        for c in self.text.chars() {
            if c.is_alphanumeric() || "_-'".contains(c) {
                if !is_inside {
                    words.push(Word { text: String::new(), line, follows });
                }
                is_inside = true;
                follows = true;
                if let Some(word) = words.last_mut() {
                    word.text.extend(c.to_lowercase());
                }
            } else {
                is_inside = false;
                follows &= c.is_whitespace();
                line += usize::from(c == '\n');
            }
        }
        words
    }
}

/// Removes `#`, `//`, `*` and `>` from the beginnings of lines, so that a phrase is found
/// across a line break.
fn unmarked(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start().trim_start_matches(['#', '/', '*', '>']));
    lines.collect::<Vec<_>>().join("\n")
}

/// Joins line comments of one kind on adjacent lines.
fn merged(pieces: Vec<Prose>) -> Vec<Prose> {
    let mut merged: Vec<Prose> = Vec::new();
    let mut previous_line = 0;
    for piece in pieces {
        let is_line_comment = piece.kind != Kind::Literal && !piece.text.contains('\n');
        match merged.last_mut() {
            Some(last)
                if is_line_comment
                    && last.kind == piece.kind
                    && last.line + last.text.matches('\n').count() == previous_line
                    && piece.line == previous_line + 1 =>
            {
                last.text.push('\n');
                last.text.push_str(&piece.text);
            }
            _ => merged.push(piece.clone()),
        }
        previous_line = piece.line + piece.text.matches('\n').count();
    }
    merged
}

/// Returns the comments, one per line, and the string literals of Rust code.
fn pieces(text: &str) -> Vec<Prose> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (length, piece) = match c {
            '/' if rest.starts_with("//") => line_comment(rest),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => literal(rest, 1),
            'r' | 'b' | 'c' if !ends_in_word(&text[..at]) => prefixed_literal(rest),
            '\'' => (character_length(rest), None),
            _ => (c.len_utf8(), None),
        };
        if let Some((kind, text)) = piece {
            pieces.push(Prose { kind, line, text });
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    pieces
}

/// Length of a token in bytes, and its prose if it has any.
type Lexed = (usize, Option<(Kind, String)>);

fn ends_in_word(before: &str) -> bool {
    before.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

fn line_comment(rest: &str) -> Lexed {
    let length = rest.find('\n').unwrap_or(rest.len());
    let comment = &rest[..length];
    let is_doc =
        (comment.starts_with("///") && !comment.starts_with("////")) || comment.starts_with("//!");
    let (kind, marker) = if is_doc { (Kind::Doc, 3) } else { (Kind::Comment, 2) };
    (length, Some((kind, comment[marker..].trim().to_owned())))
}

fn block_comment(rest: &str) -> Lexed {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    (at, Some((Kind::Comment, unmarked(rest[..at].trim_end_matches("*/")))))
}

/// Lexes a string literal with a prefix such as `b` or `r#`, or else one byte of a word.
fn prefixed_literal(rest: &str) -> Lexed {
    let letters = rest.bytes().take_while(|b| b"rbc".contains(b)).count().min(2);
    let is_raw = rest[..letters].contains('r');
    let hashes = rest[letters..].bytes().take_while(|b| *b == b'#').count();
    let quote = letters + hashes;
    if !rest[quote..].starts_with('"') || (hashes > 0 && !is_raw) {
        return (1, None);
    }
    if !is_raw {
        return literal(rest, quote + 1);
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let body = &rest[quote + 1..];
    let length = body.find(&end).unwrap_or(body.len());
    let text = body[..length].to_owned();
    ((quote + 1 + length + end.len()).min(rest.len()), Some((Kind::Literal, text)))
}

/// Lexes a string literal whose text begins at byte `from`. Escapes become spaces.
fn literal(rest: &str, from: usize) -> Lexed {
    let mut text = String::new();
    let mut is_escaped = false;
    for (at, c) in rest[from..].char_indices() {
        match c {
            _ if is_escaped => {
                text.push(if c == '\n' { '\n' } else { ' ' });
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => return (from + at + 1, Some((Kind::Literal, text))),
            _ => text.push(c),
        }
    }
    (rest.len(), Some((Kind::Literal, text)))
}

/// Length of a character literal in bytes, or 1 for the quote of a lifetime.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => rest[3.min(rest.len())..].find('\'').map_or(1, |at| at + 4),
        Some(_) => match characters.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust(text: &str) -> Vec<(Kind, usize, String)> {
        let pieces = prose_of(&TextFile::new("a.rs", text));
        pieces.into_iter().map(|it| (it.kind, it.line, it.text)).collect()
    }

    fn piece(kind: Kind, line: usize, text: &str) -> (Kind, usize, String) {
        (kind, line, text.to_owned())
    }

    #[test]
    fn adjacent_comment_lines_are_one_piece() {
        let text = "//! a\n//! b\n\n/// c\n// d\n// e\n\nfn f() {} // g\n// h\n//// i";
        let expected = [
            piece(Kind::Doc, 1, "a\nb"),
            piece(Kind::Doc, 4, "c"),
            piece(Kind::Comment, 5, "d\ne"),
            piece(Kind::Comment, 8, "g\nh\n// i"),
        ];
        assert_eq!(rust(text), expected);
    }

    #[test]
    fn every_literal_is_read_and_no_code() {
        let text = "f(\"a \\\"b\\n\\\n c\", b\"d\", r#\"e \"f\"\"#, '\"', b'\"', '\\'', 'é', r#type);\n\
                    fn g<'a>(h: &'a str) { car(\"// i\") /* j /* k */ l */ }";
        let texts: Vec<String> = rust(text).into_iter().map(|it| it.2).collect();
        assert_eq!(texts, ["a  b \n c", "d", "e \"f\"", "// i", " j /* k */ l "]);
        assert_eq!(rust("\n\n\"a\n\"; // b")[1], piece(Kind::Comment, 4, "b"));
    }

    #[test]
    fn words_have_lines_and_end_at_punctuation() {
        let file = TextFile::new("a.sh", "# One two,\n# left-over\n\nthree's");
        let [text] = &prose_of(&file)[..] else { panic!("one piece expected") };
        let words: Vec<_> =
            text.words().into_iter().map(|it| (it.text, it.line, it.follows)).collect();
        let expected =
            [("one", 1, false), ("two", 1, true), ("left-over", 2, false), ("three's", 4, true)];
        assert_eq!(words, expected.map(|(text, line, follows)| (text.to_owned(), line, follows)));
    }
}
