//! Switching levels of detail in the viewer's window, with saved edits.

use std::path::{Path, PathBuf};

use drystone_formats::Source;
use drystone_render::Image;
use drystone_store::{EditAccess, EditOptions, EditedSource, StoredWorld};
use drystone_world::{GeneratedWorld, GeneratorConfig, OpenOptions, World, open_voxels};

use crate::{
    program::{binary, run, scratch},
    window::{Screen, Viewer, screen, wait_for_title, window_of},
    window_edits::focus,
};

/// Way of saving edits, which determines how the world is opened again.
struct SavedIn {
    name: &'static str,
    /// The world's own file.
    stored: Option<PathBuf>,
    /// A separate file of edits.
    edits: Option<PathBuf>,
}

impl SavedIn {
    fn all(folder: &Path) -> [Self; 3] {
        let [stored, edits] = ["world.drystone", "edits.drystone"].map(|name| folder.join(name));
        let made_later = folder.join("made-later/generated-7.edits.drystone");
        assert!(
            run(&["import", "--seed", "7", "--chunks", "3x4x3", stored.to_str().unwrap()])
                .status
                .success()
        );
        [
            Self { name: "in-place", stored: Some(stored), edits: None },
            Self { name: "beside", stored: None, edits: Some(edits) },
            Self { name: "made-later", stored: None, edits: Some(made_later) },
        ]
    }

    fn arguments(&self, is_named: bool) -> Vec<&str> {
        let world = self.stored.as_ref().map_or_else(
            || vec!["--seed", "7", "--chunks", "3x4x3"],
            |path| vec![path.to_str().unwrap()],
        );
        let edits = self.edits.as_ref().filter(|_| is_named);
        let edits = edits.map(|path| ["--edits", path.to_str().unwrap()]);
        world.into_iter().chain(edits.into_iter().flatten()).collect()
    }

    /// Returns the number of solid voxels in the files.
    fn solid_count(&self) -> u64 {
        let source: Box<dyn Source> = match (&self.stored, &self.edits) {
            (Some(path), _) => open_voxels(path, &OpenOptions::default()).unwrap(),
            (None, Some(edits)) => {
                let size_chunks = [3, 4, 3];
                let config = GeneratorConfig::default().with_seed(7).with_size_chunks(size_chunks);
                let source = Box::new(GeneratedWorld::new(config).unwrap());
                Box::new(
                    EditedSource::open(
                        source,
                        &EditOptions::at(edits).with_access(EditAccess::Read),
                    )
                    .unwrap(),
                )
            }
            (None, None) => unreachable!(),
        };
        World::load(source.as_ref()).unwrap().solid_count()
    }
}

/// A viewer with its window.
struct Sitting<'a> {
    screen: &'a Screen,
    window: String,
    folder: PathBuf,
}

impl Sitting<'_> {
    fn key(&self, key: &str, words: &str) {
        self.screen.xdotool(&["key", key]).expect("a key");
        wait_for_title(self.screen, &self.window, words);
    }

    fn remove_at(&self, x: &str, y: &str) {
        let words = ["mousemove", "--window", &self.window, x, y, "click", "1"];
        self.screen.xdotool(&words).expect("a click");
        wait_for_title(self.screen, &self.window, "voxels changed");
    }

    fn picture(&self, name: &str) -> Image {
        self.screen.settled(&self.folder.join(format!("{name}.png")))
    }
}

/// Counts clearly different pixels.
fn differing(one: &Image, other: &Image) -> u32 {
    one.difference(other, 32).unwrap().pixels
}

/// Pixels that may differ at levels of detail, which are coarser and hazier.
const FEW: u32 = 300;

