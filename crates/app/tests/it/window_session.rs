//! A session in the viewer, from opening a file to closing the window.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use drystone_render::Image;

use crate::{
    program::{binary, run, scratch},
    window::{MAX_WAIT, Screen, Viewer, screen, wait_for_title, window_of},
    window_edits::focus,
};

/// Sends keys and clicks to one window.
struct Hands<'a> {
    screen: &'a Screen,
    window: String,
}

impl Hands<'_> {
    fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.screen.xdotool(&["key", key]).expect("a key");
        }
    }

    fn click(&self, button: &str) {
        let words = ["mousemove", "--window", &self.window, "320", "240", "click", button];
        self.screen.xdotool(&words).expect("a click");
    }

    fn wait_for(&self, words: &str) {
        wait_for_title(self.screen, &self.window, words);
    }
}

/// Writes settings with recent files, one of them missing.
fn write_settings(folder: &Path, recent: &[&Path]) {
    fs::create_dir_all(folder).unwrap();
    let json = serde_json::json!({ "shows_panels": false, "recent": recent });
    fs::write(folder.join("settings.json"), json.to_string()).unwrap();
}

/// Changes renderers: each draws the picture `seen`, and so do the saved pictures.
fn renderers_draw_alike(hands: &Hands<'_>, folder: &Path, seen: &Image) {
    for (number, renderer) in ["naive", "instanced", "pool"].into_iter().enumerate() {
        hands.keys(&["r"]);
        let now = hands.screen.settled(&folder.join(format!("9-{renderer}.png")));
        hands.keys(&["F12"]);
        let name = format!("drystone-{}.png", number + 1);
        hands.wait_for(&name);
        assert_eq!(seen.difference(&now, 8).unwrap().away_from_edges, 0, "{renderer}");
        let saved = Image::load_png(&folder.join(name)).unwrap();
        let positions = (0..480).flat_map(|y| (0..640).map(move |x| (x, y)));
        let others = positions.filter(|&(x, y)| saved.pixel(x, y) != now.pixel(x, y)).count();
        assert_eq!(others, 0, "{renderer}: the saved picture is what is seen");
    }
}

/// Switches levels of detail on and off, with edits and the same camera.
fn levels_are_switched(hands: &Hands<'_>, folder: &Path, seen: &Image) {
    hands.keys(&["l"]);
    hands.wait_for("levels of detail on");
    let levels = hands.screen.settled(&folder.join("9-levels.png"));
    // Haze may differ a little, and far parts are coarser.
    let difference = seen.difference(&levels, 32).unwrap();
    assert!(difference.away_from_edges < 200, "{difference:?}");
    hands.keys(&["l"]);
    hands.wait_for("levels of detail off");
    assert!(hands.screen.settled(&folder.join("9-whole.png")) == *seen);
}

