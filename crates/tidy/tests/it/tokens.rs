//! Visits the tokens of a file, including those inside macro calls, which a syntax tree does
//! not contain.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::repository::TextFile;

/// Calls `visit` for every token at every depth. The argument is the token and those that
/// follow it at its own depth.
pub(crate) fn walk(stream: TokenStream, visit: &mut dyn FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        visit(&tokens[at..]);
        if let TokenTree::Group(group) = token {
            walk(group.stream(), visit);
        }
    }
}

/// Returns the tokens of a Rust file.
///
/// # Panics
/// If the file is not valid Rust.
pub(crate) fn tokens_of(file: &TextFile) -> TokenStream {
    file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path))
}

/// Returns the syntax tree of a Rust file.
///
/// # Panics
/// If the file is not valid Rust.
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

/// Returns the line on which a token begins, counted from 1.
pub(crate) fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

#[test]
fn tokens_of_every_depth_are_visited_once() {
    let file = TextFile::new("a.rs", "fn a() { m!(x { a }) } // a\nconst A: &str = \"a\";");
    let mut lines = Vec::new();
    walk(tokens_of(&file), &mut |rest| {
        if is_word(rest.first(), "a") {
            lines.push(line(&rest[0]));
        }
    });
    assert_eq!(lines, [1, 1]);
}
