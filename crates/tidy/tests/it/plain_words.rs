//! Finds words and phrases that are not plain technical English, in prose and in identifiers.
//! The tables contain only words without a legitimate use in this repository.

use proc_macro2::TokenTree;

use crate::offence::Offence;
use crate::prose::{Word, prose_of};
use crate::repository::TextFile;
use crate::tokens::{line, tokens_of, walk};

/// Phrases that comments, docs, strings and documents must not contain, with replacements.
const PHRASES: &[(&str, &str)] = &[
    ("all ways together", "in total"),
    ("anew", "again, or a verb with `re-`"),
    ("are told", "are reported, or are given"),
    ("as it lies in memory", "in memory order"),
    ("as many as there are", "all"),
    ("asked for", "requested"),
    ("asks for", "requests"),
    ("at the most", "at most"),
    ("be told", "be reported, or be given"),
    ("been told", "been reported, or been given"),
    ("book-keeping", "metadata"),
    ("bookkeeping", "metadata"),
    ("by and by", "over time, or how many per frame"),
    ("for want of", "because there is no"),
    ("give back", "free, release or return"),
    ("give or take", "the exact bound"),
    ("given back", "freed, released or returned"),
    ("gives back", "frees, releases or returns"),
    ("giving back", "freeing, releasing or returning"),
    ("how many of them", "the number of them"),
    ("how-manieth", "the rank or the index"),
    ("in vain", "without success"),
    ("is told", "is reported, or is given"),
    ("it is said", "name what reports it"),
    ("keeper", "the store, or what persists it"),
    ("keepers", "the stores, or what persists them"),
    ("lest", "so that ... not"),
    ("nobody", "no caller, no thread, no code"),
    ("none of which", "a sentence of its own"),
    ("of which", "a sentence of its own"),
    ("one of whose", "a sentence of its own"),
    ("see-through", "translucent"),
    ("take back", "undo or free"),
    ("taken back", "undone or freed"),
    ("takes back", "undoes or frees"),
    ("the eye", "the camera"),
    ("the same of", "a sentence that stands alone"),
    ("told of", "reported, or given"),
    ("was told", "was reported, or was given"),
    ("were told", "were reported, or were given"),
    ("what is said", "name it"),
    ("whichever way", "in both cases, or in every direction"),
    ("who", "the caller, the thread; `that` for a thing"),
    ("whoever", "the caller or the code that"),
    ("whom", "the caller or the code that"),
];

/// Parts that identifiers must not contain, with replacements.
const PARTS: &[(&str, &str)] = &[
    ("anew", "again, or a verb with `re-`"),
    ("keeper", "store"),
    ("nobody", "no_caller, unused"),
    ("who", "the noun that is meant"),
    ("whoever", "the noun that is meant"),
    ("whom", "the noun that is meant"),
    ("wish", "request"),
    ("wishes", "requests"),
];

/// Identifiers whose `most_` is a superlative and not an upper bound.
const SUPERLATIVES: &[&str] = &["most_frequent"];

/// Files that are not checked because their tables contain the words.
const TABLES: [&str; 2] =
    ["crates/tidy/tests/it/plain_words.rs", "crates/tidy/tests/it/doc_openings.rs"];

/// Path of the history, which is not rewritten.
const HISTORY: &str = "CHANGELOG.md";

/// Endings of the files whose text is checked.
const CHECKED: [&str; 15] = [
    ".rs", ".md", ".sh", ".js", ".mjs", ".html", ".css", ".wgsl", ".glsl", ".vert", ".frag",
    ".lua", ".toml", ".yml", "Makefile",
];

pub(crate) fn check(file: &TextFile) -> Vec<Offence> {
    let is_checked = CHECKED.iter().any(|ending| file.path.ends_with(ending));
    if !is_checked || TABLES.contains(&file.path.as_str()) || file.path == HISTORY {
        return Vec::new();
    }
    let mut offences: Vec<Offence> = Vec::new();
    for prose in prose_of(file) {
        let words = prose.words();
        for at in 0..words.len() {
            offences.extend(phrase_at(&words[at..]).map(|(phrase, instead)| {
                let advice = format!("`{phrase}` is not plain English; say: {instead}");
                Offence::new(&file.path, words[at].line, advice)
            }));
        }
    }
    if file.is_rust() {
        offences.extend(check_identifiers(file));
    }
    offences
}

