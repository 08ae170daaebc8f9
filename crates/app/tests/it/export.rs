//! `export`.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use drystone_formats::{Model, ModelOptions};
use drystone_world::{OpenOptions, World, open_voxels};

use crate::{
    memory::watch,
    program::{binary, data_or_skip, drystone, one_line, run, scratch},
};

const WORLD: [&str; 4] = ["--chunks", "2x3x2", "--seed", "5"];
const FORMATS: [&str; 5] = ["glb", "obj", "ply", "stl", "vox"];

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs `export` with these words. Returns its report.
fn export(words: &[&str], output: &Path) -> String {
    let done = run(&[&["export"], words, &["-o", path(output)]].concat());
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && error.is_empty(), "{words:?}: {error}");
    String::from_utf8(done.stdout).unwrap()
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// Returns the number of voxels of a file.
fn voxels(file: &Path) -> u64 {
    let source = open_voxels(file, &OpenOptions::default()).unwrap();
    World::load(source.as_ref()).unwrap().solid_count()
}

#[test]
fn every_format_is_written_and_reported_in_one_line() {
    let folder = scratch("export-formats");
    for (written, format) in FORMATS.into_iter().enumerate() {
        let file = folder.join(format!("a.{format}"));
        let report = export(&WORLD, &file);
        let bytes = fs::metadata(&file).unwrap().len();
        assert!(report.starts_with(path(&file)) && report.lines().count() == 1, "{report}");
        assert!(report.ends_with(&format!(", {bytes} bytes\n")), "{report}");
        // An .obj file has a material file beside it.
        assert_eq!(count(&folder), written + 1 + usize::from(written > 0));
    }
    let model = Model::open(&folder.join("a.obj"), &ModelOptions::default()).unwrap();
    assert_eq!(model.warnings.iter().count(), 0, "the material file is found");
    assert!(model.materials.len() > 3);
    let glb = Model::open(&folder.join("a.glb"), &ModelOptions::default()).unwrap();
    let triangles = |report: &str| report.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
    assert_eq!(triangles(&export(&WORLD, &folder.join("a.glb"))), glb.triangle_count());
}

/// Real files of every kind of source, as meshes and as voxels.
#[test]
fn every_source_is_exported() {
    const TEST: &str = "every_source_is_exported";
    let folder = scratch("export-sources");
    let sources = ["dragon.vox", "robo.qb", "r.0.0.mca", "jacksboro-dem-16bit.png"];
    let stored = folder.join("a.drystone");
    assert!(run(&[&["import"], &WORLD[..], &[path(&stored)]].concat()).status.success());
    for name in sources {
        let Some(source) = data_or_skip(TEST, name) else { return };
        // A part of the large ones.
        let words = [path(&source), "--box", "0,0,0,90,200,90"];
        export(&words, &folder.join("a.stl"));
        let [cut, again] = ["a.vox", "b.vox"].map(|name| folder.join(name));
        let cut_report = run(&[&["export"], &words[..], &["-o", path(&cut)]].concat());
        assert!(cut_report.status.success(), "{name}");
        export(&[path(&cut)], &again);
        assert_eq!(voxels(&cut), voxels(&again), "{name}");
    }
    export(&[path(&stored)], &folder.join("b.vox"));
    assert_eq!(voxels(&stored), voxels(&folder.join("b.vox")));
    let Some(spot) = data_or_skip(TEST, "spot.obj") else { return };
    let report = export(&[path(&spot)], &folder.join("a.stl"));
    let model = Model::open(&spot, &ModelOptions::default()).unwrap();
    assert!(report.contains(&format!(" {} triangles", model.triangle_count())), "{report}");
    export(&[path(&spot), "--voxels", "20"], &folder.join("spot.vox"));
    assert!(voxels(&folder.join("spot.vox")) > 100);
    let line = one_line(&run(&["export", path(&spot), "-o", path(&folder.join("c.vox"))]), 1);
    assert!(line.contains("--voxels N"), "{line}");
}

