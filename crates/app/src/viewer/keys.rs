//! The one list of keys: the help card, `--help` and `--keys` are made of it.

/// Keys as they are written on a keyboard, and what they do.
const KEYS: &[(&str, &str)] = &[
    ("W A S D", "fly forward, left, back, right"),
    ("Space, Q", "up, down"),
    ("Shift", "faster"),
    ("arrows", "turn"),
    ("wheel", "change the speed"),
    ("left button", "turn with the mouse until Escape"),
    ("Tab", "panels: figures, the pool, switches, brush"),
    ("H", "these keys"),
    ("R", "renderer: pool, naive, instanced"),
    ("K", "backend: wgpu, OpenGL, the built-in rasteriser"),
    ("M", "mask facings"),
    ("C", "cull what is out of view"),
    ("O", "order front to back"),
    ("G", "cull on the GPU, also what is hidden, or on the CPU"),
    ("X", "darken corners of voxels by what is near"),
    ("L", "levels of detail: far voxels larger, or all as they are"),
    ("T", "tint levels of detail"),
    ("N", "the edges of quads or triangles, as a net"),
    ("F", "walk, with Space to jump; F again to fly"),
    ("Home", "back to the start"),
    ("Ctrl+O", "open a file, as dropping it on the window does"),
    ("P", "the file that was open before"),
    ("F12", "a picture without panels, to drystone-N.png in the current folder"),
    ("E", "edit: left removes, right places, middle picks; a held button turns; E again to stop"),
    ("B", "brush: voxel, cube, ball"),
    ("[ ]", "smaller, larger"),
    (", .", "the palette's material before, after"),
    ("Ctrl+Z", "undo"),
    ("Ctrl+Y", "redo, as Ctrl+Shift+Z"),
    ("Ctrl+S", "save now; a new file is made where nothing keeps edits"),
    ("Escape", "let the mouse go, stop editing, or close"),
];

/// Keys and what they do, line by line.
pub(super) fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().copied()
}

/// The list as text.
pub(crate) fn text() -> String {
    lines().map(|(keys, what)| format!("{keys:<13}{what}\n")).collect()
}

/// The list below the options.
pub(crate) fn help() -> String {
    format!("Keys:\n{}", text().trim_end())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Terminals are 100 columns wide, or wider.
    #[test]
    fn every_key_has_a_line_that_fits() {
        for line in text().lines() {
            assert!(line.len() < 100 && !line.contains("  \n"), "{line}");
        }
        let named: Vec<_> = lines().map(|(keys, _)| keys).collect();
        let mut once = named.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), named.len());
    }

    /// The README of the repository, or of the package.
    const README: &str = include_str!(concat!("../../", env!("CARGO_PKG_README")));

    /// Whether a word in the README's code would be a key's name, be there such a key or not.
    fn is_key(word: &str) -> bool {
        const NAMED: [&str; 9] =
            ["Tab", "Space", "Shift", "Home", "End", "Escape", "Enter", "Insert", "Delete"];
        let letter = word.strip_prefix("Ctrl+").unwrap_or(word);
        let is_function = letter.strip_prefix('F').is_some_and(|it| it.parse::<u8>().is_ok());
        letter.len() == 1 || is_function || NAMED.contains(&letter)
    }

    #[test]
    fn the_readme_names_the_keys_that_there_are() {
        let section = README.split("\n## ").find(|it| it.starts_with("Editing\n")).unwrap();
        // Between one backtick and the next is code.
        let code = section.split('`').skip(1).step_by(2);
        let told: BTreeSet<&str> =
            code.flat_map(str::split_whitespace).filter(|word| is_key(word)).collect();
        let words = lines().flat_map(|(keys, _)| keys.split_whitespace());
        let words =
            words.map(|word| if word.len() > 1 { word.trim_end_matches(',') } else { word });
        let there: BTreeSet<&str> = words.filter(|word| is_key(word)).collect();
        assert_eq!(told, there);
    }
}
