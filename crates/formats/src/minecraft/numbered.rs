use super::blocks::NAMES;
use super::colors;

/// Number of variants of a block number before 1.13.
pub(super) const VARIANTS: usize = 16;
/// One line per block number: the names of its variants, repeated after the next power of two. `*`
/// is replaced by each dye, `-` is unused. Variants that are not listed equal the first.
const NUMBERS: &str = include_str!("numbers.txt");

/// Names of all variants of all block numbers, in order; `None` for unused ones.
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

/// The block name that consists of `dye` and `kind`.
fn dyed(dye: &str, kind: &str) -> Option<&'static str> {
    let mut names = NAMES.split_ascii_whitespace();
    names.find(|name| name.strip_prefix(dye) == Some(kind))
}
