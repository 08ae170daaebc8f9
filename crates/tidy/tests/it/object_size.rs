//! An object has at most 12 fields, 3 of them booleans, and its methods are in at most four files.
//! A larger one usually consists of several, each with its own methods and tests.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use crate::module_arrows::{has_test_attribute, is_test};
use crate::offence::Offence;
use crate::repository::TextFile;
use crate::tokens::tree_of;

const MAX_FIELDS: usize = 12;
const MAX_BOOLEANS: usize = 3;
const MAX_FILES: usize = 4;

/// Types over a limit, each as `CRATE::TYPE` with the reason.
pub(crate) const LARGE_OBJECTS: &[(&str, &str)] = &[
    ("app::Facts", "a list of values that the panels print"),
    ("app::Look", "independent switches of a picture"),
    ("memory::Class", "the metadata of one size class"),
    ("pool::PoolStats", "a list of numbers, each read by a report"),
    ("render::Frame", "bytes that shaders read, each field with its own meaning"),
    ("render::View", "independent switches of a picture"),
    ("store::Survey", "a list of counts, which a check adds up"),
];

/// Checks the types of all crates. Tests are left out.
pub(crate) fn check(files: &[TextFile], exceptions: &[(&str, &str)]) -> Vec<Offence> {
    let mut objects: BTreeMap<(String, String), Object> = BTreeMap::new();
    for file in files.iter().filter(|file| is_source(file)) {
        let mut reader = Reader { file, objects: &mut objects };
        tree_of(file).items.iter().for_each(|item| reader.visit_item(item));
    }
    let mut offences = Vec::new();
    let mut unused: Vec<&(&str, &str)> = exceptions.iter().collect();
    for ((krate, name), object) in &objects {
        let Some(advice) = object.fault(name) else { continue };
        let key = format!("{krate}::{name}");
        let known = unused.len();
        unused.retain(|(it, reason)| *it != key || reason.is_empty());
        if unused.len() == known {
            let advice = format!("{advice}; cut the object, or give a reason in LARGE_OBJECTS");
            offences.push(Offence::new(&object.file, object.line, advice));
        }
    }
    let advice = "is in LARGE_OBJECTS of the tidy test but is within the limits, or has no reason";
    offences.extend(unused.into_iter().map(|(name, _)| Offence::new(name, 1, advice)));
    offences
}

/// Whether a file contains code of a crate or of the page, and not only tests.
pub(crate) fn is_source(file: &TextFile) -> bool {
    let path = &file.path;
    (path.starts_with("crates/") || path.starts_with("web/"))
        && path.contains("/src/")
        && file.is_rust()
        && !path.ends_with("/tests.rs")
        && !path.contains("/tests/")
}

#[derive(Default)]
struct Object {
    /// Path of the file that defines it.
    file: String,
    line: usize,
    field_count: usize,
    boolean_count: usize,
    /// Files with its methods. Implementations of traits do not count.
    method_files: BTreeSet<String>,
}

impl Object {
    fn fault(&self, name: &str) -> Option<String> {
        if self.field_count > MAX_FIELDS {
            Some(format!("`{name}` has {} fields, at most {MAX_FIELDS}", self.field_count))
        } else if self.boolean_count > MAX_BOOLEANS {
            Some(format!("`{name}` has {} booleans, at most {MAX_BOOLEANS}", self.boolean_count))
        } else if self.method_files.len() > MAX_FILES {
            let files: Vec<&str> = self.method_files.iter().map(String::as_str).collect();
            let count = files.len();
            let files = files.join(" ");
            Some(format!("methods of `{name}` in {count} files, at most {MAX_FILES} ({files})"))
        } else {
            None
        }
    }
}

struct Reader<'a> {
    file: &'a TextFile,
    objects: &'a mut BTreeMap<(String, String), Object>,
}

impl Reader<'_> {
    fn object(&mut self, name: String) -> &mut Object {
        let krate = self.file.path.split("/src/").next().unwrap_or_default();
        let krate = krate.trim_start_matches("crates/").to_owned();
        self.objects.entry((krate, name)).or_default()
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let file = self.file.path.clone();
        let object = self.object(item.ident.to_string());
        let booleans = item.fields.iter().filter(|field| is_bool(&field.ty)).count();
        // Two types of one name: the larger counts.
        if item.fields.len() >= object.field_count {
            object.field_count = item.fields.len();
            object.file = file;
            object.line = item.ident.span().start().line;
        }
        object.boolean_count = object.boolean_count.max(booleans);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let syn::Type::Path(target) = &*item.self_ty else { return };
        let Some(last) = target.path.segments.last() else { return };
        if item.trait_.is_none() && !has_test_attribute(&item.attrs) {
            let file = self.file.path.clone();
            self.object(last.ident.to_string()).method_files.insert(file);
        }
    }
}

pub(crate) fn is_bool(kind: &syn::Type) -> bool {
    matches!(kind, syn::Type::Path(path) if path.path.is_ident("bool"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_files(texts: &[&str], exceptions: &[(&str, &str)]) -> Vec<String> {
        let file = |(at, text): (usize, &&str)| {
            TextFile::new(&format!("crates/a/src/m{at}.rs"), (*text).to_owned())
        };
        let files: Vec<TextFile> = texts.iter().enumerate().map(file).collect();
        check(&files, exceptions).into_iter().map(|offence| offence.advice).collect()
    }

    fn fields(count: usize, kind: &str) -> String {
        let list: String = (0..count).map(|at| format!("f{at}: {kind},")).collect();
        format!("struct S {{ {list} }}")
    }

    #[test]
    fn fields_and_booleans_are_counted() {
        assert_eq!(check_files(&[&fields(12, "u8")], &[]), Vec::<String>::new());
        assert!(check_files(&[&fields(13, "u8")], &[])[0].contains("13 fields"));
        assert_eq!(check_files(&[&fields(3, "bool")], &[]), Vec::<String>::new());
        assert!(check_files(&[&fields(4, "bool")], &[])[0].contains("4 booleans"));
    }

    #[test]
    fn files_with_methods_are_counted() {
        let methods = "impl S { fn f() {} }";
        assert_eq!(check_files(&["struct S;", methods, methods, methods, methods], &[]).len(), 0);
        assert_eq!(check_files(&[methods; 5], &[]).len(), 1);
        let others = "impl Drop for S { } #[cfg(test)] impl S { }";
        assert_eq!(check_files(&[methods, methods, methods, methods, others], &[]).len(), 0);
    }

    #[test]
    fn an_exception_needs_a_reason_and_a_large_object() {
        let large = fields(13, "u8");
        assert_eq!(check_files(&[&large], &[("a::S", "bytes that a GPU reads")]).len(), 0);
        assert_eq!(check_files(&[&large], &[("a::S", "")]).len(), 2);
        assert_eq!(check_files(&["struct S;"], &[("a::S", "bytes")]).len(), 1);
    }
}
