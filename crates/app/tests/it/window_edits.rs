//! Editing in the viewer's window, on a virtual screen.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use drystone_formats::Source;
use drystone_store::{EditAccess, EditOptions, EditedSource};
use drystone_world::{GeneratedWorld, GeneratorConfig, OpenOptions, World, open_voxels};

use crate::{
    program::{binary, drystone, run, scratch},
    window::{MAX_WAIT, Screen, Viewer, screen, wait_for_title, window_of},
    window_drop::write_block,
};

/// Waits until the title no longer contains these words.
fn wait_for_no(screen: &Screen, window: &str, words: &str) {
    let start = Instant::now();
    while screen.xdotool(&["getwindowname", window]).is_none_or(|title| title.contains(words)) {
        assert!(start.elapsed() < MAX_WAIT, "still \"{words}\"");
        sleep(Duration::from_millis(100));
    }
}

/// Gives the window the focus. A click right then would only focus it; clicks edit once the title
/// says so.
pub(crate) fn focus(screen: &Screen, window: &str) {
    screen.xdotool(&["windowfocus", "--sync", window]).expect("the window takes the focus");
}

/// Removes, undoes, places, saves and leaves; opened again, the edit is there.
fn edits(test: &str, options: &[&str]) {
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let edits = folder.join("edits.drystone");
    let open = || {
        // From above, so that placed voxels do not extend the world. Not from the middle: meshes at
        // equal distances are drawn in the order in which they were built, and a sample on the edge
        // of two faces shows the first.
        let view = ["--size", "640x480", "--eye", "44.7,150,110", "--look", "44.7,45,48"];
        let mut command = screen.command(binary());
        command
            // With ambient occlusion, edited meshes differ from new ones by rounding at edges.
            .args(["view", "--chunks", "3x4x3", "--ao", "off"])
            .args(view)
            .arg("--edits")
            .arg(&edits)
            .args(["--commit-seconds", "3600"])
            .args(options);
        let mut viewer = Viewer(command.spawn().unwrap());
        let window = window_of(&screen, &mut viewer);
        (viewer, window)
    };
    let picture = |name: &str| screen.settled(&folder.join(name));
    let (mut viewer, window) = open();
    let before = picture("before.png");
    let key = |key: &str| drop(screen.xdotool(&["key", key]).expect("a key"));
    let click = |button: &str| {
        let words = ["mousemove", "--window", &window, "320", "240", "click", button];
        screen.xdotool(&words).expect("a click");
    };
    focus(&screen, &window);
    // A letter with Ctrl that is not a shortcut does not act as the plain letter.
    ["ctrl+e", "e", "b", "b", "bracketright"].into_iter().for_each(key);
    wait_for_title(&screen, &window, "edit: ball of stone, 7 wide");
    click("1");
    wait_for_title(&screen, &window, "voxels changed");
    let removed = picture("removed.png");
    assert!(before.difference(&removed, 8).unwrap().pixels > 100, "nothing was removed");
    key("ctrl+z");
    wait_for_title(&screen, &window, "undone");
    assert!(picture("undone.png") == before, "undone");
    click("2");
    wait_for_title(&screen, &window, "picked");
    click("3");
    wait_for_title(&screen, &window, "voxels changed");
    wait_for_title(&screen, &window, "chunks unsaved |");
    key("ctrl+s");
    wait_for_title(&screen, &window, "| saved |");
    // A last edit, saved by leaving alone.
    click("3");
    wait_for_title(&screen, &window, "chunks unsaved |");
    let after = picture("after.png");
    assert!(before.difference(&after, 8).unwrap().pixels > 100, "nothing was placed");
    // Other processes see saved edits meanwhile.
    let looks = ["info", "--json", "--chunks", "3x4x3", "--edits", edits.to_str().unwrap()];
    let info: serde_json::Value = serde_json::from_slice(&run(&looks).stdout).unwrap();
    assert!(info["edits"]["chunks"].as_u64().unwrap() > 0, "{info}");
    key("Escape");
    wait_for_no(&screen, &window, "edit:");
    assert!(viewer.0.try_wait().unwrap().is_none(), "Escape stops editing first");
    key("Escape");
    assert!(viewer.wait(), "Escape did not close the viewer");
    let (mut viewer, window) = open();
    assert!(picture("again.png") == after, "opened again");
    screen.xdotool(&["windowfocus", "--sync", &window, "key", "Escape"]).unwrap();
    assert!(viewer.wait());
}

#[test]
fn the_viewer_edits_and_saves() {
    edits("the_viewer_edits_and_saves", &["--backend", "soft"]);
}

