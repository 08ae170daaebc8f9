//! One backend after another in one window.

use crate::{
    pictures::STRAY,
    program::{binary, scratch},
    window::{Viewer, screen, wait_for_title, window_of},
    window_edits::focus,
};

/// All draw the same, with what was edited before, and what was edited can be taken back after.
#[test]
fn another_backend_goes_on_with_the_same() {
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
        wait_for_title(&screen, &window, &format!("now on {words}"));
        let now = picture(&format!("2-{number}"));
        // As pictures without a window are compared.
        let stray = f64::from(edited.difference(&now, 8).unwrap().away_from_edges);
        let pixels = f64::from(now.width()) * f64::from(now.height());
        assert!(stray <= STRAY * pixels, "{words}: {stray}");
    }
    key("ctrl+z");
    wait_for_title(&screen, &window, "taken back");
    let undone = screen.settled_unlike(&edited, &folder.join("3-undone.png"));
    assert!(undone == before);
    // Nothing keeps what was edited: who closes is asked once.
    ["Escape", "Escape"].into_iter().for_each(key);
    assert!(viewer.wait());
}
