//! The docs of each library crate have an example and name its limits, and its root forbids
//! or denies `unsafe`, unless the whole crate may contain it.

use crate::offence::Offence;
use crate::repository::{Package, TextFile, resolve};
use crate::tokens::tree_of;
use crate::unsafe_code::UNSAFE_MODULES;

/// Headings that a crate's docs must have, at any depth.
const SECTIONS: [&str; 2] = ["Examples", "Limits"];

/// Largest number of lines of a stub, which needs no docs yet.
const STUB_LINES: usize = 30;

pub(crate) fn check(package: &Package, files: &[TextFile]) -> Vec<Offence> {
    let sources = format!("{}/src/", package.folder);
    let lines: usize = files
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with(&sources))
        .map(TextFile::line_count)
        .sum();
    let root = files.iter().find(|file| file.path == format!("{sources}lib.rs"));
    match root {
        Some(root) if lines > STUB_LINES => check_root(package, root, files),
        _ => Vec::new(),
    }
}

fn check_root(package: &Package, root: &TextFile, files: &[TextFile]) -> Vec<Offence> {
    let attributes = tree_of(root).attrs;
    let docs = docs(&attributes, root, files);
    let mut offences: Vec<Offence> = SECTIONS
        .iter()
        .filter(|section| !has_heading(&docs, section))
        .map(|section| {
            Offence::new(&root.path, 1, format!("the crate's docs lack `# {section}`; add it"))
        })
        .collect();
    if UNSAFE_MODULES.iter().any(|(module, _)| *module == format!("{}/src/", package.folder)) {
        return offences;
    }
    let may_deny = UNSAFE_MODULES.iter().any(|(module, _)| module.starts_with(&package.folder));
    let levels: &[&str] = if may_deny { &["forbid", "deny"] } else { &["forbid"] };
    if !levels.iter().any(|level| sets_unsafe_code(&attributes, level)) {
        let advice = format!("lacks `#![{}(unsafe_code)]`; add it", levels.join("` or `"));
        offences.push(Offence::new(&root.path, 1, advice));
    }
    offences
}

/// Returns the docs of a crate, with the text of included files.
fn docs(attributes: &[syn::Attribute], root: &TextFile, files: &[TextFile]) -> String {
    let mut docs = String::new();
    for attribute in attributes {
        let syn::Meta::NameValue(pair) = &attribute.meta else { continue };
        if !pair.path.is_ident("doc") {
            continue;
        }
        match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                docs.push_str(&text.value());
            }
            syn::Expr::Macro(call) if call.mac.path.is_ident("include_str") => {
                let name = call.mac.parse_body::<syn::LitStr>().map(|name| name.value());
                let path = name.map_or_else(|_| String::new(), |name| resolve(&root.path, &name));
                let file = files.iter().find(|file| file.path == path);
                docs.push_str(file.map_or("", |file| &file.text));
            }
            _ => {}
        }
        docs.push('\n');
    }
    docs
}

/// Whether the docs have this heading outside code blocks.
fn has_heading(docs: &str, name: &str) -> bool {
    let mut in_code = false;
    docs.lines().map(str::trim).any(|line| {
        in_code ^= line.starts_with("```");
        !in_code && line.starts_with('#') && line.trim_start_matches('#').trim() == name
    })
}

fn sets_unsafe_code(attributes: &[syn::Attribute], level: &str) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let tokens = list.tokens.to_string();
        list.path.is_ident(level) && tokens.split(", ").any(|lint| lint.trim() == "unsafe_code")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "//! A thing.\n//! # Examples\n//! ```\n//! ```\n//! # Limits\n//! None.\n\
                        #![forbid(unsafe_code)]\n";

    fn advice(folder: &str, root: &str, line_count: usize) -> Vec<String> {
        let package = Package { folder: folder.to_owned(), ..Package::default() };
        let files = [
            TextFile::new(&format!("{folder}/src/lib.rs"), root),
            TextFile::new(&format!("{folder}/src/a.rs"), "\n".repeat(line_count)),
            TextFile::new(&format!("{folder}/README.md"), "# Dry\n## Examples\n## Limits\n"),
        ];
        check(&package, &files).into_iter().map(|offence| offence.advice).collect()
    }

    #[test]
    fn good_docs_pass() {
        assert_eq!(advice("crates/mesh", GOOD, 100), [""; 0]);
        let included = "#![doc = include_str!(\"../README.md\")]\n#![forbid(unsafe_code)]";
        assert_eq!(advice("crates/app", included, 100), [""; 0]);
    }

    #[test]
    fn missing_sections_and_attributes_are_named() {
        assert_eq!(advice("crates/mesh", "//! A thing.", 100).len(), 3);
        let hidden = GOOD.replace("//! # Limits", "//! ```\n//! # Limits\n//! ```");
        assert!(advice("crates/mesh", &hidden, 100)[0].contains("# Limits"));
        let longer = GOOD.replace("# Limits", "# Limits of memory");
        assert_eq!(advice("crates/mesh", &longer, 100).len(), 1);
        let lost = "#![doc = include_str!(\"README.md\")]\n#![forbid(unsafe_code)]";
        assert_eq!(advice("crates/app", lost, 100).len(), 2);
    }

    #[test]
    fn only_crates_with_unsafe_modules_may_deny() {
        let denies = GOOD.replace("forbid(", "deny(missing_docs, ");
        assert_eq!(advice("crates/voxel", &denies, 100), [""; 0]);
        assert_eq!(advice("crates/mesh", &denies, 100).len(), 1);
        let allows = GOOD.replace("forbid", "allow");
        assert_eq!(advice("crates/voxel", &allows, 100).len(), 1);
        assert_eq!(advice("crates/memory", &allows, 100), [""; 0]);
    }

    #[test]
    fn stubs_need_no_docs() {
        assert_eq!(advice("crates/mesh", "//! x", STUB_LINES - 1), [""; 0]);
        assert_ne!(advice("crates/mesh", "//! x", STUB_LINES), [""; 0]);
    }
}