/// Edits and saves at levels of detail, on the GPU.
#[test]
fn the_viewer_edits_levels_and_saves() {
    edits("the_viewer_edits_levels_and_saves", &["--backend", "wgpu", "--levels", "on"]);
}

/// If the disk is full, the viewer reports it, stays open once, and exits with an error code.
#[test]
fn the_viewer_does_not_lose_edits_silently() {
    let test = "the_viewer_does_not_lose_edits_silently";
    let Some(screen) = screen(test) else { return };
    let path = scratch(test).join("edits.drystone");
    let config = GeneratorConfig::default().with_size_chunks([2, 4, 2]);
    let source = Box::new(GeneratedWorld::new(config).unwrap());
    drop(
        EditedSource::open(source, &EditOptions::at(&path).with_access(EditAccess::Write)).unwrap(),
    );
    // Files end after 26 KB (blocks of 512 bytes): enough only for pictures of a small window.
    let limit = "trap '' XFSZ; ulimit -S -f 52; exec \"$@\"";
    let mut command = screen.command("sh");
    command.args(["-c", limit, "sh"]).arg(binary()).args(["view", "--chunks", "2x4x2", "--edits"]);
    let view = ["--size", "64x48", "--backend", "soft", "--eye", "32,150,90", "--look", "32,45,32"];
    let command = command.arg(&path).args(view).stderr(Stdio::piped());
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "commands");
    focus(&screen, &window);
    screen.xdotool(&["key", "e"]).unwrap();
    wait_for_title(&screen, &window, "edit: voxel");
    screen.xdotool(&["mousemove", "--window", &window, "32", "24", "click", "1"]).unwrap();
    wait_for_title(&screen, &window, "NOT SAVED");
    let mut lines = BufReader::new(viewer.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.next().unwrap();
    assert!(line.contains("edits are not saved") && line.contains("edits.drystone"), "{line}");
    screen.xdotool(&["key", "Escape", "key", "Escape"]).unwrap();
    let line = lines.next().unwrap();
    assert!(line.contains("close again to discard the edits"), "{line}");
    // Escape alone never discards edits.
    screen.xdotool(&["key", "Escape"]).unwrap();
    let line = lines.next().unwrap();
    assert!(line.contains("closing the window discards them"), "{line}");
    assert!(viewer.0.try_wait().unwrap().is_none(), "the viewer stays open");
    screen.quit(&window);
    assert_eq!(viewer.exit_code(), Some(1));
    assert!(lines.last().is_some_and(|line| line.contains("not saved")));
}

/// Closing warns first if edits have no file; Ctrl+S creates a file for all of them.
#[test]
fn the_viewer_creates_a_file_for_edits_without_one() {
    let test = "the_viewer_creates_a_file_for_edits_without_one";
    let Some(screen) = screen(test) else { return };
    for levels in ["off", "on"] {
        let folder = scratch(&format!("{test}-{levels}"));
        let path = folder.join("generated-7.edits.drystone");
        let _ = std::fs::remove_file(&path);
        let view = ["--size", "64x48", "--eye", "32,150,90", "--look", "32,45,32"];
        let mut command = screen.command(binary());
        command.args(["view", "--backend", "soft", "--seed", "7", "--chunks", "2x4x2"]);
        command.args(view).args(["--levels", levels]).current_dir(&folder).stderr(Stdio::piped());
        let mut viewer = Viewer(command.spawn().unwrap());
        let window = window_of(&screen, &mut viewer);
        wait_for_title(&screen, &window, "commands");
        focus(&screen, &window);
        screen.xdotool(&["key", "e"]).unwrap();
        wait_for_title(&screen, &window, "edit: voxel");
        let click = ["mousemove", "--window", &window, "32", "24", "click", "1"];
        screen.xdotool(&click).unwrap();
        wait_for_title(&screen, &window, "not saved");
        let error = viewer.0.stderr.take().unwrap();
        let mut lines = BufReader::new(error).lines().map_while(Result::ok);
        let mut line_with = |words: &str| lines.find(|line| line.contains(words)).expect("a line");
        line_with("Ctrl+S");
        for _ in 0..2 {
            // Leaves editing, then warns; after another edit, warns again.
            screen.xdotool(&["key", "Escape", "key", "Escape"]).unwrap();
            line_with("close again");
            wait_for_title(&screen, &window, "close again to discard");
            assert!(
                viewer.0.try_wait().unwrap().is_none() && !path.exists(),
                "the viewer stays open"
            );
            screen.xdotool(&["key", "e"]).unwrap();
            screen.xdotool(&click).unwrap();
            wait_for_title(&screen, &window, "edits are not saved");
        }
        screen.xdotool(&["key", "ctrl+s"]).unwrap();
        line_with("generated-7.edits.drystone");
        wait_for_title(&screen, &window, "| saved |");
        screen.xdotool(&["key", "Escape", "key", "Escape"]).unwrap();
        assert!(viewer.wait(), "saved edits need no warning");
        let size_chunks = [2, 4, 2];
        let config = GeneratorConfig::default().with_seed(7).with_size_chunks(size_chunks);
        let source = Box::new(GeneratedWorld::new(config).unwrap());
        let edited =
            EditedSource::open(source, &EditOptions::at(&path).with_access(EditAccess::Read))
                .unwrap();
        assert!(edited.edited_count() > 0);
        drop(edited);
        // Unused edits are reported, but not for another source.
        let mentions_edits = |words: &[&str]| {
            let output = drystone(words).current_dir(&folder).output().unwrap();
            assert!(output.status.success());
            String::from_utf8_lossy(&output.stderr).contains("--edits generated-7.edits.drystone")
        };
        assert!(mentions_edits(&["info", "--seed", "7", "--chunks", "2x4x2"]));
        assert!(!mentions_edits(&["info", "--seed", "7", "--chunks", "2x4x3"]));
        let with = ["--edits", "generated-7.edits.drystone"];
        assert!(!mentions_edits(
            &[&["info", "--seed", "7", "--chunks", "2x4x2"], &with[..]].concat()
        ));
    }
}

