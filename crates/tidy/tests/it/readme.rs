//! The README's examples run: the crate `drystone` includes it where doc tests are built.

use crate::offence::Offence;
use crate::repository::TextFile;

const README: &str = "README.md";
const LIBRARY: &str = "crates/app/src/lib.rs";
/// The README of the repository. Packages do not contain it, so that only doc tests include it.
const INCLUSION: &str = "#[cfg(doctest)]\n#[doc = include_str!(\"../../../README.md\")]";

/// Words after three backticks that disable a doc test.
const NOT_RUN: [&str; 3] = ["ignore", "no_run", "compile_fail"];

/// Checks the README, if it exists.
pub(crate) fn check(files: &[TextFile]) -> Vec<Offence> {
    let find = |path: &str| files.iter().find(|file| file.path == path);
    let Some(readme) = find(README) else { return Vec::new() };
    let mut offences = check_examples(readme);
    if !find(LIBRARY).is_some_and(|library| library.text.contains(INCLUSION)) {
        let advice = format!("the README's examples do not run; add `{INCLUSION}`");
        offences.push(Offence::new(LIBRARY, 1, advice));
    }
    offences
}

fn check_examples(readme: &TextFile) -> Vec<Offence> {
    let mut offences = Vec::new();
    let mut example_count = 0;
    for (index, line) in readme.text.lines().enumerate() {
        let Some(info) = line.trim().strip_prefix("```") else { continue };
        let words: Vec<&str> = info.split([',', ' ']).collect();
        example_count += usize::from(words.contains(&"rust"));
        if words.iter().any(|word| NOT_RUN.contains(word)) {
            let advice = "this example does not run; make it runnable, or mark it as `text`";
            offences.push(Offence::new(README, index + 1, advice));
        }
    }
    if example_count == 0 {
        offences.push(Offence::new(README, 1, "has no example; add one in a ```rust block"));
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(readme: &str, library: &str) -> Vec<(String, usize)> {
        let files = [TextFile::new(README, readme), TextFile::new(LIBRARY, library)];
        check(&files).into_iter().map(|offence| (offence.path, offence.line)).collect()
    }

    #[test]
    fn a_readme_whose_examples_run_passes() {
        let library = format!("{INCLUSION}\nstruct Readme;");
        assert_eq!(lines("# Dry\n```rust\n```\n```sh\n```", &library), []);
        assert_eq!(check(&[]), []);
    }

    #[test]
    fn an_example_that_does_not_run_is_reported() {
        let library = format!("{INCLUSION}\nstruct Readme;");
        let ignored = lines("# Dry\n```rust,ignore\n```", &library);
        assert_eq!(ignored, [(README.to_owned(), 2)]);
        assert_eq!(lines("# Dry", &library), [(README.to_owned(), 1)]);
        assert_eq!(lines("```rust\n```", "//! Own docs."), [(LIBRARY.to_owned(), 1)]);
    }
}
