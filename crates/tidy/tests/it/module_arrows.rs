//! Modules of a crate depend on one another in one direction.
//!
//! The check compares siblings: at each level of the module tree, a module stands for its whole
//! folder, and the siblings' references may not form a circle. A module and its own children may
//! refer to one another. A name that is re-exported counts as a reference to the module that
//! defines it. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenTree;
use syn::visit::{self, Visit};

use crate::offence::Offence;
use crate::repository::TextFile;
use crate::tokens::tree_of;

/// Circles that may stay, each as `FOLDER: FIRST, SECOND, …` with its reason.
pub(crate) const CIRCLES: &[(&str, &str)] = &[];

/// Checks the modules below one root file, such as `crates/mesh/src/lib.rs`.
pub(crate) fn check(root: &TextFile, files: &[TextFile]) -> Vec<Offence> {
    let modules = Modules::read(root, files);
    let parents = 0..modules.list.len();
    parents.flat_map(|parent| modules.circles_below(parent)).collect()
}

/// Returns the root files of libraries and programs.
pub(crate) fn roots(files: &[TextFile]) -> impl Iterator<Item = &TextFile> {
    let is_root = |path: &str| {
        (path.starts_with("crates/") || path.starts_with("web/"))
            && (path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs"))
    };
    files.iter().filter(move |file| is_root(&file.path))
}

/// Returns entries of [`CIRCLES`] that name no circle of the repository.
pub(crate) fn unused_exceptions(files: &[TextFile], exceptions: &[(&str, &str)]) -> Vec<Offence> {
    let found: BTreeSet<String> = roots(files)
        .flat_map(|root| {
            let modules = Modules::read(root, files);
            let parents = 0..modules.list.len();
            parents.flat_map(|at| modules.components(at)).map(|(name, ..)| name).collect::<Vec<_>>()
        })
        .collect();
    let unused =
        exceptions.iter().filter(|(name, reason)| reason.is_empty() || !found.contains(*name));
    let advice = "is in CIRCLES of the tidy test but is no circle, or has no reason; fix the entry";
    unused.map(|(name, _)| Offence::new(name, 1, advice)).collect()
}

/// One module, in a file of its own or inside another's.
#[derive(Default)]
struct Module {
    /// Path of its file, from the root of the repository.
    file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Names of its own items.
    items: BTreeSet<String>,
    /// Names that `use` brings in, each with its path. A glob has the name `*`.
    imports: Vec<(String, Vec<String>)>,
    /// Every path in its code with its line.
    references: Vec<(Vec<String>, usize)>,
}

/// The modules of a crate. The first is the root.
struct Modules {
    list: Vec<Module>,
}

/// References from one sibling to another: the two, and the file and line of one of them.
type Edges = BTreeMap<(usize, usize), (String, usize)>;

impl Modules {
    fn read(root: &TextFile, files: &[TextFile]) -> Self {
        let mut modules = Self { list: Vec::new() };
        let by_path: BTreeMap<&str, &TextFile> =
            files.iter().map(|file| (file.path.as_str(), file)).collect();
        let folder = root.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        modules.add(None, &root.path, &tree_of(root).items, folder, &by_path);
        modules
    }

    /// Adds a module and, from its declarations, its children. `folder` contains the files of the
    /// children.
    fn add(
        &mut self,
        parent: Option<usize>,
        file: &str,
        items: &[syn::Item],
        folder: &str,
        files: &BTreeMap<&str, &TextFile>,
    ) -> usize {
        let index = self.list.len();
        let mut module = Module { file: file.to_owned(), parent, ..Module::default() };
        let mut code = Code { module: &mut module };
        items.iter().filter(|item| !is_test(item)).for_each(|item| code.visit_top(item));
        self.list.push(module);
        for item in items.iter().filter(|item| !is_test(item)) {
            let syn::Item::Mod(declared) = item else { continue };
            let name = declared.ident.to_string();
            let below = format!("{folder}/{name}");
            let child = if let Some((_, items)) = &declared.content {
                Some(self.add(Some(index), file, items, &below, files))
            } else {
                let path = [format!("{below}.rs"), format!("{below}/mod.rs")];
                let found = path.iter().find_map(|path| files.get(path.as_str()));
                found.map(|it| self.add(Some(index), &it.path, &tree_of(it).items, &below, files))
            };
            if let Some(child) = child {
                self.list[index].children.insert(name, child);
            }
        }
        index
    }

    /// Finds the module that defines what `path` in module `from` refers to. Returns `None` for
    /// other crates and unknown names.
    fn target(&self, from: usize, path: &[String], depth: usize) -> Option<usize> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.list[from].parent?,
            child => {
                rest = path;
                self.list[from].children.contains_key(child).then_some(from)?
            }
        };
        while rest.first().is_some_and(|name| name == "super") {
            at = self.list[at].parent?;
            rest = &rest[1..];
        }
        self.descend(at, rest, depth)
    }

    fn descend(&self, at: usize, path: &[String], depth: usize) -> Option<usize> {
        /// Bound on re-exports of re-exports.
        const MAX_DEPTH: usize = 16;
        let Some((name, rest)) = path.split_first() else { return Some(at) };
        let module = &self.list[at];
        if let Some(child) = module.children.get(name) {
            return self.descend(*child, rest, depth);
        }
        if module.items.contains(name) || name == "*" {
            return Some(at);
        }
        if depth == MAX_DEPTH {
            return None;
        }
        let named = module.imports.iter().filter(|(it, _)| it == name);
        let mut found = named.filter_map(|(_, path)| self.target(at, path, depth + 1));
        found.next().or_else(|| {
            let globs = module.imports.iter().filter(|(it, _)| it == "*");
            globs
                .filter_map(|(_, path)| {
                    let mut path = path.clone();
                    *path.last_mut()? = name.clone();
                    self.target(at, &path, depth + 1)
                })
                .next()
        })
    }

    /// Returns the child of `parent` that contains module `at`, if one does.
    fn child_around(&self, parent: usize, mut at: usize) -> Option<usize> {
        loop {
            let above = self.list[at].parent?;
            if above == parent {
                return Some(at);
            }
            at = above;
        }
    }

    /// References between the children of `parent`.
    fn edges(&self, parent: usize) -> Edges {
        let mut edges = Edges::new();
        for (at, module) in self.list.iter().enumerate() {
            let Some(from) = self.child_around(parent, at) else { continue };
            for (path, line) in &module.references {
                let target = self.target(at, path, 0);
                let to = target.and_then(|target| self.child_around(parent, target));
                if let Some(to) = to.filter(|to| *to != from) {
                    edges.entry((from, to)).or_insert_with(|| (module.file.clone(), *line));
                }
            }
        }
        edges
    }

    /// The circles among the children of `parent`: the name, the members and the references.
    fn components(&self, parent: usize) -> Vec<(String, Vec<usize>, Edges)> {
        let edges = self.edges(parent);
        let mut left: BTreeSet<usize> = self.list[parent].children.values().copied().collect();
        let mut components = Vec::new();
        while let Some(first) = left.pop_first() {
            let reachable = reach(first, &edges, |(from, to)| (from, to));
            let reaching = reach(first, &edges, |(from, to)| (to, from));
            let members: Vec<usize> = reachable.intersection(&reaching).copied().collect();
            if members.len() < 2 {
                continue;
            }
            left.retain(|it| !members.contains(it));
            let mut names: Vec<&str> = members.iter().map(|it| self.name(parent, *it)).collect();
            names.sort_unstable();
            let name = format!("{}: {}", self.place(parent), names.join(", "));
            let inner = edges
                .iter()
                .filter(|((from, to), _)| members.contains(from) && members.contains(to));
            let inner = inner.map(|(edge, at)| (*edge, at.clone())).collect();
            components.push((name, members, inner));
        }
        components
    }

    fn circles_below(&self, parent: usize) -> Vec<Offence> {
        let allowed = |name: &str| CIRCLES.iter().any(|(it, _)| *it == name);
        let components = self.components(parent).into_iter();
        let circles = components.filter(|(name, ..)| !allowed(name));
        circles
            .map(|(name, _, edges)| {
                let arrows: Vec<String> = edges
                    .iter()
                    .map(|((from, to), (file, line))| {
                        let (from, to) = (self.name(parent, *from), self.name(parent, *to));
                        format!("\n      {from} -> {to} at {file}:{line}")
                    })
                    .collect();
                let advice = format!(
                    "a circle of modules; move what both need below them, or what joins them \
                     above: {name}{}",
                    arrows.concat()
                );
                Offence::new(&self.list[parent].file, 1, advice)
            })
            .collect()
    }

    fn name(&self, parent: usize, child: usize) -> &str {
        let children = &self.list[parent].children;
        children.iter().find(|(_, it)| **it == child).map_or("", |(name, _)| name)
    }

    /// Folder of a module's children, such as `crates/mesh/src/polygon`. The root of a program has
    /// its file instead, because a library's root may be in the same folder.
    fn place(&self, module: usize) -> String {
        let file = &self.list[module].file;
        file.strip_suffix("/lib.rs").or_else(|| file.strip_suffix(".rs")).unwrap_or(file).to_owned()
    }
}

