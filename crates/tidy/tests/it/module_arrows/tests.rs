use super::*;

/// Checks a library of one root and the given modules, each a path from `src/` and its text.
fn check_modules(root: &str, modules: &[(&str, &str)]) -> Vec<String> {
    let root = TextFile::new("crates/a/src/lib.rs", root);
    let file = |(path, text): &(&str, &str)| {
        TextFile::new(&format!("crates/a/src/{path}"), (*text).to_owned())
    };
    let files: Vec<TextFile> = modules.iter().map(file).collect();
    check(&root, &files).into_iter().map(|offence| offence.advice).collect()
}

#[test]
fn one_direction_passes() {
    let found = check_modules(
        "mod low; mod high; pub use high::High; pub use low::Low;",
        &[
            ("low.rs", "pub struct Low;"),
            ("high.rs", "use crate::Low; pub struct High(Low, std::sync::Arc<u8>);"),
        ],
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_circle_through_a_reexport_is_found() {
    let found = check_modules(
        "mod low; mod high; pub use high::*; pub use low::Low;",
        &[
            ("low.rs", "pub struct Low; fn make() -> crate::High { todo() }"),
            ("high.rs", "use super::Low;\npub struct High(Low);"),
        ],
    );
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("crates/a/src: high, low"), "{}", found[0]);
    assert!(found[0].contains("high -> low at crates/a/src/high.rs:1"), "{}", found[0]);
}

#[test]
fn a_folder_stands_for_its_files() {
    let modules = [
        ("tree.rs", "mod leaf; pub struct Tree;"),
        ("tree/leaf.rs", "use crate::world::World; use super::Tree; pub struct Leaf;"),
        ("world.rs", "use crate::tree::Tree; pub struct World;"),
    ];
    assert_eq!(check_modules("mod tree; mod world;", &modules).len(), 1);
    let parent_and_child = [modules[0], ("tree/leaf.rs", "use super::Tree;")];
    assert_eq!(check_modules("mod tree;", &parent_and_child), Vec::<String>::new());
}

#[test]
fn tests_may_use_everything() {
    let found = check_modules(
        "mod low; mod high;",
        &[
            ("low.rs", "#[cfg(test)] mod tests { use crate::high::High; }"),
            ("high.rs", "use crate::low; pub struct High;"),
        ],
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_stale_exception_is_an_offence() {
    let files = [TextFile::new("crates/a/src/lib.rs", "mod b;")];
    assert_eq!(unused_exceptions(&files, &[("crates/a/src: b, c", "one algorithm")]).len(), 1);
}