/// Levels halve the number of voxels along each axis, and a mesh keeps its size.
#[test]
fn levels_and_boxes_select_voxels() {
    let folder = scratch("export-parts");
    let file = |name: &str| folder.join(name);
    export(&WORLD, &file("0.vox"));
    export(&[&WORLD[..], &["--level", "1"]].concat(), &file("1.vox"));
    let [fine, coarse] = ["0.vox", "1.vox"].map(|name| voxels(&file(name)));
    assert!((fine / 10..fine / 6).contains(&coarse), "{coarse} of {fine}");
    export(&[&WORLD[..], &["--level", "1"]].concat(), &file("1.obj"));
    let size = Model::open(&file("1.obj"), &ModelOptions::default()).unwrap().bounds().unwrap();
    assert_eq!((size.min[0], size.max[0]), (0.0, 64.0));
    export(&[&WORLD[..], &["--box", "9,0,40,12,95,3"]].concat(), &file("box.obj"));
    let size = Model::open(&file("box.obj"), &ModelOptions::default()).unwrap().bounds().unwrap();
    assert_eq!([size.min[0], size.max[0], size.min[2], size.max[2]], [9.0, 13.0, 3.0, 41.0]);

    let line = one_line(&run(&["export", "--chunks", "2x3x2", "--level", "9", "-o", "a.stl"]), 1);
    assert!(line.contains("no level 9"), "{line}");
    let output = file("a.stl");
    let words = ["export", "--box", "9,900,9,9,900,9", "-o", path(&output)];
    let line = one_line(&run(&words), 1);
    assert!(line.contains("nothing to export") && line.contains(path(&output)), "{line}");
    assert!(!output.exists());
}

/// Smooth shading uses the normals of a file, and those of voxel faces are flat.
#[test]
fn exported_voxels_stay_flat_with_smooth_shading() {
    let folder = scratch("export-normals");
    for format in ["obj", "glb"] {
        let file = folder.join(format!("a.{format}"));
        export(&WORLD, &file);
        let picture = |shade: &str| {
            let picture = folder.join(format!("{format}-{shade}.png"));
            let words = ["--shade", shade, "--backend", "soft", "--size", "320x240"];
            let done = run(&[&["shot", path(&file), "-o", path(&picture)], &words[..]].concat());
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            fs::read(picture).unwrap()
        };
        assert!(picture("smooth") == picture("flat"), "{format}");
    }
}

/// A failed export leaves the old file and nothing else.
#[test]
#[cfg(unix)]
fn a_failed_export_leaves_nothing_half_written() {
    let folder = scratch("export-failed");
    for format in FORMATS {
        let file = folder.join(format!("a.{format}"));
        fs::write(&file, "before").unwrap();
        // A limit for files instead of a full disk. The signal is ignored, so that writing fails.
        let script = r#"trap '' XFSZ; ulimit -f 16; exec "$@""#;
        let full = Command::new("bash")
            .args(["-c", script, "bash", path(&binary()), "export"])
            .args(WORLD)
            .args(["-o", path(&file)])
            .output()
            .unwrap();
        let line = one_line(&full, 1);
        assert!(line.contains(path(&file)) && line.contains("cannot be written"), "{line}");
        assert_eq!(fs::read(&file).unwrap(), b"before", "{format}");
        fs::remove_file(&file).unwrap();
        assert_eq!(count(&folder), 0, "{format}");
        for output in [format!("no folder/a.{format}"), format!("/proc/a.{format}")] {
            let line = one_line(&run(&[&["export"], &WORLD[..], &["-o", &output]].concat()), 1);
            assert!(line.contains(&output) && line.contains("cannot be written"), "{line}");
        }
        fs::create_dir(&file).unwrap();
        let words = [&["export"], &WORLD[..], &["-o", path(&file)]].concat();
        assert!(one_line(&run(&words), 1).contains("is a folder"));
        fs::remove_dir(&file).unwrap();
    }
}

/// Ctrl+C leaves the old file and nothing else.
#[test]
#[cfg(unix)]
fn an_interrupted_export_leaves_nothing() {
    let folder = scratch("export-stopped");
    let file = folder.join("a.glb");
    fs::write(&file, "before").unwrap();
    let words = ["export", "--chunks", "500x16x500", "--relief", "512", "-o", path(&file)];
    let mut child = drystone(&words).stderr(Stdio::piped()).spawn().unwrap();
    // Waits until the file is begun, or the program has ended.
    while count(&folder) < 2 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let stopped = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(stopped.unwrap().success());
    let line = one_line(&child.wait_with_output().unwrap(), 1);
    assert!(line.contains("stopped") && line.contains("a.glb was not written"), "{line}");
    assert_eq!(count(&folder), 1);
    assert_eq!(fs::read(&file).unwrap(), b"before");
}

