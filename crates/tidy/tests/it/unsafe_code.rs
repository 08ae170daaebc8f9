//! `unsafe` is confined to a list of modules, and each use states why it is sound.
//!
//! A lint can forbid `unsafe` in a whole crate, but cannot confine it to a module. This check
//! reads tokens, because a syntax tree does not contain the code inside macro calls.

use proc_macro2::{Delimiter, TokenTree};
use syn::visit::{self, Visit};

use crate::offence::Offence;
use crate::repository::TextFile;
use crate::tokens::{as_group, is_word, line, tokens_of, tree_of, walk};

/// Files, and folders with a `/` at the end, that may contain `unsafe`, each with its reason.
pub(crate) const UNSAFE_MODULES: &[(&str, &str)] = &[
    ("crates/memory/src/", "hands out raw memory"),
    ("crates/app/src/viewer/console.rs", "a console handler on Windows is a foreign function"),
    ("crates/bench/src/drawing/article/naive.rs", "the article's program calls OpenGL itself"),
    ("crates/bench/src/polygons/raw.rs", "the article's code with raw pointers, for comparison"),
    ("crates/bench/src/arenas/stack.rs", "frees blocks of raw memory, as other allocators do"),
    ("crates/bench/src/arenas/global/program.rs", "allocates as boxes of the program do"),
    ("crates/bench/src/arenas/small/", "calls allocators and Lua without a collection around them"),
    ("crates/bench/src/spaces/vma.rs", "calls an allocator written in C++"),
    ("crates/render/src/gl/", "every OpenGL call is a foreign one"),
    ("crates/voxel/src/simd/x86.rs", "runs code for newer processors"),
    ("crates/voxel/src/simd/x86/", "SIMD intrinsics, each with a portable twin"),
];

/// Integration tests may contain a counting allocator.
const TEST_FOLDER: &str = "/tests/it/";

pub(crate) fn check(file: &TextFile) -> Vec<Offence> {
    let mut offences = Vec::new();
    let lines: Vec<&str> = file.text.lines().collect();
    let allowed = is_allowed(&file.path);
    walk(tokens_of(file), &mut |rest| {
        if !is_word(rest.first(), "unsafe") {
            return;
        }
        let at = line(&rest[0]);
        if !allowed {
            let advice = "`unsafe` outside its modules; remove it, or move it into one \
                          of UNSAFE_MODULES of the tidy test";
            offences.push(Offence::new(&file.path, at, advice));
        } else if needs_reason(&rest[1..]) && !has_reason(&lines, at, "SAFETY:") {
            let advice = "`unsafe` without a reason; write `// SAFETY: why it is sound` \
                          directly above";
            offences.push(Offence::new(&file.path, at, advice));
        }
    });
    if allowed {
        let mut contracts = Contracts { file, lines: &lines, offences: &mut offences };
        contracts.visit_file(&tree_of(file));
    }
    offences
}

pub(crate) fn is_allowed(path: &str) -> bool {
    let is_in =
        |module: &str| path == module || (module.ends_with('/') && path.starts_with(module));
    UNSAFE_MODULES.iter().any(|(module, _)| is_in(module)) || path.contains(TEST_FOLDER)
}

/// Whether the tokens after `unsafe` are a block, an implementation or a block of foreign
/// functions. A function has its contract in its docs, and a function type has none.
fn needs_reason(after: &[TokenTree]) -> bool {
    let is_block = |token| as_group(token, Delimiter::Brace).is_some();
    is_block(after.first())
        || is_word(after.first(), "impl")
        || (is_word(after.first(), "extern") && (is_block(after.get(1)) || is_block(after.get(2))))
}

/// Whether the comment directly above line `at`, or above the statement that contains it, has
/// `word` in it.
fn has_reason(lines: &[&str], at: usize, word: &str) -> bool {
    let above = lines[..at - 1].iter().rev().map(|line| line.trim());
    let comment = above.skip_while(|line| is_continued(line));
    comment.take_while(|line| line.starts_with("//")).any(|line| line.contains(word))
}

/// Whether the statement on a line continues on the next line. Attributes count.
fn is_continued(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("//") && !line.ends_with([';', ',', '{', '}'])
}

/// Finds unsafe functions without a `# Safety` section. Functions that implement a trait have
/// their contract in the trait.
struct Contracts<'a> {
    file: &'a TextFile,
    lines: &'a [&'a str],
    offences: &'a mut Vec<Offence>,
}

