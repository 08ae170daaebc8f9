//! Models in files: those of other programs, found through `DRYSTONE_DATA`, and the files that
//! belong to them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use drystone_formats::{Model, ModelOptions, WarningKind};

use crate::data;
use crate::gltf_bytes::quad;
use crate::model_helpers::{beside, change_bytes, check};

/// Creates an empty folder for this test.
fn scratch(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Faces as numbers of positions, texture coordinates and normals, counted from 1.
struct Lines {
    positions: Vec<[f32; 3]>,
    faces: Vec<Vec<[usize; 3]>>,
}

/// Reads the lines of a plain file in the simplest way.
fn lines(text: &str) -> Lines {
    let mut lines = Lines { positions: Vec::new(), faces: Vec::new() };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first() {
            Some(&"v") => lines.positions.push([1, 2, 3].map(|n| words[n].parse().unwrap())),
            Some(&"f") => lines.faces.push(words[1..].iter().map(|word| numbers(word)).collect()),
            _ => {}
        }
    }
    lines
}

fn numbers(word: &str) -> [usize; 3] {
    let mut parts = word.split('/').map(|part| part.parse().unwrap_or(0));
    [0; 3].map(|_| parts.next().unwrap_or(0))
}

#[test]
fn real_models_match_their_lines() {
    let Some(folder) = data("real_models_match_their_lines") else { return };
    for name in ["spot.obj", "suzanne.obj"] {
        let path = folder.join(name);
        let lines = lines(&fs::read_to_string(&path).unwrap());
        let model = Model::open(&path, &ModelOptions::default()).unwrap();
        check(&model);
        assert_eq!((model.parts.len(), model.materials.len()), (1, 1), "{name}");
        // Every face with all of its corners, in the order of the lines.
        let polygons = crate::model_helpers::polygons(&model, 0);
        let expected: Vec<Vec<[f32; 3]>> = lines
            .faces
            .iter()
            .map(|face| face.iter().map(|corner| lines.positions[corner[0] - 1]).collect())
            .collect();
        assert_eq!(polygons, expected, "{name}");
        // There is one vertex per distinct corner.
        let stats = model.polygons.stats();
        let used: HashSet<_> = lines.faces.iter().flatten().map(|corner| corner[0]).collect();
        let bits = |n: &usize| lines.positions[n - 1].map(f32::to_bits);
        let places: HashSet<_> = used.iter().map(bits).collect();
        assert_eq!(stats.coordinates as usize, places.len(), "{name}");
        let corners: HashSet<_> = lines.faces.iter().flatten().collect();
        assert!(stats.vertices as usize <= corners.len(), "{name}");
        let ratio = model.sharing_ratio();
        println!("{name}: {stats:?} {ratio:.3}");
        assert!((0.2..0.6).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn a_real_model_cut_and_changed() {
    let Some(folder) = data("a_real_model_cut_and_changed") else { return };
    let bytes = fs::read(folder.join("suzanne.obj")).unwrap();
    let parse = |bytes: &[u8]| {
        Model::parse_obj(bytes, "changed.obj", &ModelOptions::default(), &mut beside(&[]))
    };
    for end in (0..bytes.len()).step_by(97) {
        match parse(&bytes[..end]) {
            Ok(model) => check(&model),
            Err(error) => assert!(error.to_string().starts_with("changed.obj: "), "{error}"),
        }
    }
    let read = change_bytes(&bytes, 400, parse);
    assert!((40..400).contains(&read), "{read}");
}

#[test]
fn files_in_the_folder_of_a_model_are_found() {
    let folder = scratch("models-beside");
    fs::create_dir(folder.join("colours")).unwrap();
    fs::write(folder.join("colours/all.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
    let text = |library: &str| {
        format!("mtllib {library}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n")
    };
    let path = folder.join("Flag.OBJ");
    for (library, is_there) in [
        ("colours/all.mtl", true),
        ("colours\\all.mtl", true),
        ("none.mtl", false),
        ("colours", false),
        ("/dev/zero", false),
    ] {
        fs::write(&path, text(library)).unwrap();
        let model = Model::open(&path, &ModelOptions::default()).unwrap();
        assert_eq!(model.name, path.display().to_string());
        assert_eq!(model.materials[0].color == [255, 0, 0, 255], is_there, "{library}");
        let missing = model.warnings.count(WarningKind::MissingMaterials);
        assert_eq!(missing == 0, is_there, "{library}");
    }
}

/// Creates a folder with a model's folder in it, and materials and a buffer outside the model's
/// folder.
fn with_secrets(test: &str) -> PathBuf {
    let folder = scratch(test);
    fs::create_dir_all(folder.join("models/sub")).unwrap();
    fs::create_dir(folder.join("secret")).unwrap();
    fs::write(folder.join("secret/all.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
    // If it were read as materials, the error would show its content.
    fs::write(folder.join("secret/passwd"), "root:x:0:0\nnewmtl\n").unwrap();
    folder
}

#[test]
fn materials_outside_the_folder_are_not_read() {
    let folder = with_secrets("materials-outside");
    let absolute = |name: &str| folder.join("secret").join(name).display().to_string();
    let path = folder.join("models/a.obj");
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n";
    for name in [
        &absolute("all.mtl"),
        &absolute("passwd"),
        "../secret/all.mtl",
        "../secret/passwd",
        "..\\secret\\all.mtl",
        "sub/../../secret/all.mtl",
        "./../secret/all.mtl",
        "\\\\host\\share\\all.mtl",
        "C:\\secret\\all.mtl",
        "C:all.mtl",
        "file:///etc/passwd",
        "nul.mtl",
        "a\0b.mtl",
    ] {
        fs::write(&path, format!("mtllib {name}\n{triangle}")).unwrap();
        let model = Model::open(&path, &ModelOptions::default()).unwrap();
        assert_ne!(model.materials[0].color, [255, 0, 0, 255], "{name}");
        let count = |kind| model.warnings.count(kind);
        let counts = [WarningKind::MissingMaterials, WarningKind::OutsideFolder].map(count);
        assert_eq!(counts, [1, 1], "{name}");
    }
}

/// Links are made by the owner of the folder, not by the author of the model.
#[cfg(unix)]
#[test]
fn links_in_the_folder_of_a_model_are_followed() {
    let folder = with_secrets("materials-linked");
    std::os::unix::fs::symlink("../secret", folder.join("models/link")).unwrap();
    let path = folder.join("models/a.obj");
    let text = "mtllib link/all.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n";
    fs::write(&path, text).unwrap();
    let model = Model::open(&path, &ModelOptions::default()).unwrap();
    assert_eq!(model.materials[0].color, [255, 0, 0, 255]);
    assert!(model.warnings.is_empty());
}

#[test]
fn buffers_outside_the_folder_are_not_read() {
    let folder = with_secrets("buffers-outside");
    let mut gltf = quad();
    fs::write(folder.join("secret/a.bin"), &gltf.buffer).unwrap();
    let path = folder.join("models/a.gltf");
    let absolute = folder.join("secret/a.bin").display().to_string();
    let names = ["../secret/a.bin", "%2e%2e/secret/a.bin", "%2E%2e%5Csecret%5Ca.bin"];
    for uri in [&absolute, "sub/%2E./..%2fsecret/a.bin", "..\\secret\\a.bin"].iter().chain(&names) {
        fs::write(&path, gltf.text_with(uri)).unwrap();
        let error = Model::open(&path, &ModelOptions::default()).unwrap_err().to_string();
        let expected = format!("{}: buffer 0: its name is not", path.display());
        assert!(error.starts_with(&expected), "{uri}: {error}");
    }
    // A buffer that no mesh needs is only counted.
    let stray = serde_json::json!([{"byteLength": 4, "uri": "../secret/a.bin"}]);
    gltf.json["buffers"].as_array_mut().unwrap().extend(stray.as_array().unwrap().clone());
    fs::write(folder.join("models/a.bin"), &gltf.buffer).unwrap();
    fs::write(&path, gltf.text_with("./a.bin")).unwrap();
    let model = Model::open(&path, &ModelOptions::default()).unwrap();
    let warnings = crate::model_helpers::warnings(&model);
    assert_eq!(warnings, [(WarningKind::OutsideFolder, 1, "buffer 1".into())]);
}

#[test]
fn files_that_are_no_models_are_refused() {
    let folder = scratch("models-refused");
    let error = |name: &str, options: &ModelOptions| {
        let error = Model::open(&folder.join(name), options).unwrap_err().to_string();
        assert!(error.contains(name) && !error.contains('\n'), "{error}");
        error
    };
    let options = ModelOptions::default();
    fs::write(folder.join("empty.obj"), "").unwrap();
    fs::write(folder.join("model.txt"), "v 0 0 0").unwrap();
    fs::write(folder.join("large.glb"), [0; 101]).unwrap();
    fs::create_dir(folder.join("folder.gltf")).unwrap();
    assert!(error("missing.obj", &options).contains("cannot be read"));
    assert!(error("empty.obj", &options).contains("an empty file"));
    assert!(error("model.txt", &options).contains("does not end in .obj"));
    assert!(error("folder.gltf", &options).contains("a folder"));
    let small = options.with_max_file_bytes(100);
    assert!(error("large.glb", &small).contains("101 bytes, at most 100 are taken"));
    assert!(!Model::is_model(Path::new("obj")) && Model::is_model(Path::new("a/b.GLB")));
}
