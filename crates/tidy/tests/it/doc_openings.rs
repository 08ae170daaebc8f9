//! A doc comment makes sense alone, because rustdoc shows each item by itself. The comment
//! begins with a verb or a noun, not with a word that refers to another item.

use crate::offence::Offence;
use crate::prose::{Kind, Prose, prose_of};
use crate::repository::TextFile;

/// Advice for an opening that refers to another item.
const ALONE: &str = "name the item: a verb in the third person, or a noun";
/// Advice for an opening that is a question.
const NOUN: &str = "`Number of`, `Name of`, `Position of`, or a verb in the third person";
/// Advice for an opening that is a fragment or a condition.
const SENTENCE: &str = "say what the item is or does first, then its condition";

/// First words that a doc comment must not have, each with advice.
const OPENINGS: &[(&str, &str)] = &[
    ("also", ALONE),
    ("and", ALONE),
    ("another", ALONE),
    ("as", ALONE),
    ("but", ALONE),
    ("how", NOUN),
    ("it", ALONE),
    ("its", ALONE),
    ("like", ALONE),
    ("one of which", ALONE),
    ("so", ALONE),
    ("such", ALONE),
    ("that", ALONE),
    ("the same", ALONE),
    ("these", ALONE),
    ("they", ALONE),
    ("this", ALONE),
    ("those", ALONE),
    ("what", NOUN),
    ("when", SENTENCE),
    ("where", NOUN),
    ("who", NOUN),
    ("with", SENTENCE),
    ("without", SENTENCE),
];

pub(crate) fn check(file: &TextFile) -> Vec<Offence> {
    let docs = prose_of(file).into_iter().filter(|prose| prose.kind == Kind::Doc);
    docs.filter_map(|doc| {
        let (opening, instead) = opening_of(&doc)?;
        let advice = format!("a doc comment begins with `{opening}`; begin with: {instead}");
        Some(Offence::new(&file.path, doc.line, advice))
    })
    .collect()
}

/// Returns the forbidden opening of a doc comment, if it has one.
fn opening_of(doc: &Prose) -> Option<(&'static str, &'static str)> {
    // A link or code at the beginning names an item.
    if !doc.text.starts_with(char::is_alphabetic) {
        return None;
    }
    let words = doc.words();
    OPENINGS.iter().copied().find(|(opening, _)| {
        let parts: Vec<&str> = opening.split(' ').collect();
        words.len() >= parts.len() && parts.iter().zip(&words).all(|(part, it)| it.text == *part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opening_is_found_with_its_replacement() {
        for (opening, instead) in OPENINGS {
            let mut capital = opening.to_string();
            capital[..1].make_ascii_uppercase();
            for (marker, after) in [("///", "fn f() {}"), ("//!", "")] {
                let text = format!("\n{marker} {capital} [`x`] is.\n{marker} It is.\n{after}");
                let offences = check(&TextFile::new("a.rs", text));
                assert_eq!(offences.len(), 1, "{opening}");
                assert_eq!(offences[0].line, 2);
                assert!(offences[0].advice.ends_with(instead));
            }
        }
    }

    #[test]
    fn only_the_first_words_of_doc_comments_count() {
        let good = "//! Packs meshes.\n//! It is small.\n\n/// # Panics\n/// Whether it is.\n\
                    fn f() {}\n// It is no doc comment.\nconst A: &str = \"It\";\n\
                    /// [`It`] as a link.\n/// What a doc.\nfn g() {}\n/// Asks once.\nfn h() {}";
        assert_eq!(check(&TextFile::new("a.rs", good)), []);
        assert_eq!(check(&TextFile::new("a.md", "/// It is.")), []);
    }
}
