//! A file holds one noun or one stage. What does not fit in a few screens is seldom one
//! thing.

use crate::offence::Offence;
use crate::repository::TextFile;

/// Longer than this and a file needs a reason.
const LONG_LINES: usize = 450;
/// No reason is good enough for more.
const MAX_LINES: usize = 700;

/// Files between the two bounds, each with the reason why a split would read worse.
pub(crate) const LONG_FILES: &[(&str, &str)] = &[];

pub(crate) fn check<'a>(
    files: impl Iterator<Item = &'a TextFile>,
    exceptions: &[(&str, &str)],
) -> Vec<Offence> {
    let mut offences = Vec::new();
    let mut unused: Vec<&(&str, &str)> = exceptions.iter().collect();
    for file in files {
        let count = file.line_count();
        if count > MAX_LINES {
            let advice = format!("{count} lines, at most {MAX_LINES}; split it by nouns or stages");
            offences.push(Offence::new(&file.path, MAX_LINES + 1, advice));
        } else if count > LONG_LINES {
            let known = unused.len();
            unused.retain(|(path, reason)| *path != file.path || reason.is_empty());
            if unused.len() == known {
                let advice = format!(
                    "{count} lines, at most {LONG_LINES} without a reason; split it, or name it \
                     with a reason in LONG_FILES of the tidy test"
                );
                offences.push(Offence::new(&file.path, LONG_LINES + 1, advice));
            }
        }
    }
    offences.extend(unused.into_iter().map(|(path, _)| {
        let advice = "stands in LONG_FILES of the tidy test but is not that long, is gone, or \
                      has no reason; put the entry right";
        Offence::new(path, 1, advice)
    }));
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_one(line_count: usize, exceptions: &[(&str, &str)]) -> Vec<Offence> {
        let file = TextFile::new("a.rs", "// line\n".repeat(line_count));
        check([file].iter(), exceptions)
    }

    #[test]
    fn the_bounds_themselves_are_allowed() {
        assert_eq!(check_one(LONG_LINES, &[]), []);
        assert_eq!(check_one(MAX_LINES, &[("a.rs", "one table")]), []);
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        assert_eq!(check_one(LONG_LINES + 1, &[])[0].line, LONG_LINES + 1);
        assert_eq!(check_one(LONG_LINES + 1, &[("a.rs", "")]).len(), 2);
    }

    #[test]
    fn nothing_excuses_the_longest() {
        let offences = check_one(MAX_LINES + 1, &[("a.rs", "one table")]);
        assert_eq!(offences[0].line, MAX_LINES + 1);
    }

    #[test]
    fn a_stale_exception_is_an_offence() {
        assert_eq!(check_one(10, &[("a.rs", "one table")]).len(), 1);
        assert_eq!(check_one(10, &[("gone.rs", "one table")])[0].path, "gone.rs");
    }
}
