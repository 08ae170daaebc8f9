//! Messages on the picture, in a real window.

use std::{
    fs,
    path::Path,
    process::Child,
    thread::sleep,
    time::{Duration, Instant},
};

use drystone_render::Image;

use crate::{
    program::{binary, scratch},
    window::{MAX_WAIT, Screen, Viewer, screen, wait_for_title, window_of},
    window_drop::write_block,
    window_edits::focus,
};

/// Opens a small generated world, with messages on the picture or in the title.
fn open(screen: &Screen, feedback: &str) -> (Viewer, String) {
    let mut command = screen.command(binary());
    command.args(["view", "--chunks", "2x4x2", "--size", "640x400", "--backend", "soft"]);
    let mut viewer = Viewer(command.env("DRYSTONE_FEEDBACK", feedback).spawn().unwrap());
    let window = window_of(screen, &mut viewer);
    (viewer, window)
}

/// Returns the CPU time of a process, in ticks of 10 ms.
fn cpu_ticks(process: &Child) -> u64 {
    let line = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
    let fields: Vec<&str> = line.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Counts pixels that differ above row 300, and below it.
fn differences(one: &Image, other: &Image) -> [usize; 2] {
    let mut counts = [0; 2];
    for (x, y) in (0..400).flat_map(|y| (0..640).map(move |x| (x, y))) {
        counts[usize::from(y >= 300)] += usize::from(one.pixel(x, y) != other.pixel(x, y));
    }
    counts
}

/// Waits until the screen shows `expected`.
fn wait_for(screen: &Screen, expected: &Image, path: &Path) {
    let start = Instant::now();
    while screen.screenshot(path) != *expected {
        assert!(start.elapsed() < MAX_WAIT, "the message stays: see {}", path.display());
        sleep(Duration::from_millis(100));
    }
}

/// The hint at the start and the result of a key appear at the bottom; then the window is as without
/// messages, and draws nothing.
#[test]
fn messages_appear_and_fade_and_then_the_window_sleeps() {
    let test = "messages_appear_and_fade_and_then_the_window_sleeps";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let (mut viewer, window) = open(&screen, "title");
    let bare = screen.settled(&folder.join("bare.png"));
    screen.xdotool(&["windowfocus", "--sync", &window, "key", "Escape"]).unwrap();
    assert!(viewer.wait());

    let (mut viewer, window) = open(&screen, "screen");
    focus(&screen, &window);
    let hint = screen.settled_unlike(&bare, &folder.join("hint.png"));
    let [above, below] = differences(&bare, &hint);
    assert!(above == 0 && below > 2_000, "{above} {below}");
    screen.xdotool(&["key", "c"]).unwrap();
    let start = Instant::now();
    let path = folder.join("message.png");
    let is_new = |seen: &Image| *seen != hint && *seen != bare;
    while !is_new(&screen.screenshot(&path)) {
        assert!(start.elapsed() < MAX_WAIT, "no message: see {}", path.display());
    }
    wait_for(&screen, &bare, &folder.join("after.png"));
    let (before, time) = (cpu_ticks(&viewer.0), Duration::from_secs(2));
    sleep(time);
    let ticks = cpu_ticks(&viewer.0) - before;
    assert!(ticks <= 20, "{ticks} ticks in {time:?}");
    screen.xdotool(&["key", "Escape"]).unwrap();
    assert!(viewer.wait());
}

/// In edit mode the aimed voxel and the brush are outlined under the pointer, and nowhere else.
#[test]
fn what_a_click_edits_is_outlined() {
    let test = "what_a_click_edits_is_outlined";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let (mut viewer, window) = open(&screen, "title");
    focus(&screen, &window);
    let bare = screen.settled(&folder.join("bare.png"));
    let outlined = |least: usize, name: &str| {
        screen.xdotool(&["mousemove", "--window", &window, "320", "200"]).unwrap();
        let (start, path) = (Instant::now(), folder.join(name));
        loop {
            let seen = screen.screenshot(&path);
            let all = (0..400).flat_map(|y| (0..640_u32).map(move |x| (x, y)));
            let changed: Vec<_> =
                all.filter(|&(x, y)| seen.pixel(x, y) != bare.pixel(x, y)).collect();
            let is_near = |&(x, y): &(u32, u32)| x.abs_diff(320) < 160 && y.abs_diff(200) < 160;
            assert!(changed.iter().all(is_near), "{name}");
            if changed.len() >= least {
                return changed.len();
            }
            assert!(start.elapsed() < MAX_WAIT, "no outline: see {}", path.display());
        }
    };
    screen.xdotool(&["key", "e"]).unwrap();
    wait_for_title(&screen, &window, "edit: voxel");
    let voxel = outlined(20, "voxel.png");
    for key in ["b", "b", "bracketright"] {
        screen.xdotool(&["key", key]).unwrap();
    }
    wait_for_title(&screen, &window, "edit: ball of stone, 7 wide");
    outlined(2 * voxel, "ball.png");
    assert!(screen.settled(&folder.join("left.png")) == bare, "the pointer left the window");
    // All backends outline the same pixels, apart from steps of slanted lines.
    let mut masks = Vec::new();
    for (number, backend) in ["soft", "wgpu: ", "gl: "].into_iter().enumerate() {
        if number > 0 {
            screen.xdotool(&["key", "k"]).unwrap();
            wait_for_title(&screen, &window, &format!("switched to {backend}"));
        }
        let bare = screen.settled(&folder.join(format!("bare-{number}.png")));
        screen.xdotool(&["mousemove", "--window", &window, "320", "200"]).unwrap();
        let (start, path) = (Instant::now(), folder.join(format!("ball-{number}.png")));
        let mask = loop {
            let seen = screen.screenshot(&path);
            let all = (0..400).flat_map(|y| (0..640).map(move |x| (x, y)));
            let mask: Vec<bool> = all.map(|(x, y)| bare.pixel(x, y) != seen.pixel(x, y)).collect();
            if mask.contains(&true) && screen.screenshot(&path) == seen {
                break mask;
            }
            assert!(start.elapsed() < MAX_WAIT, "no outline: see {}", path.display());
        };
        masks.push(mask);
    }
    let outlined = masks[0].iter().filter(|it| **it).count();
    assert!(outlined > 2 * voxel, "{outlined}");
    for mask in &masks[1..] {
        let others = mask.iter().zip(&masks[0]).filter(|(one, other)| one != other).count();
        assert!(100 * others <= 3 * outlined, "{others} of {outlined}");
    }
    screen.xdotool(&["key", "e", "key", "Escape"]).unwrap();
    assert!(viewer.wait());
}

/// The title has the name, and a dot from an edit until it is saved.
#[test]
fn the_title_has_the_name_and_a_dot_for_unsaved_edits() {
    let test = "the_title_has_the_name_and_a_dot_for_unsaved_edits";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let path = folder.join("red.vox");
    write_block(&path, [250, 20, 20]);
    let mut command = screen.command(binary());
    command.arg("view").arg(&path).args(["--size", "64x48", "--backend", "soft"]);
    command.env("DRYSTONE_FEEDBACK", "screen").current_dir(&folder);
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "red.vox – drystone");
    let title = || screen.xdotool(&["getwindowname", &window]).unwrap();
    assert_eq!(title(), "red.vox – drystone");
    focus(&screen, &window);
    screen.settled(&folder.join("start.png"));
    let click = ["key", "e", "mousemove", "--window", &window, "32", "24", "click", "1"];
    screen.xdotool(&click).unwrap();
    wait_for_title(&screen, &window, "● red.vox");
    assert_eq!(title(), "● red.vox – drystone");
    screen.xdotool(&["key", "ctrl+s"]).unwrap();
    let start = Instant::now();
    while title() != "red.vox – drystone" {
        assert!(start.elapsed() < MAX_WAIT, "still unsaved: {}", title());
    }
    screen.xdotool(&["key", "Escape", "key", "Escape"]).unwrap();
    assert!(viewer.wait());
}
