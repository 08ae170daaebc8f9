//! A walk over the tokens of a file. It sees what stands inside macro calls as well, where
//! a syntax tree has only an opaque lump.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::repository::TextFile;

/// Calls `see` once for every token, at every depth, with that token and all that follow
/// it on its own level.
pub(crate) fn walk(stream: TokenStream, see: &mut dyn FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        see(&tokens[at..]);
        if let TokenTree::Group(group) = token {
            walk(group.stream(), see);
        }
    }
}

/// The tokens of a Rust file.
///
/// # Panics
/// If it is no Rust: the compiler says so better.
pub(crate) fn tokens_of(file: &TextFile) -> TokenStream {
    file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path))
}

/// The syntax tree of a Rust file.
///
/// # Panics
/// If it is no Rust: the compiler says so better.
pub(crate) fn tree_of(file: &TextFile) -> syn::File {
    syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path))
}

pub(crate) fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

pub(crate) fn as_group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

pub(crate) fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// The line on which a token begins, counted from 1.
pub(crate) fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

#[test]
fn every_depth_is_seen_once() {
    let file = TextFile::new("a.rs", "fn a() { m!(x { a }) } // a\nconst A: &str = \"a\";");
    let mut lines = Vec::new();
    walk(tokens_of(&file), &mut |rest| {
        if is_word(rest.first(), "a") {
            lines.push(line(&rest[0]));
        }
    });
    assert_eq!(lines, [1, 1]);
}
