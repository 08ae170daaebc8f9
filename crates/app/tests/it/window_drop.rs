//! Files that are dropped on the viewer's window, and those that a dialog names.

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

/// A file of one block of voxels of one colour, as MagicaVoxel writes them.
pub(crate) fn write_block(path: &Path, [r, g, b]: [u8; 3]) {
    let places = (0..4_u8).flat_map(|x| (0..4).flat_map(move |y| (0..4).map(move |z| [x, y, z])));
    let voxels = places.map(|[x, y, z]| dot_vox::Voxel { x, y, z, i: 0 }).collect();
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

/// The file as file managers name it: what is no plain letter is a percent sign and its number.
fn uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
    let letter = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let path: String = path.to_str().unwrap().bytes().map(letter).collect();
    format!("file://{path}")
}

/// A viewer of something generated, in a small window that has the keys.
fn open(screen: &Screen, folder: &Path, search: &str) -> (Viewer, String) {
    let mut command = screen.command(binary());
    let view = ["view", "--chunks", "2x4x2", "--size", "320x240", "--backend", "soft"];
    command.args(view).current_dir(folder).stderr(Stdio::null());
    // Without a desktop there is no portal to ask for files.
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

/// Whether what is in the middle is mostly of this channel's colour.
fn is_of(picture: &Image, channel: usize) -> bool {
    let pixel = picture.pixel(160, 120);
    (0..3).all(|other| other == channel || pixel[channel] > 2 * pixel[other])
}

#[test]
fn files_dropped_on_the_window_are_opened() {
    let test = "files_dropped_on_the_window_are_opened";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    // No name is part of another's, nor of what the title says of another.
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
    // One that goes before it is let go of is told of, and what is shown stays. (Of one that was
    // never there nobody hears: winit looks for it while it is held, and finds nothing to tell.)
    let held = drag(&[&red]);
    fs::remove_file(&red).unwrap();
    held.drop_them();
    wait_for_title(&screen, &window, "red.vox");
    assert!(is_of(&screen.settled(&folder.join("gone.png")), 1));
    // Of several the first is.
    drag(&[&several, &green, &left]).drop_them();
    wait_for_title(&screen, &window, "several");
    assert!(is_of(&screen.settled(&folder.join("several.png")), 0));
    // What was held over the window without being dropped is not read: it would be blue.
    drag(&[&left]).leave();
    assert!(is_of(&screen.settled(&folder.join("left.png")), 0));
    close(&screen, viewer);
}

/// A dialog's file goes the same way as one that is dropped: here one that names what it is told,
/// in the place of zenity, which is asked where a desktop has no dialog of its own.
#[test]
fn files_that_a_dialog_names_are_opened() {
    let test = "files_that_a_dialog_names_are_opened";
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