impl Contracts<'_> {
    fn expect_contract(&mut self, signature: &syn::Signature) {
        let syn::Safety::Unsafe(token) = &signature.safety else { return };
        let at = token.span.start().line;
        if !has_reason(self.lines, at, "# Safety") {
            let advice = format!(
                "`{}` does not state what its caller must guarantee; add `# Safety` with a \
                 list to its docs",
                signature.ident
            );
            self.offences.push(Offence::new(&self.file.path, at, advice));
        }
    }
}

impl<'ast> Visit<'ast> for Contracts<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.expect_contract(&function.sig);
        visit::visit_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.expect_contract(&function.sig);
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        if block.trait_.is_none() {
            for item in &block.items {
                if let syn::ImplItem::Fn(function) = item {
                    self.expect_contract(&function.sig);
                }
            }
        }
        visit::visit_item_impl(self, block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&TextFile::new(path, text)).iter().map(|offence| offence.line).collect()
    }

    const HOME: &str = "crates/memory/src/stack.rs";

    #[test]
    fn unsafe_is_allowed_only_in_its_modules() {
        let text = "fn f() {\n// SAFETY: sample.\nunsafe { g() } }";
        for path in [HOME, "crates/voxel/src/simd/x86.rs", "crates/mesh/tests/it/heap.rs"] {
            assert_eq!(lines(path, text), NONE, "{path}");
        }
        for path in ["crates/alloc/src/slots.rs", "crates/voxel/src/simd/x86.rs/x.rs", "build.rs"] {
            assert_eq!(lines(path, text), [3], "{path}");
        }
    }

    #[test]
    fn every_kind_of_unsafe_is_found() {
        let kinds = [
            "fn f() { unsafe { g() } }",
            "unsafe fn f() {}",
            "unsafe impl Send for S {}",
            "unsafe trait T {}",
            "unsafe extern \"C\" { fn f(); }",
            "type F = unsafe fn();",
            "#[unsafe(no_mangle)] fn f() {}",
            "thing! { x => unsafe { g() } }",
        ];
        for text in kinds {
            assert_eq!(lines("a.rs", text), [1], "{text}");
        }
        assert_eq!(
            lines("a.rs", "#![forbid(unsafe_code)] // unsafe\nconst A: &str = \"unsafe\";"),
            NONE
        );
    }

    #[test]
    fn a_reason_is_directly_above() {
        let good = [
            "fn f() {\n// SAFETY: sample.\nunsafe { g() } }",
            "fn f() {\n// SAFETY: sample,\n// of two lines.\nlet a =\nunsafe { g() }; }",
            "// SAFETY: sample.\n#[cfg(x)]\nunsafe impl Send for S {}",
            "// SAFETY: sample.\nunsafe extern \"C\" { fn f(); }",
            "thing! {\n// SAFETY: sample.\nunsafe { g() } }",
            "type F = unsafe fn();",
        ];
        for text in good {
            assert_eq!(lines(HOME, text), NONE, "{text}");
        }
        let bad = [
            "fn f() {\n// Safe.\nunsafe { g() } }",
            "fn f() {\n// SAFETY: of another.\nh();\nunsafe { g() } }",
            "fn f() {\n// SAFETY: too far up.\n\nunsafe { g() } }",
            "// SAFETY: sample.\nunsafe impl Send for S {}\nunsafe impl Sync for S {}",
            "thing! { unsafe { g() } }",
            "unsafe extern { fn f(); }",
        ];
        for text in bad {
            assert_eq!(lines(HOME, text).len(), 1, "{text}");
        }
    }

    #[test]
    fn unsafe_functions_state_their_contract() {
        let good = [
            "/// Does.\n///\n/// # Safety\n/// * `p` is valid.\n#[inline]\npub unsafe fn f() {}",
            "impl S {\n/// # Safety\n/// * `p` is valid.\nunsafe fn f() {} }",
            "impl T for S { unsafe fn f() {} }",
        ];
        for text in good {
            assert_eq!(lines(HOME, text), NONE, "{text}");
        }
        for text in
            ["unsafe fn f() {}", "impl S { unsafe fn f() {} }", "trait T { unsafe fn f(); }"]
        {
            assert_eq!(lines(HOME, text), [1], "{text}");
        }
    }
}
