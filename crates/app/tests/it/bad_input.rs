//! Bad input causes a one-line error and leaves no files behind.

use std::{fs, path::Path};

use crate::program::{data_or_skip, drystone, one_line, run, scratch};

/// Runs `shot SOURCE` and expects exit code 1, one line that names the file, and no picture.
fn refuses(folder: &Path, source: &Path) -> String {
    let picture = folder.join("out.png");
    let words = ["shot", path(source), "-o", path(&picture), "--backend", "soft"];
    let line = one_line(&run(&words), 1);
    assert!(line.contains(path(source)), "{line}");
    let left: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("png"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    line
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn missing_and_invalid_files_are_refused() {
    let folder = scratch("bad-files");
    let sources = scratch("bad-files-sources");
    refuses(&folder, &folder.join("missing.vox"));
    refuses(&folder, &folder);
    for (name, bytes) in [
        ("empty.vox", &b""[..]),
        ("text.vox", b"hello, this is no voxel file"),
        ("magic.vox", b"VOX "),
        ("picture.png", b"\x89PNG\r\n\x1a\n0000"),
        // A model that claims four thousand million voxels.
        (
            "counts.vox",
            b"VOX \x96\0\0\0MAIN\0\0\0\0\x24\0\0\0SIZE\x0c\0\0\0\0\0\0\0\x02\0\0\0\x02\0\0\0\
              \x02\0\0\0XYZI\x04\0\0\0\0\0\0\0\xff\xff\xff\xff",
        ),
    ] {
        let file = sources.join(name);
        fs::write(&file, bytes).unwrap();
        refuses(&folder, &file);
    }
}

#[test]
fn a_truncated_file_is_refused() {
    let Some(real) = data_or_skip("a_truncated_file_is_refused", "teapot.vox") else { return };
    let folder = scratch("cut-files");
    let bytes = fs::read(real).unwrap();
    for length in [bytes.len() / 3, bytes.len() - 1, 21, 8] {
        let file = folder.join("cut.vox");
        fs::write(&file, &bytes[..length]).unwrap();
        refuses(&folder, &file);
    }
}

#[test]
fn invalid_arguments_are_refused() {
    for words in [
        &["--nonsense"][..],
        &["shot"],
        &["shot", "-o", "a.png", "--size", "0x0"],
        &["shot", "-o", "a.png", "--size", "12"],
        &["shot", "-o", "a.png", "--backend", "abacus"],
        &["shot", "-o", "a.png", "--renderer", "abacus"],
        &["shot", "-o", "a.png", "--eye", "here"],
        &["info", "a", "b"],
        &["info", "a.vox", "--seed", "1"],
    ] {
        one_line(&run(words), 2);
    }
}

#[test]
fn excessive_sizes_are_refused() {
    let folder = scratch("huge");
    let picture = folder.join("out.png");
    let shot = |more: &[&str]| {
        let mut words = vec!["shot", "-o", path(&picture), "--backend", "soft"];
        words.extend(more);
        one_line(&run(&words), 1)
    };
    shot(&["--chunks", "1x4x1", "--size", "4000000000x4000000000"]);
    shot(&["--chunks", "1000000x1000000x1000000", "--levels", "off"]);
    shot(&["--chunks", "100000000x1x1"]);
    shot(&["--chunks", "1x4x1", "--relief", "1025"]);
    assert!(!picture.exists());
}

#[test]
fn an_unwritable_picture_is_an_error() {
    let folder = scratch("unwritable");
    let picture = folder.join("no/such/folder/out.png");
    let words = ["shot", "--chunks", "1x4x1", "--backend", "soft", "-o", path(&picture)];
    let line = one_line(&run(&words), 1);
    assert!(line.contains("no/such/folder"), "{line}");
    // A folder cannot be overwritten by a picture.
    let words = ["shot", "--chunks", "1x4x1", "--backend", "soft", "-o", path(&folder)];
    one_line(&run(&words), 1);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_missing_adapter_or_display_is_an_error() {
    let folder = scratch("no-adapter");
    let picture = folder.join("out.png");
    let words = ["shot", "--chunks", "1x4x1", "--backend", "wgpu", "-o", path(&picture)];
    // Drivers that do not exist, as on a machine without any.
    let output = drystone(&words)
        .env("VK_DRIVER_FILES", "/nonexistent")
        .env("VK_ICD_FILENAMES", "/nonexistent")
        .env("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent")
        .output()
        .unwrap();
    if cfg!(target_os = "linux") {
        let line = one_line(&output, 1);
        assert!(line.contains("adapter"), "{line}");
        assert!(!picture.exists());
        let line = one_line(&run(&["view", "--chunks", "1x4x1"]), 1);
        assert!(line.contains("display"), "{line}");
    }
}
