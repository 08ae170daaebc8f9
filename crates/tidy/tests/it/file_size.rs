//! A source file has at most 450 lines, because it contains one type or one stage. A longer
//! one usually contains several.

use crate::offence::Offence;
use crate::repository::TextFile;

/// Largest number of lines of a file that is not in [`LONG_FILES`].
const LONG_LINES: usize = 450;
/// Largest number of lines of a file in [`LONG_FILES`].
const MAX_LINES: usize = 700;

/// Files between the two bounds, each with the reason not to split it.
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
            let advice = format!("{count} lines, at most {MAX_LINES}; split it by types or stages");
            offences.push(Offence::new(&file.path, MAX_LINES + 1, advice));
        } else if count > LONG_LINES {
            let known = unused.len();
            unused.retain(|(path, reason)| *path != file.path || reason.is_empty());
            if unused.len() == known {
                let advice = format!(
                    "{count} lines, at most {LONG_LINES}; split it, or add it to LONG_FILES of the \
                     tidy test with a reason"
                );
                offences.push(Offence::new(&file.path, LONG_LINES + 1, advice));
            }
        }
    }
    offences.extend(unused.into_iter().map(|(path, _)| {
        let advice = "is in LONG_FILES of the tidy test but is not that long, does not exist, \
                      or has no reason; fix the entry";
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
    fn no_reason_allows_more_than_the_maximum() {
        let offences = check_one(MAX_LINES + 1, &[("a.rs", "one table")]);
        assert_eq!(offences[0].line, MAX_LINES + 1);
    }

    #[test]
    fn a_stale_exception_is_an_offence() {
        assert_eq!(check_one(10, &[("a.rs", "one table")]).len(), 1);
        assert_eq!(check_one(10, &[("gone.rs", "one table")])[0].path, "gone.rs");
    }
}