/// Names that differ in spaces have different material files, and a material file of another program
/// stays.
#[test]
fn material_files_of_others_stay() {
    let folder = scratch("export-materials");
    for name in ["a b.obj", "a_b.obj"] {
        export(&WORLD, &folder.join(name));
    }
    assert_eq!(count(&folder), 4);
    let [file, materials] = ["a.obj", "a.mtl"].map(|name| folder.join(name));
    fs::write(&file, "before").unwrap();
    fs::write(&materials, "newmtl stone\n").unwrap();
    let line = one_line(&run(&[&["export"], &WORLD[..], &["-o", path(&file)]].concat()), 1);
    assert!(line.contains(path(&materials)) && line.contains("another program"), "{line}");
    assert_eq!(fs::read(&file).unwrap(), b"before");
    assert_eq!(fs::read(&materials).unwrap(), b"newmtl stone\n");
    fs::write(&materials, "# drystone\n").unwrap();
    export(&WORLD, &file);
    assert!(fs::metadata(&materials).unwrap().len() > 100);
}

/// The material file stands beside the file that a link names.
#[test]
#[cfg(unix)]
fn links_to_obj_files_are_followed() {
    let [folder, links] = ["export-real", "export-links"].map(scratch);
    let [file, link] = [folder.join("real.obj"), links.join("link.obj")];
    fs::write(&file, "before").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    export(&WORLD, &link);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!((count(&folder), count(&links)), (2, 1));
    let model = Model::open(&file, &ModelOptions::default()).unwrap();
    assert_eq!(model.warnings.iter().count(), 0, "the material file is found");
}

/// File names on Unix are bytes in any encoding.
#[test]
#[cfg(target_os = "linux")]
fn file_names_may_have_any_bytes() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = scratch("export-names");
    for name in [&b"a\xFF b\n.obj"[..], b"\xE4#\\.GLB", b"-\x1b.vox"] {
        let file = folder.join(OsStr::from_bytes(name));
        let done = drystone(&[&["export"], &WORLD[..], &["-o"]].concat()).arg(&file).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(String::from_utf8(done.stdout).unwrap().lines().count(), 1);
        assert!(fs::metadata(&file).unwrap().len() > 1_000);
    }
    let text = fs::read(folder.join(OsStr::from_bytes(b"a\xFF b\n.obj"))).unwrap();
    let text = String::from_utf8(text).unwrap();
    let materials = text.lines().nth(1).unwrap().strip_prefix("mtllib a__b_-").unwrap();
    assert!(folder.join(format!("a__b_-{materials}")).is_file(), "{materials}");
    assert_eq!(count(&folder), 4);
}

/// The file is larger than the memory, so that it cannot have been in memory as a whole.
#[test]
fn worlds_larger_than_the_memory_are_streamed() {
    const LIMIT_MIB: u64 = 64;
    /// The program, and the generator of the world.
    const BASE_MIB: u64 = 64;
    let folder = scratch("export-memory");
    for (format, chunks) in [("glb", "40x4x40"), ("vox", "30x4x30")] {
        let file = folder.join(format!("a.{format}"));
        let limit = LIMIT_MIB.to_string();
        let words = ["export", "--chunks", chunks, "--memory", &limit, "-o", path(&file)];
        let peak = watch(drystone(&words).stdout(Stdio::null()).spawn().unwrap()) >> 20;
        if peak == 0 {
            println!("skipped: worlds_larger_than_the_memory_are_streamed: no memory is reported");
            return;
        }
        let size = fs::metadata(&file).unwrap().len() >> 20;
        println!("{format}: {peak} MiB for a file of {size} MiB");
        assert!(peak < LIMIT_MIB + BASE_MIB, "{format}: {peak} MiB");
        assert!(size > LIMIT_MIB + BASE_MIB, "{format}: only {size} MiB");
        fs::remove_file(file).unwrap();
    }
}

/// A region that the system cannot read is not exported as air.
#[cfg(unix)]
#[test]
fn an_unreadable_region_ends_the_export() {
    let folder = scratch("export-unreadable");
    fs::write(folder.join("r.0.0.mca"), [0; 8192]).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("r.1.0.mca")).unwrap();
    let [world, output] = ["", "a.obj"].map(|name| folder.join(name).display().to_string());
    let done = run(&["export", &world, "-o", &output]);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{errors}");
    assert!(errors.contains("r.1.0.mca: cannot be read"), "{errors}");
    assert!(!folder.join("a.obj").exists());
}
