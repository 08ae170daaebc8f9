//! Source files that documents name in code spans exist, so that the code map stays correct.

use crate::document_size::lines_outside_code;
use crate::offence::Offence;
use crate::repository::TextFile;

/// Documents that name files of the past, or files of an example.
const EXCEPTIONS: &[&str] = &["CHANGELOG.md", "CONTRIBUTING.md"];

/// Checks a Markdown file. A span may leave out the first folders of a path. `paths` are all files
/// of the repository.
pub(crate) fn check(file: &TextFile, paths: &[String]) -> Vec<Offence> {
    if !file.path.ends_with(".md") || EXCEPTIONS.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let mut offences = Vec::new();
    for (line, text) in lines_outside_code(&file.text) {
        for span in text.split('`').skip(1).step_by(2).filter(|span| names_a_file(span)) {
            let inner = format!("/{span}");
            if !paths.iter().any(|path| path == span || path.ends_with(&inner)) {
                let advice = format!("no source file `{span}`; fix the path");
                offences.push(Offence::new(&file.path, line, advice));
            }
        }
    }
    offences
}

/// Whether a code span is the path of a source file. Upper case stands for a name to be chosen.
fn names_a_file(span: &str) -> bool {
    let is_path = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./".contains(c);
    [".rs", ".wgsl", ".glsl", ".vert", ".frag", ".js"].iter().any(|ending| span.ends_with(ending))
        && !span.starts_with('.')
        && span.chars().all(is_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        let paths = ["crates/mesh/src/quad.rs", "web/page/input.js"].map(str::to_owned);
        check(&TextFile::new(path, text), &paths).len()
    }

    #[test]
    fn existing_files_pass_by_any_part_of_their_path() {
        let text = "`quad.rs`, `mesh/src/quad.rs`, `input.js`, `src/FORMAT.rs`, `Quad`, `.rs`";
        assert_eq!(count("README.md", text), 0);
        assert_eq!(count("CHANGELOG.md", "`gone.rs`"), 0);
    }

    #[test]
    fn missing_files_are_found() {
        assert_eq!(count("README.md", "`ad.rs` and `voxel/src/quad.rs`\n\n`gone.js`"), 3);
    }
}
