//! `fly`.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use drystone_render::Image;

use crate::program::{drystone, one_line, run, scratch};

const WORLD: [&str; 6] = ["--chunks", "2x3x2", "--backend", "soft", "--size", "160x90"];

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn fly(words: &[&str], output: &Path) {
    let done = run(&[&["fly"], &WORLD[..], words, &["-o", path(output)]].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn shot(words: &[&str], output: &Path) -> Image {
    let done = run(&[&["shot"], &WORLD[..], words, &["-o", path(output)]].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Image::load_png(output).unwrap()
}

/// An orbit of four pictures shows the scene from four sides.
#[test]
fn an_orbit_shows_all_sides() {
    let folder = scratch("fly-orbit");
    let turn = folder.join("turn");
    fly(&["--frames", "4"], &turn);
    assert_eq!(fs::read_dir(&turn).unwrap().count(), 4);
    for (n, degrees) in ["0", "90", "180", "-90"].into_iter().enumerate() {
        let picture = Image::load_png(&turn.join(format!("{n}.png"))).unwrap();
        let side = shot(&["--from", degrees], &folder.join("side.png"));
        assert_eq!(picture.difference(&side, 0).unwrap().pixels, 0, "{degrees}");
    }
    let [first, second] = [0, 1].map(|n| Image::load_png(&turn.join(format!("{n}.png"))).unwrap());
    assert!(first.difference(&second, 0).unwrap().pixels > 1000);
}

/// A flight shows the same as single pictures from its stops, at levels of detail as well.
#[test]
fn a_flight_passes_its_stops() {
    let folder = scratch("fly-stops");
    let way = folder.join("way.txt");
    fs::write(
        &way,
        "# over the hill\n-20,90,-20 32,20,32\n32,120,32 33,20,32\n80,70,90 32,30,32\n",
    )
    .unwrap();
    for levels in ["off", "on"] {
        let pictures = folder.join(levels);
        fly(&["--path", path(&way), "--frames", "5", "--levels", levels], &pictures);
        let stops = [("0", "-20,90,-20", "32,20,32"), ("4", "80,70,90", "32,30,32")];
        for (n, eye, look) in stops {
            let picture = Image::load_png(&pictures.join(format!("{n}.png"))).unwrap();
            let words = ["--eye", eye, "--look", look, "--levels", levels];
            let still = shot(&words, &folder.join("still.png"));
            assert_eq!(picture.difference(&still, 0).unwrap().pixels, 0, "{levels}, {n}");
        }
    }
}

/// A GIF has the requested number of pictures. They equal the PNGs except for the colours, since a
/// GIF has 256.
#[test]
fn a_gif_holds_the_same_pictures() {
    let folder = scratch("fly-gif");
    let file = folder.join("turn.gif");
    fly(&["--frames", "3", "--rate", "20"], &file);
    fly(&["--frames", "3"], &folder.join("turn"));
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut gif = options.read_info(fs::File::open(&file).unwrap()).unwrap();
    let mut count = 0;
    while let Some(frame) = gif.read_next_frame().unwrap() {
        assert_eq!((frame.width, frame.height, frame.delay), (160, 90, 5));
        let png = Image::load_png(&folder.join(format!("turn/{count}.png"))).unwrap();
        let sum: u64 =
            frame.buffer.iter().zip(png.rgba()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        assert!(sum / (frame.buffer.len() as u64) < 6, "{sum}");
        count += 1;
    }
    assert_eq!(count, 3);
}

/// An animated PNG has the pictures of the folder, each for a third of a second, and repeats for ever.
#[test]
fn an_animated_png_holds_the_same_pictures() {
    let folder = scratch("fly-apng");
    let file = folder.join("turn.png");
    fly(&["--frames", "4", "--rate", "3"], &file);
    fly(&["--frames", "4"], &folder.join("turn"));
    let png = png::Decoder::new(std::io::BufReader::new(fs::File::open(&file).unwrap()));
    let mut png = png.read_info().unwrap();
    let control = *png.info().animation_control().unwrap();
    assert_eq!((control.num_frames, control.num_plays), (4, 0));
    let mut buffer = vec![0; png.output_buffer_size().unwrap()];
    for count in 0..4 {
        png.next_frame(&mut buffer).unwrap();
        let frame = *png.info().frame_control().unwrap();
        assert_eq!((frame.delay_num, frame.delay_den), (1, 3));
        let still = Image::load_png(&folder.join(format!("turn/{count}.png"))).unwrap();
        assert_eq!(buffer, still.rgba(), "{count}");
    }
}

/// Pictures of a longer flight are not mixed with those of a shorter one; those of the same length
/// are replaced.
#[test]
fn a_folder_holds_the_pictures_of_one_flight() {
    let folder = scratch("fly-again");
    let pictures = folder.join("turn");
    fs::create_dir(&pictures).unwrap();
    fs::write(pictures.join("notes.png"), "not a picture of a flight").unwrap();
    for _ in 0..2 {
        fly(&["--frames", "12"], &pictures);
    }
    for (frames, other) in [("11", "11.png"), ("2", ".png"), ("101", ".png")] {
        let words = [&["fly"], &WORLD[..], &["--frames", frames, "-o", path(&pictures)]].concat();
        let line = one_line(&run(&words), 1);
        assert!(line.contains("of another flight") && line.contains(other), "{line}");
    }
    assert_eq!(fs::read_dir(&pictures).unwrap().count(), 13);
}

/// Ctrl+C in the middle of a GIF leaves the old file and no partial one.
#[test]
#[cfg(unix)]
fn an_interrupted_flight_leaves_no_partial_file() {
    let folder = scratch("fly-stopped");
    let file = folder.join("turn.gif");
    fs::write(&file, "before").unwrap();
    let words = [&["fly"], &WORLD[..], &["--frames", "100000", "-o", path(&file)]].concat();
    let mut child = drystone(&words).stderr(Stdio::piped()).spawn().unwrap();
    // Waits until the file is begun, or the program has ended.
    while fs::read_dir(&folder).unwrap().count() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let stopped = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(stopped.unwrap().success());
    let line = one_line(&child.wait_with_output().unwrap(), 1);
    assert!(line.contains("stopped") && line.contains("turn.gif"), "{line}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(fs::read(&file).unwrap(), b"before");
}

#[test]
fn errors_of_a_flight_are_one_line() {
    let folder = scratch("fly-wrong");
    let way = folder.join("way.txt");
    fs::write(&way, "0,0,0 1,1,1\n0,0 1,1,1\n").unwrap();
    let output = folder.join("a.gif");
    let words = ["fly", "--chunks", "1x1x1", "--path", path(&way), "-o", path(&output)];
    let line = one_line(&run(&words), 1);
    assert!(line.contains("way.txt, line 2"), "{line}");
    let line = one_line(&run(&["fly", "--path", "nowhere.txt", "-o", path(&output)]), 1);
    assert!(line.contains("nowhere.txt"), "{line}");
    assert!(!output.exists());
    one_line(&run(&["fly", "--frames", "0", "-o", path(&output)]), 2);
    one_line(&run(&["shot", "--from", "below", "-o", path(&output)]), 2);
    // A file exists where a folder should be created.
    let words = ["fly", "--chunks", "1x1x1", "--backend", "soft", "-o", path(&way)];
    let line = one_line(&run(&words), 1);
    assert!(line.contains("way.txt"), "{line}");
}
