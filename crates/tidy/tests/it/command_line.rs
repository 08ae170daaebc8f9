//! Libraries name no command-line options, in messages or in docs: only the program knows which
//! option sets what a library was given.

use proc_macro2::TokenTree;

use crate::object_size::is_source;
use crate::offence::Offence;
use crate::repository::TextFile;
use crate::tokens::{line, tokens_of, walk};

/// Folders of programs and of what belongs to the repository only.
const PROGRAMS: &[&str] =
    &["crates/app/", "crates/bench/", "crates/tidy/", "crates/testing/", "web/"];

pub(crate) fn check(file: &TextFile) -> Vec<Offence> {
    if !is_source(file) || PROGRAMS.iter().any(|folder| file.path.starts_with(folder)) {
        return Vec::new();
    }
    let mut offences = Vec::new();
    walk(tokens_of(file), &mut |rest| {
        if let Some(TokenTree::Literal(literal)) = rest.first()
            && names_an_option(&literal.to_string())
        {
            let advice = "names a command-line option; let the program add it to the message";
            offences.push(Offence::new(&file.path, line(&rest[0]), advice));
        }
    });
    offences
}

/// Whether a text contains `--` and a letter at the beginning of a word.
fn names_an_option(text: &str) -> bool {
    let is_start =
        |before: Option<char>| before.is_none_or(|it| !it.is_alphanumeric() && it != '-');
    text.match_indices("--").any(|(at, _)| {
        is_start(text[..at].chars().next_back())
            && text[at + 2..].starts_with(|next: char| next.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&TextFile::new(path, text)).len()
    }

    #[test]
    fn options_in_messages_and_docs_of_libraries_are_found() {
        let library = "crates/mesh/src/a.rs";
        assert_eq!(count(library, "const A: &str = \"too large: lower --memory\";"), 1);
        assert_eq!(count(library, "/// Set by `--memory`.\nconst A: u8 = 0;"), 1);
        assert_eq!(count(library, "fn f() { panic!(\"use `--cells`\") }"), 1);
        assert_eq!(count(library, "const A: &str = \"a -- b, a--b, --- and x--\";"), 0);
    }

    #[test]
    fn programs_and_tests_may_name_them() {
        let text = "const A: &str = \"--memory\";";
        assert_eq!(count("crates/app/src/cli.rs", text), 0);
        assert_eq!(count("crates/mesh/tests/it/main.rs", text), 0);
    }
}
