//! Changes of backend in one window.

use std::io::{BufRead, BufReader};

use crate::{
    pictures::STRAY,
    program::{binary, scratch},
    window::{Viewer, screen, wait_for_title, window_of},
    window_edits::focus,
};

/// All backends draw the same, with earlier edits, which can be undone afterwards.
#[test]
fn a_change_of_backend_keeps_edits_and_history() {
    let test = "another_backend_goes_on_with_the_same";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let mut command = screen.command(binary());
    let view = ["--size", "720x560", "--eye", "48,150,110", "--look", "48,45,48"];
    command.args(["view", "--chunks", "3x4x3", "--backend", "soft"]).args(view);
    command.current_dir(&folder);
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    let key = |key: &str| drop(screen.xdotool(&["key", key]).expect("a key"));
    let picture = |name: &str| screen.settled(&folder.join(format!("{name}.png")));
    wait_for_title(&screen, &window, "commands");
    focus(&screen, &window);
    let before = picture("0-before");
    ["e", "b"].into_iter().for_each(key);
    wait_for_title(&screen, &window, "edit:");
    let click = ["mousemove", "--window", &window, "400", "280", "click", "1"];
    screen.xdotool(&click).expect("a click");
    wait_for_title(&screen, &window, "changed");
    key("e");
    let edited = screen.settled_unlike(&before, &folder.join("1-edited.png"));
    for (number, words) in ["wgpu", "gl: ", "soft"].into_iter().enumerate() {
        key("k");
        wait_for_title(&screen, &window, &format!("switched to {words}"));
        let now = picture(&format!("2-{number}"));
        // Tolerance as in comparisons of pictures without a window.
        let stray = f64::from(edited.difference(&now, 8).unwrap().away_from_edges);
        let pixels = f64::from(now.width()) * f64::from(now.height());
        assert!(stray <= STRAY * pixels, "{words}: {stray}");
    }
    key("ctrl+z");
    wait_for_title(&screen, &window, "undone");
    let undone = screen.settled_unlike(&edited, &folder.join("3-undone.png"));
    assert!(undone == before);
    // The edit is not saved, so closing warns once.
    (0..2).for_each(|_| screen.quit(&window));
    assert!(viewer.wait());
}

/// The backend of the last window cannot start on this screen: the viewer says so, draws with another one,
/// and chooses by itself the next time.
#[test]
fn a_remembered_backend_that_fails_is_replaced() {
    let test = "a_remembered_backend_that_fails_is_replaced";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let file = folder.join("settings.json");
    let settings = serde_json::json!({ "shows_panels": false, "view": { "backend": "gl" } });
    std::fs::write(&file, settings.to_string()).unwrap();
    let mut command = screen.command(binary());
    command.args(["view", "--chunks", "3x4x3", "--size", "64x48"]).current_dir(&folder);
    command.env("DRYSTONE_CONFIG", &folder);
    // No driver for OpenGL is found.
    command.env("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent.json").env("EGL_PLATFORM", "none");
    let mut viewer = Viewer(command.stderr(std::process::Stdio::piped()).spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "gl, used last time, failed");
    focus(&screen, &window);
    screen.xdotool(&["key", "Escape"]).unwrap();
    assert!(viewer.wait());
    let lines = BufReader::new(viewer.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.into_iter().find(|line| line.contains("used last time")).expect("a line");
    assert!(line.contains("; using wgpu") || line.contains("; using soft"), "{line}");
    let saved: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(saved["view"]["backend"], "auto");
}