/// A file that is opened again has its saved edits, and further edits go to the same file.
#[test]
fn reopening_a_file_restores_its_edits() {
    let test = "reopening_a_file_restores_its_edits";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let files = ["first.vox", "second.vox"].map(|name| folder.join(name));
    files.iter().for_each(|file| write_block(file, [250, 20, 20]));
    let [edits, more] = [".", "-2."].map(|it| folder.join(format!("first.vox.edits{it}drystone")));
    [&edits, &more].into_iter().for_each(|path| drop(std::fs::remove_file(path)));
    let mut command = screen.command(binary());
    command.args(["view", "--backend", "soft", "--size", "64x48"]).arg(&files[1]);
    let config = folder.join("config");
    let recent = serde_json::json!({ "shows_panels": false, "recent": [&files[1], &files[0]] });
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("settings.json"), recent.to_string()).unwrap();
    let mut viewer = Viewer(command.env("DRYSTONE_CONFIG", &config).spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "second");
    focus(&screen, &window);
    for _ in 0..2 {
        screen.xdotool(&["key", "p"]).unwrap();
        wait_for_title(&screen, &window, "first");
        screen.xdotool(&["key", "e"]).unwrap();
        wait_for_title(&screen, &window, "edit: voxel");
        let click = ["mousemove", "--window", &window, "32", "24", "click", "1"];
        screen.xdotool(&click).unwrap();
        wait_for_title(&screen, &window, "1 voxel changed");
        screen.xdotool(&["key", "ctrl+s"]).unwrap();
        wait_for_title(&screen, &window, "| saved |");
        screen.xdotool(&["key", "Escape", "key", "p"]).unwrap();
        wait_for_title(&screen, &window, "second");
    }
    screen.xdotool(&["key", "Escape"]).unwrap();
    assert!(viewer.wait());
    let open = || open_voxels(&files[0], &OpenOptions::default()).unwrap();
    let count = |source: &dyn Source| World::load(source).unwrap().solid_count();
    let edited =
        EditedSource::open(open(), &EditOptions::at(&edits).with_access(EditAccess::Read)).unwrap();
    assert_eq!(count(&edited), count(open().as_ref()) - 2, "both edits are in one file");
    assert!(!more.exists());
    let text = std::fs::read_to_string(config.join("settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(settings["recent"][1]["edits"], edits.to_str().unwrap());
}

/// A model has no voxels: the viewer reports that and does not start editing.
#[test]
fn the_viewer_reports_that_models_cannot_be_edited() {
    let test = "the_viewer_reports_that_models_cannot_be_edited";
    let Some(screen) = screen(test) else { return };
    let model = scratch(test).join("a.obj");
    std::fs::write(&model, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let mut command = screen.command(binary());
    command.arg("view").arg(&model).args(["--backend", "soft", "--size", "64x48"]);
    let mut viewer = Viewer(command.stderr(Stdio::piped()).spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "commands");
    focus(&screen, &window);
    screen.xdotool(&["key", "e"]).unwrap();
    wait_for_title(&screen, &window, "polygon models cannot be edited");
    // One Escape closes the window, since editing is not on.
    screen.xdotool(&["key", "Escape"]).unwrap();
    assert!(viewer.wait());
    let lines = BufReader::new(viewer.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert_eq!(lines.filter(|line| line.contains("as voxels first")).count(), 1);
}

/// On a termination signal or Ctrl+C in the terminal, the viewer saves first, also edits without a
/// file.
#[test]
fn a_signal_saves_and_ends() {
    let test = "a_signal_saves_and_ends";
    let Some(screen) = screen(test) else { return };
    for (signal, is_named) in [("TERM", true), ("INT", true), ("INT", false)] {
        let folder = scratch(&format!("{test}-{signal}-{is_named}"));
        let path = folder.join("generated-7.edits.drystone");
        let mut command = screen.command(binary());
        command.args(["view", "--backend", "soft", "--seed", "7", "--chunks", "2x4x2"]);
        command.args(["--size", "64x48", "--eye", "32,150,90", "--look", "32,45,32"]);
        command.args(["--commit-seconds", "3600"]).current_dir(&folder);
        if is_named {
            command.arg("--edits").arg(&path);
        }
        let mut viewer = Viewer(command.spawn().unwrap());
        let window = window_of(&screen, &mut viewer);
        wait_for_title(&screen, &window, "commands");
        focus(&screen, &window);
        screen.xdotool(&["key", "e"]).unwrap();
        wait_for_title(&screen, &window, "edit: voxel");
        let click = ["mousemove", "--window", &window, "32", "24", "click", "1"];
        screen.xdotool(&click).unwrap();
        wait_for_title(&screen, &window, if is_named { "unsaved" } else { "not saved" });
        let process = viewer.0.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &process]).status().unwrap();
        assert!(sent.success());
        assert!(viewer.wait(), "{signal}: it did not end, or not well");
        let config = GeneratorConfig::default().with_seed(7).with_size_chunks([2, 4, 2]);
        let source = Box::new(GeneratedWorld::new(config).unwrap());
        let edited =
            EditedSource::open(source, &EditOptions::at(&path).with_access(EditAccess::Read))
                .unwrap();
        assert!(edited.edited_count() > 0, "{signal}");
    }
}

/// Two windows show one world. The first to edit writes to it; the other reports that and saves to
/// another file.
#[test]
fn two_viewers_edit_one_world() {
    let test = "two_viewers_edit_one_world";
    let Some(screens) = screen(test).zip(screen(test)) else { return };
    for levels in ["off", "on"] {
        let path = scratch(&format!("{test}-{levels}")).join("world.drystone");
        let beside = path.with_extension("drystone.edits.drystone");
        let (world, edits) = (path.to_str().unwrap(), beside.to_str().unwrap());
        assert!(run(&["import", "--chunks", "2x4x2", world]).status.success());
        let before = std::fs::read(&path).unwrap();
        let open = |screen: &Screen| {
            let view = ["--size", "64x48", "--backend", "soft", "--eye", "32,150,90"];
            let mut command = screen.command(binary());
            command.args(["view", world, "--levels", levels, "--look", "32,45,32"]).args(view);
            let mut viewer = Viewer(command.spawn().unwrap());
            let window = window_of(screen, &mut viewer);
            wait_for_title(screen, &window, "commands");
            (viewer, window)
        };
        let (mut first, taking) = open(&screens.0);
        let (mut second, looking) = open(&screens.1);
        assert!(std::fs::read(&path).unwrap() == before, "showing the world does not change it");
        let edit = |screen: &Screen, window: &str| {
            focus(screen, window);
            screen.xdotool(&["key", "e"]).unwrap();
            wait_for_title(screen, window, "edit: voxel");
            let click = ["mousemove", "--window", window, "32", "24", "click", "1"];
            screen.xdotool(&click).unwrap();
        };
        edit(&screens.0, &taking);
        wait_for_title(&screens.0, &taking, "| saved |");
        edit(&screens.1, &looking);
        wait_for_title(&screens.1, &looking, "another program has this world open");
        assert!(!beside.exists());
        screens.1.xdotool(&["key", "ctrl+s"]).unwrap();
        wait_for_title(&screens.1, &looking, "| saved |");
        assert!(beside.exists());
        for (screen, viewer) in [(&screens.1, &mut second), (&screens.0, &mut first)] {
            screen.xdotool(&["key", "Escape", "key", "Escape"]).unwrap();
            assert!(viewer.wait());
        }
        assert!(std::fs::read(&path).unwrap() != before);
        let info = run(&["info", world]);
        assert!(
            String::from_utf8_lossy(&info.stderr).contains(edits),
            "the other file is reported"
        );
        let info = run(&["info", "--json", world, "--edits", edits]);
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
        assert!(info["edits"]["chunks"].as_u64().unwrap() > 0);
    }
}