/// Collects the modules that `first` reaches over edges, itself included.
fn reach(
    first: usize,
    edges: &Edges,
    direction: impl Fn((usize, usize)) -> (usize, usize),
) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([first]);
    let mut open = vec![first];
    while let Some(at) = open.pop() {
        for edge in edges.keys() {
            let (from, to) = direction(*edge);
            if from == at && seen.insert(to) {
                open.push(to);
            }
        }
    }
    seen
}

/// Reads the items, imports and references of one module.
struct Code<'a> {
    module: &'a mut Module,
}

impl Code<'_> {
    /// Reads an item of the module itself. Modules inside it are read by [`Modules::add`].
    fn visit_top(&mut self, item: &syn::Item) {
        if let Some(name) = name_of(item) {
            self.module.items.insert(name);
        }
        if !matches!(item, syn::Item::Mod(_)) {
            self.visit_item(item);
        }
    }

    fn import(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        let mut end = |path: &mut Vec<String>, last: &syn::Ident, name: &syn::Ident| {
            // `use a::{self}` imports `a`.
            let is_self = last == "self" && !path.is_empty();
            let mut full = path.clone();
            if !is_self {
                full.push(last.to_string());
            }
            let own = full.last().cloned().unwrap_or_default();
            let name = if name == "self" { own } else { name.to_string() };
            self.module.references.push((full.clone(), last.span().start().line));
            self.module.imports.push((name, full));
        };
        match tree {
            syn::UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.import(&step.tree, path);
                path.pop();
            }
            syn::UseTree::Name(name) => end(path, &name.ident, &name.ident),
            syn::UseTree::Rename(name) => end(path, &name.ident, &name.rename),
            syn::UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                self.module.references.push((path.clone(), line));
                let mut full = path.clone();
                full.push("*".to_owned());
                self.module.imports.push(("*".to_owned(), full));
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, path));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Code<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let is_test = match item {
            syn::ImplItem::Fn(function) => has_test_attribute(&function.attrs),
            _ => false,
        };
        if !is_test {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let line = path.segments[0].ident.span().start().line;
            let segments = path.segments.iter().map(|segment| segment.ident.to_string());
            self.module.references.push((segments.collect(), line));
        }
        visit::visit_path(self, path);
    }
}

