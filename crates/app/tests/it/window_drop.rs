//! Files that are dropped on the viewer's window or chosen in a dialog.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use drystone_render::Image;

use crate::{
    drag::Drag,
    program::{binary, scratch},
    window::{Screen, Viewer, screen, wait_for_title, window_of},
};

/// Writes a file of one block of voxels of one colour, as MagicaVoxel does.
pub(crate) fn write_block(path: &Path, [r, g, b]: [u8; 3]) {
    let positions =
        (0..4_u8).flat_map(|x| (0..4).flat_map(move |y| (0..4).map(move |z| [x, y, z])));
    let voxels = positions.map(|[x, y, z]| dot_vox::Voxel { x, y, z, i: 0 }).collect();
    let model = dot_vox::Model { size: dot_vox::Size { x: 4, y: 4, z: 4 }, voxels };
    let data = dot_vox::DotVoxData {
        version: 150,
        index_map: Vec::new(),
        models: vec![model],
        palette: vec![dot_vox::Color { r, g, b, a: 255 }; 256],
        materials: Vec::new(),
        scenes: Vec::new(),
        layers: Vec::new(),
    };
    data.write_vox(&mut fs::File::create(path).unwrap()).unwrap();
}

/// Returns the URI of a file as file managers write it, with other characters than plain letters
/// percent-encoded.
fn uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
    let letter = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let path: String = path.to_str().unwrap().bytes().map(letter).collect();
    format!("file://{path}")
}

/// Opens a viewer of a generated world, in a small window with the focus.
fn open(screen: &Screen, folder: &Path, search: &str) -> (Viewer, String) {
    let mut command = screen.command(binary());
    let view = ["view", "--chunks", "2x4x2", "--size", "320x240", "--backend", "soft"];
    command.args(view).current_dir(folder).stderr(Stdio::null());
    // Without a desktop there is no portal for a file dialog.
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere").env("PATH", search);
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(screen, &mut viewer);
    wait_for_title(screen, &window, "generated world");
    screen.xdotool(&["windowfocus", "--sync", &window]).expect("the window takes the focus");
    (viewer, window)
}

fn close(screen: &Screen, mut viewer: Viewer) {
    screen.xdotool(&["key", "Escape"]).unwrap();
    assert!(viewer.wait());
}

/// Whether the middle is mostly of this channel's colour.
fn is_of(picture: &Image, channel: usize) -> bool {
    let pixel = picture.pixel(160, 120);
    (0..3).all(|other| other == channel || pixel[channel] > 2 * pixel[other])
}

#[test]
fn files_dropped_on_the_window_are_opened() {
    let test = "files_dropped_on_the_window_are_opened";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    // No name is part of another's, nor of other words in the title.
    let names = ["red.vox", "ein grüner Würfel.vox", "left.vox", "several.vox"];
    let [red, green, left, several] = names.map(|name| folder.join(name));
    write_block(&red, [250, 20, 20]);
    write_block(&green, [20, 250, 20]);
    write_block(&left, [20, 20, 250]);
    write_block(&several, [250, 20, 20]);
    let (viewer, window) = open(&screen, &folder, &std::env::var("PATH").unwrap());
    let drag = |files: &[&PathBuf]| {
        let uris: Vec<_> = files.iter().map(|file| uri(file)).collect();
        Drag::over(screen.display(), &window, &uris)
    };
    for (channel, file) in [(0, &red), (1, &green)] {
        drag(&[file]).drop_them();
        wait_for_title(&screen, &window, file.file_stem().unwrap().to_str().unwrap());
        let picture = screen.settled(&folder.join(format!("{channel}.png")));
        assert!(is_of(&picture, channel), "{}: {:?}", file.display(), picture.pixel(160, 120));
    }
    // A file that is deleted before it is dropped is reported, and the scene stays. (A file that
    // never existed is not reported: winit checks it while it is held.)
    let held = drag(&[&red]);
    fs::remove_file(&red).unwrap();
    held.drop_them();
    wait_for_title(&screen, &window, "red.vox");
    assert!(is_of(&screen.settled(&folder.join("gone.png")), 1));
    // Only the first of twenty files is opened.
    let many: Vec<&PathBuf> = [&several].into_iter().chain([&green, &left].repeat(10)).collect();
    drag(&many).drop_them();
    wait_for_title(&screen, &window, "several");
    assert!(is_of(&screen.settled(&folder.join("several.png")), 0));
    // A folder without a world, and a file of no known kind, are refused by name, and the scene stays.
    let [no_world, text] = ["no world", "text.txt"].map(|name| folder.join(name));
    fs::create_dir(&no_world).unwrap();
    fs::write(&text, "some words").unwrap();
    for (refused, why) in [(&no_world, "no world: a folder without"), (&text, "text.txt: not a")] {
        drag(&[refused]).drop_them();
        wait_for_title(&screen, &window, why);
        assert!(is_of(&screen.settled(&folder.join("refused.png")), 0), "{why}");
    }
    // A file held over the window without a drop is not read; it would be blue.
    drag(&[&left]).leave();
    assert!(is_of(&screen.settled(&folder.join("left.png")), 0));
    close(&screen, viewer);
}

