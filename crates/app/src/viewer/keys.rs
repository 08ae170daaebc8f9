//! The list of keys, for the help window, `--help` and `--keys`.

/// Keys as labelled on a keyboard, and their effects.
const KEYS: &[(&str, &str)] = &[
    ("W A S D", "fly forward, left, back, right"),
    ("Space, Q", "up, down"),
    ("Shift", "faster"),
    ("arrows", "turn"),
    ("wheel", "change the speed"),
    ("left button", "turn with the mouse until Escape"),
    ("Tab", "panels: statistics, the pool, switches, brush"),
    ("H", "this list of keys"),
    ("R", "renderer: pool, naive, instanced"),
    ("K", "backend: wgpu, OpenGL, software rasteriser"),
    ("M", "mask back faces"),
    ("C", "frustum culling"),
    ("O", "sort front to back"),
    ("G", "cull on the GPU (occlusion too) or on the CPU"),
    ("X", "ambient occlusion"),
    ("L", "levels of detail on or off"),
    ("T", "tint levels of detail"),
    ("N", "wireframe: the edges of quads or triangles"),
    ("F", "walk, with Space to jump; F again to fly"),
    ("Home", "back to the start"),
    ("Ctrl+O", "open a file (or drop it on the window)"),
    ("P", "open the previous file"),
    ("F12", "save a picture without panels as drystone-N.png in the current folder"),
    ("E", "edit: left removes, right places, middle picks, dragging turns; E again to stop"),
    ("B", "brush: voxel, cube, ball"),
    ("[ ]", "smaller or larger brush"),
    (", .", "previous or next material"),
    ("Ctrl+Z", "undo"),
    ("Ctrl+Y", "redo (also Ctrl+Shift+Z)"),
    ("Ctrl+S", "save now; creates a file if the edits have none"),
    ("Escape", "release the mouse, stop editing, or close"),
];

/// Iterates over keys and their effects.
pub(super) fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().copied()
}

/// Returns the list as text.
pub(crate) fn text() -> String {
    lines().map(|(keys, what)| format!("{keys:<13}{what}\n")).collect()
}

/// Returns the list as it stands below the options.
pub(crate) fn help() -> String {
    format!("Keys:\n{}", text().trim_end())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;

    /// Terminals have at least 100 columns.
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

    /// The user manual. It is no part of a package.
    fn manual() -> Option<String> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/manual.md");
        let text = std::fs::read_to_string(path);
        if text.is_err() {
            println!("skipped: manual: {path} is not part of this package");
        }
        text.ok()
    }

    /// Whether a word in the manual's code would be the name of a key.
    fn is_key(word: &str) -> bool {
        const NAMED: [&str; 9] =
            ["Tab", "Space", "Shift", "Home", "End", "Escape", "Enter", "Insert", "Delete"];
        let letter = word.strip_prefix("Ctrl+").unwrap_or(word);
        let is_function = letter.strip_prefix('F').is_some_and(|it| it.parse::<u8>().is_ok());
        letter.len() == 1 || is_function || NAMED.contains(&letter)
    }

    #[test]
    fn the_manual_lists_exactly_the_keys_of_the_viewer() {
        let Some(manual) = manual() else { return };
        let section = manual.split("\n## ").find(|it| it.starts_with("Keys\n")).unwrap();
        // Between one backtick and the next is code.
        let code = section.split('`').skip(1).step_by(2);
        let listed: BTreeSet<&str> =
            code.flat_map(str::split_whitespace).filter(|word| is_key(word)).collect();
        let words = lines().flat_map(|(keys, _)| keys.split_whitespace());
        let words =
            words.map(|word| if word.len() > 1 { word.trim_end_matches(',') } else { word });
        let bound: BTreeSet<&str> = words.filter(|word| is_key(word)).collect();
        assert_eq!(listed, bound);
    }

    /// Options and commands that clap itself adds are in the manual by hand.
    #[test]
    fn the_manual_lists_exactly_the_commands_and_options() {
        let Some(manual) = manual() else { return };
        let root = crate::cli::Options::command();
        let commands: Vec<&clap::Command> =
            std::iter::once(&root).chain(root.get_subcommands()).collect();
        let options: BTreeSet<String> = commands
            .iter()
            .flat_map(|command| command.get_arguments())
            .filter_map(clap::Arg::get_long)
            .map(|long| format!("--{long}"))
            .collect();
        let section = manual.split("\n## ").find(|it| it.starts_with("Options\n")).unwrap();
        let rows = section.lines().filter(|line| line.starts_with('|'));
        let words = rows.flat_map(|row| row.split(|c: char| c != '-' && !c.is_alphanumeric()));
        let listed: BTreeSet<String> = words
            .filter(|word| word.len() > 2 && word.starts_with("--") && !word.ends_with('-'))
            .filter(|word| !["--help", "--version"].contains(word))
            .map(str::to_owned)
            .collect();
        assert_eq!(listed, options);
        for command in root.get_subcommands() {
            let row = format!("| `drystone {}", command.get_name());
            assert!(manual.contains(&row), "{}", command.get_name());
        }
    }
}
