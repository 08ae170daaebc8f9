use super::blocks::NAMES;
use super::colors;

/// Variants that a number before 1.13 has.
pub(super) const VARIANTS: usize = 16;
/// By number, a line each: the names of its variants, over again from a power of two on; `*`
/// for each dye, `-` for none. A variant that is not listed is the first one.
const NUMBERS: &str = include_str!("numbers.txt");

/// The name of every number's every variant, in order; `None` for those that never were.
pub(super) fn names() -> impl Iterator<Item = Option<&'static str>> {
    NUMBERS.lines().flat_map(|line| (0..VARIANTS).map(move |variant| name(line, variant)))
}

fn name(line: &'static str, variant: usize) -> Option<&'static str> {
    if let Some(kind) = line.strip_prefix('*') {
        return dyed(colors::dye(variant)?, kind);
    }
    let count = line.split(' ').count();
    let listed = line.split(' ').nth(variant % count.next_power_of_two());
    let name = listed.filter(|name| *name != "-").or_else(|| line.split(' ').next())?;
    (name != "-").then_some(name)
}

/// The name in the list of all blocks that is these two together.
fn dyed(dye: &str, kind: &str) -> Option<&'static str> {
    let mut names = NAMES.split_ascii_whitespace();
    names.find(|name| name.strip_prefix(dye) == Some(kind))
}