fn switches(screen: &Screen, kept: &SavedIn, folder: &Path) {
    let start = |levels: &str, is_named: bool| {
        let mut command = screen.command(binary());
        // Several samples a pixel would soften the differences that are counted. With ambient
        // occlusion, edited meshes differ from new ones by rounding at edges.
        let view = ["--size", "640x480", "--backend", "soft", "--samples", "1", "--ao", "off"];
        command.arg("view").args(kept.arguments(is_named)).args(view).args(["--levels", levels]);
        command.args(["--commit-seconds", "3600"]);
        command.args(["--eye", "48,147,110", "--look", "48,42,48"]).current_dir(folder);
        let mut viewer = Viewer(command.spawn().unwrap());
        let window = window_of(screen, &mut viewer);
        wait_for_title(screen, &window, "commands");
        (viewer, window)
    };
    let (mut viewer, window) = start("on", kept.name == "beside");
    let sitting = Sitting { screen, window, folder: folder.to_path_buf() };
    let before = sitting.picture("1-before");
    focus(screen, &sitting.window);
    sitting.key("e", "edit: voxel");
    sitting.key("b", "edit: cube");
    sitting.key("b", "edit: ball");
    ["bracketright"; 3].into_iter().for_each(|key| sitting.key(key, "edit: ball"));
    sitting.remove_at("320", "240");
    sitting.key("ctrl+s", "| saved |");
    let once = sitting.picture("2-once");
    assert!(differing(&before, &once) > 2 * FEW, "{}", differing(&before, &once));

    sitting.key("l", "levels of detail off");
    let whole = sitting.picture("3-whole");
    assert!(differing(&once, &whole) < FEW, "{}", differing(&once, &whole));
    // Earlier edits can be undone.
    sitting.key("ctrl+z", "undone");
    assert!(differing(&before, &sitting.picture("4-undone")) < FEW);
    sitting.key("ctrl+y", "redone");
    assert!(sitting.picture("5-again") == whole);
    sitting.remove_at("180", "300");
    sitting.key("ctrl+s", "| saved |");
    let twice = sitting.picture("6-twice");
    assert!(differing(&whole, &twice) > FEW, "{}", differing(&whole, &twice));

    sitting.key("l", "levels of detail on");
    let levels = sitting.picture("7-levels");
    assert!(differing(&twice, &levels) < FEW, "{}", differing(&twice, &levels));
    sitting.key("ctrl+z", "undone");
    sitting.key("ctrl+y", "redone");
    screen.xdotool(&["key", "Escape", "key", "Escape"]).unwrap();
    assert!(viewer.wait());

    let (mut viewer, window) = start("off", true);
    assert!(screen.settled(&folder.join("8-opened.png")) == twice, "opened again");
    screen.xdotool(&["windowfocus", "--sync", &window, "key", "Escape"]).unwrap();
    assert!(viewer.wait());
}

/// Edits that the store refused before the switch, and accepts later, stay and can be undone.
#[test]
fn unsaved_edits_stay_after_a_switch_of_levels() {
    let test = "unsaved_edits_stay_after_a_switch_of_levels";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let edits = folder.join("edits.drystone");
    let size_chunks = [16, 4, 16];
    let config = GeneratorConfig::default().with_seed(7).with_size_chunks(size_chunks);
    let source = || Box::new(GeneratedWorld::new(config.clone()).unwrap());
    let other =
        EditedSource::open(source(), &EditOptions::at(&edits).with_access(EditAccess::Write))
            .unwrap();
    let mut command = screen.command(binary());
    command.args(["view", "--seed", "7", "--chunks", "16x4x16", "--edits"]).arg(&edits);
    command.args(["--size", "640x480", "--backend", "soft", "--levels", "on", "--ao", "off"]);
    command.args(["--eye", "48,147,110", "--look", "48,42,48"]);
    // Blocks other files for the refused edits.
    let gone = folder.join("gone");
    std::fs::create_dir(&gone).unwrap();
    let mut viewer = Viewer(command.current_dir(&gone).spawn().unwrap());
    std::fs::remove_dir(&gone).unwrap();
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "commands");
    let sitting = Sitting { screen: &screen, window, folder };
    let before = sitting.picture("1-before");
    focus(&screen, &sitting.window);
    sitting.key("e", "edit: voxel");
    sitting.key("b", "edit: cube");
    ["bracketright"; 4].into_iter().for_each(|key| sitting.key(key, "edit: cube"));
    sitting.remove_at("320", "240");
    wait_for_title(&screen, &sitting.window, "NOT SAVED");
    let edited = sitting.picture("2-edited");
    assert!(differing(&before, &edited) > FEW);

    sitting.key("l", "levels of detail off");
    drop(other);
    let whole = sitting.picture("3-whole");
    assert!(differing(&edited, &whole) < differing(&before, &whole), "the edit is gone");
    sitting.key("ctrl+z", "undone");
    sitting.key("ctrl+y", "redone");
    assert!(sitting.picture("4-again") == whole);
    screen.xdotool(&["key", "Escape", "key", "Escape"]).unwrap();
    assert!(viewer.wait());
    let kept = EditedSource::open(source(), &EditOptions::at(&edits).with_access(EditAccess::Read))
        .unwrap();
    assert!(kept.edited_count() > 0);
}

/// Saved edits are there after each switch, earlier ones can be undone, and later ones are saved in
/// the same file.
#[test]
fn levels_are_switched_after_edits_were_saved() {
    let test = "levels_are_switched_after_edits_were_saved";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let config = GeneratorConfig::default().with_seed(7).with_size_chunks([3, 4, 3]);
    let unedited = World::load(&GeneratedWorld::new(config).unwrap()).unwrap().solid_count();
    for kept in SavedIn::all(&folder) {
        kept.edits.iter().for_each(|path| drop(std::fs::remove_file(path)));
        let folder = folder.join(kept.name);
        std::fs::create_dir_all(&folder).unwrap();
        switches(&screen, &kept, &folder);
        let left = kept.solid_count();
        assert!(left + 200 < unedited, "{}: {left} of {unedited}", kept.name);
        if let Some(stored) = &kept.stored {
            let beside = stored.with_extension("drystone.edits.drystone");
            assert!(!beside.exists(), "all edits are in the world's own file");
            assert_eq!(StoredWorld::check(stored).unwrap().damage, Vec::<String>::new());
        }
    }
}
