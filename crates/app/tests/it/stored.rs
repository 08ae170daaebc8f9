//! Stored and packed worlds through the commands that write, show and check them.

use std::{fs, path::Path};

use drystone_formats::{EditStore, Source};
use drystone_render::Image;
use drystone_store::{CommitPolicy, StoredLater};
use drystone_world::World;
use serde_json::Value;

use crate::program::{data_or_skip as data, one_line, run, scratch};

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn json(words: &[&str]) -> Value {
    let output = run(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn import(source: &[&str], world: &Path) {
    let output = run(&[&["import"], source, &[path(world)]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn pack(source: &[&str], world: &Path) {
    let output = run(&[&["pack"], source, &["-o", path(world)]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Checks that a stored and a packed world have the picture and the counts of their source.
fn is_the_same_in_files(source: &[&str], folder: &Path) {
    let world = folder.join("world.drystone");
    import(source, &world);
    let checked = json(&["check", path(&world), "--json"]);
    assert!(checked["chunks"].as_u64().is_some_and(|chunks| chunks > 0), "{checked}");
    let shot = |what: &[&str], name: &str| {
        let picture = folder.join(name);
        let view = ["--backend", "soft", "--size", "320x180", "-o", path(&picture)];
        let output = run(&[&["shot"], what, &view[..]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Image::load_png(&picture).unwrap()
    };
    let packed = folder.join("world.dsw");
    pack(source, &packed);
    assert_eq!(json(&["check", path(&packed), "--json"])["chunks"], checked["chunks"]);
    let (direct, stored) = (shot(source, "direct.png"), shot(&[path(&world)], "stored.png"));
    assert_eq!(direct.difference(&stored, 0).unwrap().pixels, 0);
    assert_eq!(direct.difference(&shot(&[path(&packed)], "packed.png"), 0).unwrap().pixels, 0);
    let coarse = |file: &Path, name| shot(&[path(file), "--levels", "on"], name);
    let (stored, packed) = (coarse(&world, "stored.png"), coarse(&packed, "packed.png"));
    // Threads decide which buffer has a mesh, and buffers are drawn one after the other. That decides between faces
    // of two chunks at one depth.
    let pixels = stored.difference(&packed, 0).unwrap().pixels;
    assert!(pixels < 320 * 180 / 2_000, "levels of detail: {pixels} pixels");
}

#[test]
fn a_generated_world_is_stored_and_shown_alike() {
    is_the_same_in_files(&["--chunks", "3x4x3", "--seed", "9"], &scratch("stored-generated"));
}

#[test]
fn a_minecraft_world_is_stored_and_shown_alike() {
    let Some(region) = data("a_minecraft_world_is_stored_and_shown_alike", "r.0.0.mca") else {
        return;
    };
    is_the_same_in_files(&[path(&region)], &scratch("stored-minecraft"));
}

#[test]
fn an_elevation_model_is_stored_and_shown_alike() {
    let test = "an_elevation_model_is_stored_and_shown_alike";
    let Some(map) = data(test, "jacksboro-dem-16bit.png") else { return };
    let to_scale = ["--metres-per-sample", "75x93", "--vertical-scale", "2"];
    is_the_same_in_files(&[&[path(&map)], &to_scale[..]].concat(), &scratch("stored-elevation"));
}

#[test]
fn a_model_is_stored_as_voxels() {
    let Some(model) = data("a_model_is_stored_as_voxels", "spot.obj") else { return };
    let folder = scratch("stored-model");
    let world = folder.join("spot.drystone");
    let line = one_line(&run(&["import", path(&model), path(&world)]), 1);
    assert!(line.contains("--voxels"), "{line}");
    let words = ["import", path(&model), path(&world), "--voxels", "60"];
    let output = run(&words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let picture = folder.join("spot.png");
    let words =
        ["shot", path(&world), "--backend", "soft", "--size", "320x180", "-o", path(&picture)];
    assert!(run(&words).status.success());
    assert!(picture.exists());
}

/// A packed world with one changed byte shows all other chunks. It is reported, and not repaired.
#[test]
fn a_damaged_packed_world_is_reported() {
    let folder = scratch("packed-damaged");
    let world = folder.join("world.dsw");
    pack(&["--chunks", "4x4x4"], &world);
    let info = json(&["info", path(&world), "--json"]);
    assert_eq!(info["levels"].as_array().unwrap().len(), 2, "{info}");
    let mut bytes = fs::read(&world).unwrap();
    assert_eq!(info["file_bytes"], bytes.len());
    let end = bytes.len();
    bytes[end - 40] ^= 1;
    fs::write(&world, &bytes).unwrap();
    let output = run(&["check", path(&world)]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("record of level 0") && text.contains("its checksum is wrong"), "{text}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("pack the world again") && !text.contains("--repair"), "{text}");
    let line = one_line(&run(&["check", path(&world), "--repair"]), 1);
    assert!(line.contains("cannot be repaired"), "{line}");
    let picture = folder.join("a.png");
    let words =
        ["shot", path(&world), "--backend", "soft", "--size", "64x64", "-o", path(&picture)];
    let output = run(&words);
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("world.dsw: level 0, chunk"), "{text}");
}

#[test]
fn a_pack_replaces_neither_its_source_nor_other_files() {
    let folder = scratch("packed-itself");
    let world = folder.join("world.dsw");
    pack(&["--chunks", "2x3x2"], &world);
    let before = fs::read(&world).unwrap();
    let line = one_line(&run(&["pack", path(&world), "-o", path(&world)]), 1);
    assert!(line.contains("is the source itself"), "{line}");
    assert_eq!(fs::read(&world).unwrap(), before);
    let edits = folder.join("edits.drystone");
    import(&["--chunks", "1x1x1"], &edits);
    let words = ["pack", path(&world), "--edits", path(&edits), "-o", path(&edits)];
    let line = one_line(&run(&words), 1);
    assert!(line.contains("has the edits"), "{line}");
    let line = one_line(&run(&["pack", path(&world), "-o", path(&edits)]), 1);
    assert!(line.contains("is not a packed world"), "{line}");
    let line = one_line(&run(&["pack", "nothing.vox", "-o", path(&world)]), 1);
    assert!(line.contains("nothing.vox: cannot be read"), "{line}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no folder of records");
}

/// A damaged world is reported with exit code 1, and repaired without its damaged parts.
#[test]
fn a_damaged_world_is_reported_and_repaired() {
    let folder = scratch("stored-damaged");
    let world = folder.join("world.drystone");
    import(&["--chunks", "4x4x4"], &world);
    let mut bytes = fs::read(&world).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 3_000].iter_mut().for_each(|byte| *byte ^= 0x5a);
    fs::write(&world, &bytes).unwrap();
    let output = run(&["check", path(&world)]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("world.drystone"), "{text}");
    assert!(!text.contains("panicked"), "{text}");

    let output = run(&["check", path(&world), "--repair", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let repaired: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lost = repaired["lost"].as_array().unwrap().len() as u64;
    let chunks = repaired["chunks"].as_u64().unwrap();
    assert!(chunks > 0 && lost + chunks >= 16, "{repaired}");
    assert_eq!(fs::read(folder.join("world.drystone.damaged")).unwrap(), bytes);
    let again = json(&["check", path(&world), "--json"]);
    assert_eq!((&again["damage"], &again["chunks"]), (&Value::Array([].into()), &chunks.into()));
    assert!(again["levels"].as_u64() > Some(0), "{again}");
}

#[test]
fn other_files_are_refused() {
    let folder = scratch("stored-refused");
    let other = folder.join("other.drystone");
    fs::write(&other, b"not a world").unwrap();
    one_line(&run(&["check", path(&other)]), 1);
    one_line(&run(&["import", "--chunks", "1x4x1", path(&other)]), 1);
    assert_eq!(fs::read(&other).unwrap(), b"not a world", "the file is unchanged");
    one_line(&run(&["check", path(&folder.join("lost.drystone"))]), 1);
}

/// Several readers can open a world at once, and reading does not change it.
#[test]
fn a_world_has_several_readers_and_one_writer() {
    let folder = scratch("stored-together");
    let world = folder.join("world.drystone");
    import(&["--chunks", "2x4x2"], &world);
    let before = fs::read(&world).unwrap();
    // Opened as in the viewer.
    let policy = CommitPolicy::default();
    let (first, second) =
        (StoredLater::open(&world, policy).unwrap(), StoredLater::open(&world, policy).unwrap());
    let info = json(&["info", path(&world), "--json"]);
    assert_eq!(info["chunks"].as_u64(), Some(World::load(&first).unwrap().chunk_count() as u64));
    let picture = folder.join("a.png");
    let view = ["--backend", "soft", "--size", "64x48", "-o", path(&picture)];
    assert!(run(&[&["shot", path(&world)], &view[..]].concat()).status.success());
    assert!(fs::read(&world).unwrap() == before);
    let position = first.chunk_positions()[0];
    first.put_edited(vec![(position, first.chunk(position).unwrap())]).unwrap();
    // Only one process can change it.
    let line = one_line(&run(&["import", "--chunks", "2x4x2", path(&world)]), 1);
    assert!(line.contains("close it there"), "{line}");
    assert!(run(&[&["shot", path(&world)], &view[..]].concat()).status.success());
    assert_eq!(World::load(&second).unwrap().chunk_count() as u64, info["chunks"]);
    drop((first, second));
    json(&["info", path(&world), "--json"]);
}
