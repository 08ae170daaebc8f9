//! Documents for newcomers have a word limit, so that they can be read whole.

use crate::offence::Offence;
use crate::repository::TextFile;

/// Documents, each with its largest number of words outside code blocks.
const MAX_WORDS: &[(&str, usize)] = &[("README.md", 900), ("ARCHITECTURE.md", 2_500)];

pub(crate) fn check(file: &TextFile) -> Vec<Offence> {
    let Some((_, max)) = MAX_WORDS.iter().find(|(path, _)| *path == file.path) else {
        return Vec::new();
    };
    let mut total = 0;
    let mut first_line_beyond = None;
    for (line, text) in lines_outside_code(&file.text) {
        total += text.split_whitespace().count();
        if total > *max && first_line_beyond.is_none() {
            first_line_beyond = Some(line);
        }
    }
    let advice = format!("{total} words, at most {max}; cut, or move a section to docs/");
    first_line_beyond.map(|line| Offence::new(&file.path, line, advice)).into_iter().collect()
}

/// Returns the lines of a Markdown text outside fenced code blocks, with their numbers from 1.
pub(crate) fn lines_outside_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        (!in_code && !is_fence).then_some((index + 1, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_words(path: &str, count: usize) -> Vec<usize> {
        let text = format!("```sh\n{}\n```\n{}", "code ".repeat(9_000), "word\n".repeat(count));
        check(&TextFile::new(path, text)).iter().map(|offence| offence.line).collect()
    }

    #[test]
    fn the_bounds_themselves_are_allowed() {
        for (path, max) in MAX_WORDS {
            assert_eq!(check_words(path, *max), [0; 0], "{path}");
        }
        assert_eq!(check_words("docs/long.md", 9_000), [0; 0]);
    }

    #[test]
    fn the_first_line_beyond_is_named() {
        for (path, max) in MAX_WORDS {
            assert_eq!(check_words(path, max + 20), [3 + max + 1], "{path}");
        }
        let found = check(&TextFile::new("README.md", "a ".repeat(905)));
        assert!(found[0].advice.starts_with("905 words, at most 900"));
    }
}