/// A file chosen in a dialog is opened like a dropped one. The dialog is a script in place of
/// zenity, which is used on systems without a desktop dialog.
#[test]
fn files_chosen_in_a_dialog_are_opened() {
    let test = "files_chosen_in_a_dialog_are_opened";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let (blue, dialog) = (folder.join("blue.vox"), folder.join("zenity"));
    write_block(&blue, [20, 20, 250]);
    fs::write(&dialog, format!("#!/bin/sh\ncat '{}/answer'\n", folder.display())).unwrap();
    fs::set_permissions(&dialog, fs::Permissions::from_mode(0o755)).unwrap();
    let search = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let (viewer, window) = open(&screen, &folder, &search);
    for (answer, words) in [("gone.vox", "gone.vox"), ("blue.vox", "blue")] {
        fs::write(folder.join("answer"), folder.join(answer).to_str().unwrap()).unwrap();
        screen.xdotool(&["key", "ctrl+o"]).unwrap();
        wait_for_title(&screen, &window, words);
    }
    assert!(is_of(&screen.settled(&folder.join("blue.png")), 2));
    close(&screen, viewer);
}

/// A file that another program changes is announced, and loaded again with a key. A damaged one is
/// reported, and the scene stays.
#[test]
fn a_file_that_changes_on_disk_is_loaded_again() {
    let test = "a_file_that_changes_on_disk_is_loaded_again";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let block = folder.join("block.vox");
    write_block(&block, [250, 20, 20]);
    let mut command = screen.command(binary());
    let view = ["--size", "320x240", "--backend", "soft"];
    command.arg("view").arg(&block).args(view).current_dir(&folder).stderr(Stdio::null());
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "commands");
    screen.xdotool(&["windowfocus", "--sync", &window]).expect("the window takes the focus");
    let red = screen.settled(&folder.join("red.png"));
    assert!(is_of(&red, 0));
    let reload = |words: &str| {
        wait_for_title(&screen, &window, "block.vox has changed on disk: F5 loads it again");
        screen.xdotool(&["key", "F5"]).unwrap();
        wait_for_title(&screen, &window, words);
    };
    write_block(&block, [20, 250, 20]);
    wait_for_title(&screen, &window, "has changed on disk");
    assert!(is_of(&screen.settled(&folder.join("still.png")), 0), "nothing is loaded unasked");
    reload("commands");
    let green = screen.settled_unlike(&red, &folder.join("green.png"));
    assert!(is_of(&green, 1));
    // It was written by a program that was interrupted.
    let bytes = fs::read(&block).unwrap();
    fs::write(&block, &bytes[..bytes.len() / 2]).unwrap();
    reload("block.vox: ");
    assert!(screen.settled(&folder.join("damaged.png")) == green, "the scene stays");
    // Written to its end, it is announced again.
    write_block(&block, [20, 20, 250]);
    reload("commands");
    assert!(is_of(&screen.settled_unlike(&green, &folder.join("blue.png")), 2));
    close(&screen, viewer);
}