/// Name that an item defines in its module.
fn name_of(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(it) => &it.ident,
        syn::Item::Enum(it) => &it.ident,
        syn::Item::Fn(it) => &it.sig.ident,
        syn::Item::Macro(it) => it.ident.as_ref()?,
        syn::Item::Static(it) => &it.ident,
        syn::Item::Struct(it) => &it.ident,
        syn::Item::Trait(it) => &it.ident,
        syn::Item::Type(it) => &it.ident,
        syn::Item::Union(it) => &it.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Whether an item exists only in tests.
pub(crate) fn is_test(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Const(it) => &it.attrs,
        syn::Item::Enum(it) => &it.attrs,
        syn::Item::Fn(it) => &it.attrs,
        syn::Item::Impl(it) => &it.attrs,
        syn::Item::Macro(it) => &it.attrs,
        syn::Item::Mod(it) => &it.attrs,
        syn::Item::Static(it) => &it.attrs,
        syn::Item::Struct(it) => &it.attrs,
        syn::Item::Trait(it) => &it.attrs,
        syn::Item::Type(it) => &it.attrs,
        syn::Item::Use(it) => &it.attrs,
        _ => return false,
    };
    has_test_attribute(attributes)
}

/// Whether `#[test]` or a `#[cfg(…)]` that needs `test` is among the attributes.
pub(crate) fn has_test_attribute(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        if attribute.path().is_ident("test") {
            return true;
        }
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let mut words = list.tokens.clone().into_iter();
        let first = words.next();
        let is = |token: &Option<TokenTree>, word: &str| {
            token.as_ref().is_some_and(|token| token.to_string() == word)
        };
        list.path.is_ident("cfg")
            && (is(&first, "test")
                || is(&first, "all")
                    && words.next().is_some_and(|group| group.to_string().contains("test")))
    })
}

#[cfg(test)]
mod tests;
