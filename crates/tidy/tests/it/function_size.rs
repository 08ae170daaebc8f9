//! A function has at most 70 lines, so that it fits on a screen. The limit holds for tests
//! too.

use proc_macro2::{Delimiter, LineColumn, TokenTree};
use syn::visit::{self, Visit};

use crate::offence::Offence;
use crate::repository::TextFile;
use crate::tokens::{as_group, is_punct, is_word, line, tree_of, walk};

/// Largest number of lines of a body, from the line with `{` to the line with `}`.
const MAX_LINES: usize = 70;

pub(crate) fn check(file: &TextFile) -> Vec<Offence> {
    let mut functions = Functions { path: &file.path, offences: Vec::new() };
    functions.visit_file(&tree_of(file));
    functions.offences
}

struct Functions<'a> {
    path: &'a str,
    offences: Vec<Offence>,
}

impl Functions<'_> {
    fn measure(&mut self, name: &str, from: LineColumn, to: LineColumn) {
        let count = to.line - from.line + 1;
        if count > MAX_LINES {
            let advice = format!(
                "`{name}` has {count} lines, at most {MAX_LINES}; move its steps into named \
                 functions"
            );
            self.offences.push(Offence::new(self.path, from.line, advice));
        }
    }

    fn measure_block(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let braces = block.brace_token.span;
        self.measure(&signature.ident.to_string(), braces.open().start(), braces.close().end());
    }

    /// Measures a function inside a macro call: `fn`, then the first block before a semicolon.
    fn measure_tokens(&mut self, rest: &[TokenTree]) {
        let is_function =
            is_word(rest.first(), "fn") && as_group(rest.get(1), Delimiter::Parenthesis).is_none();
        if !is_function {
            return;
        }
        let body = rest
            .iter()
            .take_while(|token| !is_punct(Some(token), ';'))
            .find_map(|token| as_group(Some(token), Delimiter::Brace));
        if let Some(body) = body {
            let name = format!("the function of line {}", line(&rest[0]));
            self.measure(&name, body.span_open().start(), body.span_close().end());
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure_block(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure_block(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.measure_block(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        walk(call.tokens.clone(), &mut |rest| self.measure_tokens(rest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    /// Checks a file with one function, whose body has `line_count` lines with its braces.
    fn check_body(before: &str, after: &str, line_count: usize) -> Vec<usize> {
        let body = "let _ = 0;\n".repeat(line_count - 2);
        let text = format!("{before} {{\n{body}}} {after}");
        let offences = check(&TextFile::new("a.rs", text));
        let mut lines: Vec<usize> = offences.iter().map(|offence| offence.line).collect();
        lines.dedup();
        lines
    }

    #[test]
    fn every_kind_of_function_is_measured() {
        let kinds = [
            ("fn f()", ""),
            ("mod m { impl S { pub const fn f(&self)", "} }"),
            ("trait T { fn f(&self)", "}"),
            ("fn outer() { fn f()", "}"),
            ("proptest! { #[test] fn f(x in 0..9)", "}"),
            ("macro_rules! m { () => { fn $name() -> u8", "} }"),
        ];
        for (before, after) in kinds {
            assert_eq!(check_body(before, after, MAX_LINES), NONE, "{before}");
            assert_eq!(check_body(before, after, MAX_LINES + 1), [1], "{before}");
        }
    }

    #[test]
    fn modules_and_macro_calls_may_be_long() {
        for (before, after) in [("mod m", ""), ("m! { type F = fn(u8); fn g(); struct S", "}")] {
            let body = "const _: u8 = 0;\n".repeat(100);
            let text = format!("{before} {{\n{body}}} {after}");
            assert_eq!(check(&TextFile::new("a.rs", text)), []);
        }
    }
}
