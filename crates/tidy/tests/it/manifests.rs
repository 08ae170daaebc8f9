//! Every crate inherits its lints and its version from the workspace, so that both are
//! defined once. Every published crate says what registries and docs.rs show.

use crate::offence::Offence;
use crate::repository::{Package, TextFile};

/// Keys that must be inherited, each with its section.
const INHERITED: [(&str, &str); 2] = [("lints", ""), ("version", "package.")];

/// Keys that a published crate sets, each with its section.
const PUBLISHED: [(&str, &str); 8] = [
    ("description", "package."),
    ("keywords", "package."),
    ("categories", "package."),
    ("documentation", "package."),
    ("readme", "package."),
    ("license.workspace", "package."),
    ("rust-version", "package."),
    ("all-features", "package.metadata.docs.rs."),
];

/// Files that a published crate contains.
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

pub(crate) fn check(package: &Package, files: &[TextFile]) -> Vec<Offence> {
    let path = package.manifest();
    let Some(file) = files.iter().find(|file| file.path == path) else {
        let advice = "git does not track this manifest, which cargo reads; add it";
        return vec![Offence::new(&path, 1, advice)];
    };
    let settings = settings(&file.text);
    let mut faults = not_inherited(&settings);
    if !settings.iter().any(|setting| setting == "package.publish=false") {
        faults.extend(unpublishable(package, &settings, files));
    }
    faults.into_iter().map(|advice| Offence::new(&path, 1, advice)).collect()
}

fn not_inherited(settings: &[String]) -> Vec<String> {
    let is_set = |key: &str, section: &str| {
        let wanted = format!("{section}{key}.workspace=true");
        let inline = format!("{section}{key}={{workspace=true}}");
        settings.iter().any(|setting| *setting == wanted || *setting == inline)
    };
    INHERITED
        .iter()
        .filter(|(key, section)| !is_set(key, section))
        .map(|(key, _)| format!("does not inherit its {key}; write `{key}.workspace = true`"))
        .collect()
}

fn unpublishable(package: &Package, settings: &[String], files: &[TextFile]) -> Vec<String> {
    let is_set = |key: &str, section: &str| {
        let start = format!("{section}{key}");
        let rests = settings.iter().filter_map(|setting| setting.strip_prefix(&start));
        rests.into_iter().any(|rest| rest.starts_with(['=', '.']))
    };
    let keys = PUBLISHED.iter().filter(|(key, section)| !is_set(key, section));
    let keys = keys.map(|(key, section)| format!("does not set `{section}{key}`, which it needs"));
    let is_missing = |name: &&&str| {
        let path = format!("{}/{name}", package.folder);
        !files.iter().any(|file| file.path == path)
    };
    let licenses = LICENSES.iter().filter(is_missing);
    keys.chain(licenses.map(|name| format!("has no {name}; link that of the repository"))).collect()
}

/// Returns the lines `key = value` of a manifest as `section.key=value`, without spaces. Other
/// TOML is not supported.
fn settings(text: &str) -> Vec<String> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in text.lines() {
        let line: String = line.split('#').next().unwrap_or(line).split_whitespace().collect();
        if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
        } else if !line.is_empty() {
            settings.push(format!("{section}{line}"));
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Advice for a package that is not published.
    fn advice(manifest: &str) -> Vec<String> {
        advice_of(&format!("package.publish = false\n{manifest}"), &[])
    }

    fn advice_of(manifest: &str, licenses: &[&str]) -> Vec<String> {
        let package = Package { folder: "crates/a".to_owned(), ..Package::default() };
        let licenses = licenses.iter().map(|name| TextFile::new(&format!("crates/a/{name}"), ""));
        let manifest = TextFile::new("crates/a/Cargo.toml", manifest);
        let files: Vec<TextFile> = licenses.chain([manifest]).collect();
        check(&package, &files).into_iter().map(|offence| offence.advice).collect()
    }

    #[test]
    fn every_spelling_of_inheritance_passes() {
        for manifest in [
            "[package]\nversion.workspace = true # as all\n\n[lints]\nworkspace = true",
            "[package]\nversion = { workspace = true }\n[lints]\nworkspace=true",
            "lints.workspace = true\n[package]\nversion.workspace = true",
        ] {
            assert_eq!(advice(manifest), [""; 0], "{manifest}");
        }
    }

    #[test]
    fn keys_that_are_not_inherited_are_named() {
        let both = advice("[package]\nversion = \"1.0.0\"\n[dependencies]\nlints.workspace = true");
        assert_eq!(both.len(), 2);
        assert!(both[0].contains("its lints") && both[1].contains("its version"));
        assert_eq!(
            advice("[package]\nversion.workspace = true\n[lints]\nworkspace = false").len(),
            1
        );
    }

    #[test]
    fn a_published_package_is_described() {
        let whole = "lints.workspace = true\n[package]\nversion.workspace = true\ndescription = \"a\"\n\
                     keywords.workspace = true\ncategories = [\"b\"]\ndocumentation = \"c\"\n\
                     readme = \"d\"\nlicense.workspace = true\nrust-version = \"1\"\n\
                     [package.metadata.docs.rs]\nall-features = true";
        assert_eq!(advice_of(whole, &LICENSES), [""; 0]);
        let without = whole.replace("readme", "note").replace("all-features", "features");
        let found = advice_of(&without, &["LICENSE-MIT"]);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("readme") && found[1].contains("all-features"));
        assert!(found[2].contains("LICENSE-APACHE"));
    }

    #[test]
    fn a_manifest_must_be_tracked() {
        let package = Package { folder: "crates/a".to_owned(), ..Package::default() };
        assert!(check(&package, &[])[0].advice.contains("does not track"));
    }
}
