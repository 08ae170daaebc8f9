//! Polygon models in the viewer's window.

use std::{fmt::Write, fs, path::Path};

use crate::{
    program::{binary, scratch},
    window::{Viewer, screen, wait_for_title, window_of},
    window_edits::focus,
};

/// Writes a wavy sheet of this many squares per side: too large to upload to another renderer at
/// once.
fn write_sheet(path: &Path, cells: u32) {
    let mut text = String::new();
    let side = cells + 1;
    for (x, z) in (0..side).flat_map(|x| (0..side).map(move |z| (x, z))) {
        let [x, z] = [x, z].map(|c| f64::from(c) / f64::from(cells) * 20.0);
        writeln!(text, "v {x:.4} {:.4} {z:.4}", x.sin() + (z * 0.7).cos()).unwrap();
    }
    for (x, z) in (0..cells).flat_map(|x| (0..cells).map(move |z| (x, z))) {
        let low = x * side + z + 1;
        writeln!(text, "f {low} {} {} {}", low + 1, low + side + 1, low + side).unwrap();
    }
    fs::write(path, text).unwrap();
}

/// A second renderer draws the same, lines can be toggled, and unavailable features are reported.
fn is_shown(test: &str, backend: &str, cells: u32) {
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let model = folder.join("sheet.obj");
    write_sheet(&model, cells);
    let mut command = screen.command(binary());
    command.arg("view").arg(&model).args(["--size", "640x480", "--backend", backend]);
    let config = folder.join("config");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("settings.json"), r#"{ "shows_panels": false }"#).unwrap();
    command.env("DRYSTONE_CONFIG", &config);
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    let key = |key: &str| drop(screen.xdotool(&["key", key]).expect("a key"));
    let picture = |name: &str| screen.settled(&folder.join(name));
    let first = picture("1-first.png");
    focus(&screen, &window);
    for (letter, words) in [
        ("t", "no levels of detail to tint"),
        ("m", "masking back faces is not available"),
        ("l", "no levels of detail"),
        ("f", "walking needs a voxel world"),
    ] {
        key(letter);
        wait_for_title(&screen, &window, words);
    }
    assert!(picture("2-messages.png") == first);
    key("r");
    assert_eq!(first.difference(&picture("3-naive.png"), 8).unwrap().away_from_edges, 0);
    // No other renderer draws models, so the first one follows.
    key("r");
    wait_for_title(&screen, &window, "does not draw polygon models");
    assert!(picture("4-pool.png") == first);
    key("n");
    let wired = screen.settled_unlike(&first, &folder.join("5-wired.png"));
    let lines = first.difference(&wired, 8).unwrap().pixels;
    assert!(lines > 2_000, "{lines}");
    key("n");
    assert!(screen.settled_unlike(&wired, &folder.join("6-plain.png")) == first);
    key("r");
    picture("7-naive.png");
    key("Escape");
    assert!(viewer.wait());
    let settings = fs::read_to_string(config.join("settings.json")).unwrap();
    assert!(settings.contains(r#""renderer": "naive""#), "{settings}");
}

#[test]
fn a_model_is_shown_on_wgpu() {
    is_shown("a_model_is_shown_on_wgpu", "wgpu", 40);
}

/// A large model, so that the change of renderer takes several frames.
#[test]
fn a_model_is_shown_on_soft() {
    is_shown("a_model_is_shown_on_soft", "soft", 360);
}

/// Drags turn and move the camera, the wheel moves it closer, and a double click centres a point; a
/// click does nothing.
#[test]
fn a_model_is_orbited_with_the_mouse() {
    let test = "a_model_is_orbited_with_the_mouse";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let model = folder.join("sheet.obj");
    write_sheet(&model, 12);
    let mut command = screen.command(binary());
    command.arg("view").arg(&model).args(["--size", "640x480", "--backend", "soft"]);
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    focus(&screen, &window);
    let start = screen.settled(&folder.join("start.png"));
    let drag = |button| {
        let down = ["mousemove", "--window", &window, "320", "240", "mousedown", button];
        let up = ["mousemove", "--window", &window, "420", "260", "mouseup", button];
        vec![down.to_vec(), up.to_vec()]
    };
    let at = ["mousemove", "--window", &window, "400", "240"];
    let twice = ["click", "--repeat", "2", "--delay", "50", "1"];
    let inputs = [
        ("turned", drag("1")),
        ("moved", drag("2")),
        ("moved-too", drag("3")),
        ("closer", vec![[&at[..], &["click", "4"]].concat()]),
        ("centred", vec![[&at[..], &twice].concat()]),
    ];
    let mut seen = vec![start.clone()];
    for (name, words) in inputs {
        words.iter().for_each(|words| drop(screen.xdotool(words).expect("the mouse")));
        let picture = screen.settled_unlike(&start, &folder.join(format!("{name}.png")));
        let changed = picture.difference(&start, 8).unwrap().pixels;
        assert!(changed > 5_000, "{name}: {changed}");
        seen.push(picture);
        screen.xdotool(&["key", "Home"]).unwrap();
        let home = screen.settled_unlike(seen.last().unwrap(), &folder.join("home.png"));
        assert!(home == start, "{name}");
    }
    assert!(seen[2] == seen[3] && seen[1] != seen[2], "both buttons move alike");
    screen.xdotool(&[&at[..], &["click", "1"]].concat()).unwrap();
    assert!(screen.settled(&folder.join("clicked.png")) == start, "a click");
    screen.xdotool(&["key", "ctrl+c"]).unwrap();
    wait_for_title(&screen, &window, "copied: --eye");
    screen.xdotool(&["key", "Escape"]).unwrap();
    assert!(viewer.wait(), "one Escape closes, since the mouse was not captured");
}
