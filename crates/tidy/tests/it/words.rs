//! No file contains an absolute path of one person's machine.

use crate::offence::Offence;
use crate::repository::TextFile;

/// Beginnings of such paths, split in two so that this file passes the check.
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

pub(crate) fn check(file: &TextFile) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for path in MACHINE_PATHS.iter().filter(|path| holds_path(line, path)) {
            let advice = format!("`{path}` is a path of one machine; write a relative one");
            offences.push(Offence::new(&file.path, index + 1, advice));
        }
    }
    offences
}

/// Whether an absolute path on the line begins with `path`. The same text inside a relative
/// path or an address is harmless.
fn holds_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~}".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_are_found() {
        let [first, second] = MACHINE_PATHS;
        let text = format!("fine\nsee {first}data\n\"{second}x\" {first}\n{first}");
        let offences = check(&TextFile::new("a.md", text));
        let lines: Vec<usize> = offences.iter().map(|offence| offence.line).collect();
        assert_eq!(lines, [2, 3, 3, 4]);
    }

    #[test]
    fn relative_paths_and_words_are_not() {
        let [first, _] = MACHINE_PATHS;
        let text = format!("home{first}x ..{first}y ${{HOME}}{first}z works / roots");
        assert_eq!(check(&TextFile::new("a.md", text)), []);
    }
}
