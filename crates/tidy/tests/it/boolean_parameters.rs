//! Public functions have no boolean parameters, because `insert(mesh, true)` does not say what is
//! true. They take an enum or a struct of options.

use syn::visit::{self, Visit};

use crate::module_arrows::is_test;
use crate::object_size::{is_bool, is_source};
use crate::offence::Offence;
use crate::repository::TextFile;
use crate::tokens::tree_of;

pub(crate) fn check(file: &TextFile) -> Vec<Offence> {
    if !is_source(file) {
        return Vec::new();
    }
    let mut functions = Functions { path: &file.path, offences: Vec::new() };
    tree_of(file).items.iter().for_each(|item| functions.visit_item(item));
    functions.offences
}

struct Functions<'a> {
    path: &'a str,
    offences: Vec<Offence>,
}

impl Functions<'_> {
    fn check(&mut self, visibility: &syn::Visibility, signature: &syn::Signature) {
        let is_public = matches!(visibility, syn::Visibility::Public(_));
        let is_boolean =
            |input: &syn::FnArg| matches!(input, syn::FnArg::Typed(it) if is_bool(&it.ty));
        if is_public && signature.inputs.iter().any(is_boolean) {
            let name = &signature.ident;
            let advice = format!("`{name}` has a boolean parameter; take an enum or options");
            self.offences.push(Offence::new(self.path, name.span().start().line, advice));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.check(&function.vis, &function.sig);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.check(&function.vis, &function.sig);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        for member in &item.items {
            if let syn::TraitItem::Fn(function) = member {
                self.check(&item.vis, &function.sig);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        check(&TextFile::new("crates/a/src/b.rs", text)).len()
    }

    #[test]
    fn public_functions_are_checked() {
        assert_eq!(count("pub fn f(wire: bool) {}"), 1);
        assert_eq!(count("impl S { pub fn f(&self, at: u8, wire: bool) {} }"), 1);
        assert_eq!(count("pub trait T { fn f(&self, wire: bool); }"), 1);
    }

    #[test]
    fn others_may_have_them() {
        assert_eq!(count("pub(crate) fn f(wire: bool) {} fn g(wire: bool) {}"), 0);
        assert_eq!(count("pub fn f(wire: Wire) -> bool { wire.on }"), 0);
        assert_eq!(count("#[cfg(test)] mod tests { pub fn f(wire: bool) {} }"), 0);
    }
}