/// Returns the longest phrase that begins at the first of these words.
fn phrase_at(words: &[Word]) -> Option<(&'static str, &'static str)> {
    let begins = |phrase: &str| {
        let mut length = 0;
        let is_equal = phrase.split(' ').zip(words).enumerate().all(|(index, (part, word))| {
            length += 1;
            word.text == part && (index == 0 || word.follows)
        });
        is_equal && length == phrase.split(' ').count()
    };
    PHRASES.iter().filter(|(phrase, _)| begins(phrase)).max_by_key(|it| it.0.len()).copied()
}

fn check_identifiers(file: &TextFile) -> Vec<Offence> {
    let mut offences = Vec::new();
    walk(tokens_of(file), &mut |rest| {
        let [token @ TokenTree::Ident(name), ..] = rest else { return };
        let name = name.to_string();
        let parts = parts_of(&name);
        let bad = PARTS.iter().find(|(part, _)| parts.iter().any(|it| it == part));
        let advice = match bad {
            Some((part, instead)) => format!("`{name}` has `{part}` in it; say: {instead}"),
            None if is_bound(&name, &parts) => {
                format!("`{name}` begins with `most`; say: max_, or add it to SUPERLATIVES")
            }
            None => return,
        };
        offences.push(Offence::new(&file.path, line(token), advice));
    });
    offences
}

fn is_bound(name: &str, parts: &[String]) -> bool {
    parts.len() > 1 && parts[0] == "most" && !SUPERLATIVES.contains(&name)
}

/// Splits a `snake_case`, `UPPER_CASE` or `CamelCase` name into parts in lower case.
fn parts_of(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if c == '_' || (was_lower && c.is_uppercase()) {
            parts.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(part) = parts.last_mut().filter(|_| c != '_') {
            part.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let offences = check(&TextFile::new(path, text));
        offences.into_iter().map(|offence| (offence.line, offence.advice)).collect()
    }

    fn lines(path: &str, text: &str) -> Vec<usize> {
        found(path, text).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn every_phrase_is_found_with_its_replacement() {
        for (phrase, instead) in PHRASES {
            let found = found("a.md", &format!("Fine.\n\nThe, {phrase}."));
            assert!(found.iter().any(|(line, advice)| *line == 3 && advice.ends_with(instead)));
        }
    }

    #[test]
    fn comments_docs_and_strings_are_checked_across_lines() {
        let texts = [
            "//! Slots, of\n//! which one is free.",
            "fn f() {} // Nobody calls it.",
            "const A: &str = \"for whom\";",
            "const A: &str = \"given \\\n back\";",
            "/* the\n * eye */",
        ];
        for text in texts {
            assert_eq!(lines("a.rs", text), [1], "{text}");
        }
        assert_eq!(lines("a.sh", "# some of\n# which"), [1]);
        assert_eq!(lines("a.html", "<p>who</p>"), [1]);
    }

    #[test]
    fn plain_text_passes() {
        let good = "/// Bytes of the slots. Which slots are used: see `whole`, bodies, newest.\n\
                    fn f(is_told: bool, r#most: u8) { g(\"the eyes, almost\"); }";
        assert_eq!(found("a.rs", good), []);
        assert_eq!(found("CHANGELOG.md", "nobody"), []);
        assert_eq!(found("a.obj", "nobody"), []);
    }

    #[test]
    fn identifiers_are_checked_by_their_parts() {
        for name in ["who_falls", "MOST_BYTES", "most_commands", "CameraWish", "_most_ranges"] {
            assert_eq!(lines("a.rs", &format!("\nlet {name} = m!(0);")), [2], "{name}");
        }
        for name in ["whole", "almost_full", "most", "the_most_bytes", "most_frequent", "Wished"] {
            assert_eq!(lines("a.rs", &format!("let {name} = 0;")), [0; 0], "{name}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_names_a_replacement() {
        assert!(PHRASES.is_sorted_by(|a, b| a.0 < b.0) && PARTS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(PHRASES.iter().chain(PARTS).all(|(_, instead)| !instead.is_empty()));
    }
}
