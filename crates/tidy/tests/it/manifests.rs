//! Every crate inherits its lints and its version from the workspace, so that both are
//! defined once.

use crate::offence::Offence;
use crate::repository::{Package, TextFile};

/// Keys that must be inherited, each with its section.
const INHERITED: [(&str, &str); 2] = [("lints", ""), ("version", "package.")];

pub(crate) fn check(package: &Package, files: &[TextFile]) -> Vec<Offence> {
    let path = package.manifest();
    let Some(file) = files.iter().find(|file| file.path == path) else {
        let advice = "git does not track this manifest, which cargo reads; add it";
        return vec![Offence::new(&path, 1, advice)];
    };
    let settings = settings(&file.text);
    INHERITED
        .iter()
        .filter(|(key, section)| {
            let wanted = format!("{section}{key}.workspace=true");
            let inline = format!("{section}{key}={{workspace=true}}");
            !settings.iter().any(|setting| *setting == wanted || *setting == inline)
        })
        .map(|(key, _)| {
            let advice = format!("does not inherit its {key}; write `{key}.workspace = true`");
            Offence::new(&path, 1, advice)
        })
        .collect()
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

    fn advice(manifest: &str) -> Vec<String> {
        let package = Package { folder: "crates/a".to_owned(), ..Package::default() };
        let files = [TextFile::new("crates/a/Cargo.toml", manifest)];
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
    fn a_manifest_must_be_tracked() {
        let package = Package { folder: "crates/a".to_owned(), ..Package::default() };
        assert!(check(&package, &[])[0].advice.contains("does not track"));
    }
}