/// Checks that choices are saved in the settings.
fn choices_are_saved(config: &Path, worlds: &[PathBuf; 2]) {
    let text = fs::read_to_string(config.join("settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(settings["renderer"], "naive");
    assert_eq!(settings["shows_panels"], true);
    let [first, second] = worlds.each_ref().map(|world| world.to_str().unwrap());
    assert_eq!(settings["recent"], serde_json::json!([second, first]));
}

/// Opens, flies, edits, undoes, saves, opens again, changes renderers, takes a picture.
fn run_session(test: &str, options: &[&str]) {
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let worlds = ["7", "8"].map(|seed| {
        let world = folder.join(format!("{seed}.drystone"));
        let path = world.to_str().unwrap();
        assert!(run(&["import", "--seed", seed, "--chunks", "2x4x2", path]).status.success());
        world
    });
    let config = folder.join("config");
    write_settings(&config, &[&worlds[1], &worlds[0]]);
    let mut command = screen.command(binary());
    // The instanced renderer, which draws no ambient occlusion, is compared with the others.
    command.arg("view").arg(&worlds[0]).args(["--size", "640x480", "--ao", "off"]).args(options);
    command.env("DRYSTONE_CONFIG", &config).current_dir(&folder);
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    focus(&screen, &window);
    let hands = Hands { screen: &screen, window };
    let picture = |name: &str| screen.settled(&folder.join(name));

    hands.wait_for("seed 7");
    let first = picture("1-first.png");
    hands.keys(&["p"]);
    hands.wait_for("seed 8");
    let second = picture("2-second.png");
    assert!(first.difference(&second, 8).unwrap().pixels > 10_000, "another world");

    screen.xdotool(&["keydown", "w"]).unwrap();
    let is_near = |seen: &Image| second.difference(seen, 8).unwrap().pixels < 20_000;
    let (start, flown) = (Instant::now(), folder.join("3-flown.png"));
    while is_near(&screen.screenshot(&flown)) && start.elapsed() < MAX_WAIT {
        sleep(Duration::from_millis(100));
    }
    screen.xdotool(&["keyup", "w"]).unwrap();
    let flown = picture("3-flown.png");
    assert!(!is_near(&flown), "the camera did not move");
    hands.keys(&["Home"]);
    assert!(screen.settled_unlike(&flown, &folder.join("4-home.png")) == second);

    hands.keys(&["e", "b", "b"]);
    hands.wait_for("edit: ball");
    hands.click("1");
    hands.wait_for("voxels changed");
    let edited = picture("5-edited.png");
    assert!(second.difference(&edited, 8).unwrap().pixels > 50, "nothing was removed");
    hands.keys(&["ctrl+z"]);
    hands.wait_for("undone");
    assert!(picture("6-undone.png") == second);
    hands.keys(&["ctrl+y"]);
    hands.wait_for("redone");
    hands.keys(&["ctrl+s"]);
    hands.wait_for("| saved |");
    // Back and forth between files: saved edits are there.
    hands.keys(&["p"]);
    hands.wait_for("seed 7");
    assert!(picture("7-first.png") == first);
    hands.keys(&["p"]);
    hands.wait_for("seed 8");
    assert!(picture("8-again.png") == edited, "opened again");

    renderers_draw_alike(&hands, &folder, &edited);
    levels_are_switched(&hands, &folder, &edited);
    hands.keys(&["r", "Tab", "h"]);
    picture("10-panels.png");
    hands.keys(&["h", "Escape"]);
    assert!(viewer.wait(), "Escape did not close the viewer");

    choices_are_saved(&config, &worlds);
}

#[test]
fn a_sitting_on_wgpu() {
    run_session("a_sitting_on_wgpu", &["--backend", "wgpu"]);
}

#[test]
fn a_sitting_on_soft() {
    run_session("a_sitting_on_soft", &["--backend", "soft"]);
}

/// A missing or invalid file is reported and the scene stays; unreadable settings are renamed.
#[test]
fn files_that_cannot_be_opened_change_nothing() {
    let test = "files_that_cannot_be_opened_change_nothing";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let config = folder.join("config");
    for (name, content, word) in
        [("gone.vox", None, "gone.vox"), ("bad.vox", Some("no voxels"), "bad.vox")]
    {
        let path = folder.join(name);
        content.iter().for_each(|content| fs::write(&path, content).unwrap());
        write_settings(&config, &[&path]);
        let mut command = screen.command(binary());
        let view = ["view", "--chunks", "2x4x2", "--size", "64x48", "--backend", "soft"];
        command.args(view).env("DRYSTONE_CONFIG", &config).stderr(Stdio::piped());
        let mut viewer = Viewer(command.spawn().unwrap());
        let window = window_of(&screen, &mut viewer);
        wait_for_title(&screen, &window, "commands");
        screen.xdotool(&["windowfocus", "--sync", &window]).unwrap();
        let hands = Hands { screen: &screen, window };
        hands.keys(&["p"]);
        hands.wait_for(word);
        hands.wait_for("generated world");
        assert!(viewer.0.try_wait().unwrap().is_none());
        hands.keys(&["Escape"]);
        assert!(viewer.wait());
    }
    fs::write(config.join("settings.json"), "{ \"renderer\": ").unwrap();
    let mut command = screen.command(binary());
    command.args(["view", "--chunks", "2x4x2", "--size", "64x48", "--backend", "soft"]);
    command.env("DRYSTONE_CONFIG", &config).stderr(Stdio::piped());
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "commands");
    screen.xdotool(&["windowfocus", "--sync", &window, "key", "Escape"]).unwrap();
    assert!(viewer.wait());
    let lines = BufReader::new(viewer.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert_eq!(lines.filter(|line| line.contains("settings.json.bad")).count(), 1);
    let aside = fs::read_to_string(config.join("settings.json.bad")).unwrap();
    assert_eq!(aside, "{ \"renderer\": ");
}

/// A large file is read with a progress bar, and then shown.
#[test]
fn a_window_opens_before_a_large_world_is_read() {
    let test = "a_window_opens_before_a_large_world_is_read";
    let Some(screen) = screen(test) else { return };
    let mut command = screen.command(binary());
    let view = ["--size", "320x240", "--backend", "soft", "--levels", "off"];
    command.args(["view", "--chunks", "36x6x36"]).args(view);
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "reading the world");
    wait_for_title(&screen, &window, "commands");
    screen.xdotool(&["windowfocus", "--sync", &window, "key", "Escape"]).unwrap();
    assert!(viewer.wait());
}

/// Backend, size of the window, camera and speed are those of the last window, unless the command
/// line sets them.
#[test]
fn the_last_view_is_restored() {
    let test = "the_last_view_is_restored";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let config = folder.join("config");
    write_settings(&config, &[]);
    let open = |options: &[&str]| {
        let mut command = screen.command(binary());
        command.args(["view", "--chunks", "2x4x2"]).args(options).current_dir(&folder);
        let mut viewer = Viewer(command.env("DRYSTONE_CONFIG", &config).spawn().unwrap());
        let window = window_of(&screen, &mut viewer);
        wait_for_title(&screen, &window, "commands");
        screen.xdotool(&["windowfocus", "--sync", &window]).unwrap();
        (viewer, Hands { screen: &screen, window })
    };
    let size = |hands: &Hands<'_>| {
        let found = screen.xdotool(&["getwindowgeometry", "--shell", &hands.window]).unwrap();
        let of = |name: &str| -> u32 {
            let line = found.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.parse().unwrap()
        };
        [of("WIDTH="), of("HEIGHT=")]
    };
    let close = |mut viewer: Viewer, hands: &Hands<'_>| {
        hands.keys(&["Escape"]);
        assert!(viewer.wait());
        let text = fs::read_to_string(config.join("settings.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["view"].clone()
    };
    let (viewer, hands) = open(&["--backend", "soft", "--size", "320x240"]);
    assert_ne!(close(viewer, &hands)["backend"], "soft", "the command line is no choice");
    // A single object is orbited at first.
    let (viewer, hands) = open(&["--backend", "soft", "--size", "320x240"]);
    hands.keys(&["2", "k"]);
    hands.wait_for("switched to wgpu");
    screen.xdotool(&["windowsize", "--sync", &hands.window, "400", "260"]).unwrap();
    screen.xdotool(&["mousemove", "--window", &hands.window, "200", "130", "click", "4"]).unwrap();
    hands.wait_for("(×1.");
    let view = close(viewer, &hands);
    assert_eq!(view["window"], serde_json::json!([400, 260]), "{view}");
    let (viewer, hands) = open(&[]);
    hands.wait_for("wgpu: ");
    hands.wait_for("(×1.");
    assert_eq!(size(&hands), [400, 260]);
    assert_eq!(close(viewer, &hands), view);
    let (viewer, hands) = open(&["--size", "300x200", "--backend", "soft"]);
    hands.wait_for("| soft");
    assert_eq!(size(&hands), [300, 200]);
    assert_eq!(close(viewer, &hands), view);
}
