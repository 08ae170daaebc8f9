//! The pictures in `docs/gallery`, which `scripts/gallery.sh` draws.

use std::{fs, path::Path};

use drystone_render::Image;

use crate::program::{run, scratch};

/// Largest picture that moves, in bytes.
const MAX_GIF_BYTES: u64 = 400_000;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The picture of the instanced renderer is the one that the script's line draws. Single pixels at
/// edges may differ between processors.
#[test]
fn the_gallery_shows_what_the_script_draws_cube_by_cube() {
    const MAX_PIXELS: u32 = 20;
    let script = fs::read_to_string(root().join("scripts/gallery.sh")).unwrap();
    let line =
        script.lines().find_map(|line| line.strip_prefix("shot \"$gallery\" cubes ")).unwrap();
    assert!(line.ends_with("--renderer instanced"), "{line}");
    let file = scratch("gallery").join("cubes.png");
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = ["--backend", "soft", "--size", "640x360", "-o", file.to_str().unwrap()];
    let done = run(&[&["shot"], &words[..], &output].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let committed = Image::load_png(&root().join("docs/gallery/cubes.png")).unwrap();
    let difference = committed.difference(&Image::load_png(&file).unwrap(), 8).unwrap();
    assert!(difference.pixels <= MAX_PIXELS, "{difference:?}; run make gallery");
}

#[test]
fn pictures_that_move_are_small() {
    let gallery = fs::read_dir(root().join("docs/gallery")).unwrap().map(|entry| entry.unwrap());
    let is_gif = |name: &Path| name.extension().is_some_and(|it| it == "gif");
    let gifs: Vec<_> = gallery.filter(|entry| is_gif(&entry.path())).collect();
    assert_eq!(gifs.len(), 3, "random, noise and crater");
    for gif in gifs {
        let bytes = gif.metadata().unwrap().len();
        assert!(bytes <= MAX_GIF_BYTES, "{}: {bytes} bytes", gif.path().display());
    }
}
