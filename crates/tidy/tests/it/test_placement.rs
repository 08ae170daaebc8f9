//! Tests are at the end of their file up to 150 lines, and in a separate file beyond that. A
//! crate has one integration binary, because each binary is linked separately.

use syn::visit::Visit;

use crate::offence::Offence;
use crate::repository::{Package, TextFile};
use crate::tokens::tree_of;

/// Largest number of lines of tests in a source file.
const MAX_TEST_LINES: usize = 150;

/// Path of a crate's only integration test, from its folder.
const TEST_BINARY: &str = "tests/it/main.rs";

pub(crate) fn check_file(file: &TextFile) -> Vec<Offence> {
    if !holds_code(&file.path) {
        return Vec::new();
    }
    let mut tests = Tests::default();
    tests.visit_file(&tree_of(file));
    if tests.line_count <= MAX_TEST_LINES {
        return Vec::new();
    }
    let advice = format!(
        "{} lines of tests, at most {MAX_TEST_LINES} in a source file; move them to {}",
        tests.line_count,
        home_of_tests(&file.path)
    );
    vec![Offence::new(&file.path, tests.first_line, advice)]
}

pub(crate) fn check_package(package: &Package) -> Vec<Offence> {
    let expected = format!("{}/{TEST_BINARY}", package.folder);
    package
        .test_binaries
        .iter()
        .filter(|path| **path != expected)
        .map(|path| {
            let advice = format!("a second integration binary; make it a module of {expected}");
            Offence::new(path, 1, advice)
        })
        .collect()
}

/// Whether a file contains code and not only tests.
fn holds_code(path: &str) -> bool {
    path.contains("src/") && !path.ends_with("/tests.rs") && !path.contains("/tests/")
}

/// Returns the file for tests: `src/tests.rs` for `src/lib.rs`, `src/foo/tests.rs` for
/// `src/foo.rs`.
fn home_of_tests(path: &str) -> String {
    let stem = path.trim_end_matches(".rs");
    let folder = ["/lib", "/main", "/mod"].iter().find_map(|name| stem.strip_suffix(name));
    format!("{}/tests.rs", folder.unwrap_or(stem))
}

#[derive(Default)]
struct Tests {
    line_count: usize,
    first_line: usize,
}

impl Tests {
    /// Counts the lines from the first attribute to the closing brace.
    fn count(&mut self, attributes: &[syn::Attribute], braces: &syn::token::Brace) {
        let end = braces.span.close().end().line;
        let start = attributes.first().map_or(end, |it| it.pound_token.span.start().line);
        if self.line_count == 0 {
            self.first_line = start;
        }
        self.line_count += end - start + 1;
    }
}

impl<'ast> Visit<'ast> for Tests {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        match &module.content {
            Some((braces, _)) if module.attrs.iter().any(is_cfg_test) => {
                self.count(&module.attrs, braces);
            }
            _ => syn::visit::visit_item_mod(self, module),
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if function.attrs.iter().any(|attribute| attribute.path().is_ident("test")) {
            self.count(&function.attrs, &function.block.brace_token);
        }
    }
}

/// Whether an attribute is `#[cfg(test)]` or similar to `#[cfg(all(test, unix))]`.
fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let condition = list.tokens.to_string();
    let mut words = condition.split(|c: char| !c.is_alphanumeric());
    list.path.is_ident("cfg") && words.any(|word| word == "test") && !condition.contains("not")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a file with one line of code and a module of `line_count` lines.
    fn check_module(path: &str, attribute: &str, line_count: usize) -> Vec<Offence> {
        let body = "const _: u8 = 0;\n".repeat(line_count - 3);
        let text = format!("fn f() {{}}\n{attribute}\nmod tests {{\n{body}}}");
        check_file(&TextFile::new(path, text))
    }

    #[test]
    fn long_tests_move_out() {
        let path = "crates/mesh/src/quad.rs";
        assert_eq!(check_module(path, "#[cfg(test)]", MAX_TEST_LINES), []);
        let offences = check_module(path, "#[cfg(test)]", MAX_TEST_LINES + 1);
        assert_eq!(offences[0].line, 2);
        assert!(offences[0].advice.ends_with("to crates/mesh/src/quad/tests.rs"));
        assert_eq!(check_module(path, "#[cfg(all(test, unix))]", 151).len(), 1);
    }

    #[test]
    fn tests_without_a_module_count_too() {
        let text = "#[test]\nfn f() {\n}\n".repeat(51);
        assert_eq!(check_file(&TextFile::new("crates/a/src/lib.rs", text)).len(), 1);
    }

    #[test]
    fn code_and_files_of_tests_may_be_long() {
        assert_eq!(check_module("crates/a/src/b.rs", "#[cfg(not(test))]", 300), []);
        for path in ["crates/a/src/b/tests.rs", "crates/a/tests/it/b.rs"] {
            assert_eq!(check_module(path, "#[cfg(test)]", 300), [], "{path}");
        }
    }

    #[test]
    fn tests_of_a_crate_root_are_in_its_folder() {
        assert_eq!(home_of_tests("crates/a/src/lib.rs"), "crates/a/src/tests.rs");
        assert_eq!(home_of_tests("crates/a/src/b/mod.rs"), "crates/a/src/b/tests.rs");
    }

    #[test]
    fn one_integration_binary_a_crate() {
        let mut package = Package { folder: "crates/a".to_owned(), ..Package::default() };
        package.test_binaries = vec!["crates/a/tests/it/main.rs".to_owned()];
        assert_eq!(check_package(&package), []);
        package.test_binaries.push("crates/a/tests/other.rs".to_owned());
        assert_eq!(check_package(&package)[0].path, "crates/a/tests/other.rs");
    }
}
