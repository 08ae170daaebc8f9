//! Panels over the scene, in a real window.

use std::path::Path;

use drystone_render::Image;

use crate::{
    program::{binary, scratch},
    window::{Screen, Viewer, screen, wait_for_title, window_of},
    window_edits::focus,
};

/// Opens a small generated world, seen from above.
fn open(screen: &Screen, folder: &Path, options: &[&str]) -> (Viewer, String) {
    let view = ["--size", "720x560", "--eye", "48,150,110", "--look", "48,45,48"];
    let mut command = screen.command(binary());
    // The instanced renderer, which draws no ambient occlusion, is compared with the others.
    command.args(["view", "--chunks", "3x4x3", "--ao", "off"]).args(view).args(options);
    command.current_dir(folder);
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(screen, &mut viewer);
    wait_for_title(screen, &window, "commands");
    focus(screen, &window);
    (viewer, window)
}

/// Counts different pixels left of column 300, where the panel is, and right of it.
fn differences(before: &Image, after: &Image) -> [usize; 2] {
    let mut counts = [0; 2];
    for (y, x) in (0..before.height()).flat_map(|y| (0..before.width()).map(move |x| (y, x))) {
        counts[usize::from(x >= 300)] += usize::from(before.pixel(x, y) != after.pixel(x, y));
    }
    counts
}

/// Counts pixels of a picture that differ in the window, which is at the top left of the screen.
fn seen_in(path: &Path, screen: &Image) -> usize {
    let picture = Image::load_png(path).unwrap();
    assert_eq!([picture.width(), picture.height()], [720, 560]);
    let positions = (0..560).flat_map(|y| (0..720).map(move |x| (x, y)));
    positions.filter(|&(x, y)| picture.pixel(x, y) != screen.pixel(x, y)).count()
}

/// Shows and hides panels; clicks on them do not reach the scene.
fn panels(test: &str, options: &[&str]) {
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let (mut viewer, window) = open(&screen, &folder, options);
    let picture = |name: &str| screen.settled(&folder.join(name));
    let other = |before: &Image, name: &str| screen.settled_unlike(before, &folder.join(name));
    let key = |key: &str| drop(screen.xdotool(&["key", key]).expect("a key"));
    let click = |x: &str, y: &str| {
        let words = ["mousemove", "--window", &window, x, y, "click", "1"];
        screen.xdotool(&words).expect("a click");
    };
    let before = picture("before.png");
    key("Tab");
    let shown = other(&before, "panels.png");
    let [left, right] = differences(&before, &shown);
    assert!(left > 50_000 && right == 0, "{left} {right}");
    key("Tab");
    assert!(other(&shown, "hidden.png") == before, "the panel is removed");
    key("h");
    let help = other(&before, "help.png");
    let [left, right] = differences(&before, &help);
    assert!(left > 5_000 && right > 20_000, "{left} {right}");
    key("Escape");
    assert!(other(&help, "no-help.png") == before, "Escape closes the help first");
    assert!(viewer.0.try_wait().unwrap().is_none());
    // While editing, a click on the panel does not edit the voxels behind it.
    ["Tab", "e"].into_iter().for_each(key);
    wait_for_title(&screen, &window, "edit: voxel");
    let editing = picture("editing.png");
    click("150", "60");
    assert_eq!(differences(&editing, &picture("panel-clicked.png"))[1], 0);
    let title = screen.xdotool(&["getwindowname", &window]).unwrap();
    assert!(!title.contains("voxel changed"), "{title}");
    click("400", "280");
    wait_for_title(&screen, &window, "1 voxel changed");
    key("F12");
    wait_for_title(&screen, &window, "drystone-1.png");
    // Another renderer draws the same, with the panel over it.
    key("ctrl+z");
    wait_for_title(&screen, &window, "undone");
    ["e", "Tab"].into_iter().for_each(key);
    for (number, renderer) in ["naive", "instanced", "pool"].into_iter().enumerate() {
        key("r");
        let switched = picture(&format!("{renderer}.png"));
        let difference = before.difference(&switched, 8).unwrap();
        assert_eq!(difference.away_from_edges, 0, "{renderer}");
        key("F12");
        let name = format!("drystone-{}.png", number + 2);
        wait_for_title(&screen, &window, &name);
        assert_eq!(seen_in(&folder.join(name), &switched), 0, "{renderer}");
        key("Tab");
        let panels = other(&switched, &format!("{renderer}-panels.png"));
        let [left, _] = differences(&switched, &panels);
        assert!(left > 50_000, "{renderer}: {left}");
        key("Tab");
    }
    // The edit is not saved, so closing warns once.
    (0..2).for_each(|_| screen.quit(&window));
    assert!(viewer.wait());
}

#[test]
fn panels_on_wgpu() {
    panels("panels_on_wgpu", &["--backend", "wgpu"]);
}

#[test]
fn panels_on_gl() {
    panels("panels_on_gl", &["--backend", "gl"]);
}

#[test]
fn panels_on_soft() {
    panels("panels_on_soft", &["--backend", "soft"]);
}
