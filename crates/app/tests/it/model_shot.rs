//! `shot` of polygon models.

use std::fs;

use drystone_render::Image;
use serde_json::Value;

use crate::program::{data_or_skip, one_line, run, scratch};

/// An open box of five squares in two materials, one of them translucent.
const BOX: &str = "\
mtllib box.mtl
v 0 0 0
v 2 0 0
v 2 0 2
v 0 0 2
v 0 1 0
v 2 1 0
v 2 1 2
v 0 1 2
usemtl wood
f 1 2 3 4
f 1 5 6 2
f 2 6 7 3
usemtl glass
f 3 7 8 4
f 4 8 5 1
";
const MATERIALS: &str = "newmtl wood\nKd 0.5 0.3 0.1\nnewmtl glass\nKd 0.4 0.6 1\nd 0.4\n";

fn shot(words: &[&str]) -> Value {
    let output =
        run(&[&["shot", "--json", "--size", "160x120", "--backend", "soft"], words].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn shot_of_a_model_reports_what_it_drew() {
    let folder = scratch("model-shot");
    let [model, materials, picture] =
        ["box.obj", "box.mtl", "box.png"].map(|name| folder.join(name));
    fs::write(&model, BOX).unwrap();
    fs::write(&materials, MATERIALS).unwrap();
    let [model, picture] = [&model, &picture].map(|path| path.to_str().unwrap());
    // Flat: four vertices per square. Smooth: the seven corners of the wood, the six of the glass.
    let mut pictures = Vec::new();
    for (renderer, shade, vertices) in [
        ("pool", "flat", 20),
        ("naive", "flat", 20),
        ("pool", "smooth", 13),
        ("naive", "smooth", 13),
    ] {
        let words = ["--renderer", renderer, "--shade", shade];
        let report = shot(&[&[model, "-o", picture], &words[..]].concat());
        assert_eq!(report["renderer"], renderer);
        assert_eq!((&report["polygons"], &report["triangles"]), (&5.into(), &10.into()));
        assert_eq!((&report["draw_commands"], &report["meshes"]), (&2.into(), &2.into()));
        assert_eq!(report["triangles_drawn"], 10);
        assert_eq!(report["vertices"], vertices);
        assert_eq!(report["vertex_bytes"], vertices * 20 + 30 * 4);
        assert!(report["ms"]["draw"].as_f64().unwrap() > 0.0);
        let image = Image::load_png(picture.as_ref()).unwrap();
        assert_eq!((image.width(), image.height()), (160, 120));
        pictures.push(image);
    }
    assert_eq!(pictures[0].difference(&pictures[1], 0).unwrap().pixels, 0);
    assert_eq!(pictures[2].difference(&pictures[3], 0).unwrap().pixels, 0);
    assert!(pictures[0].difference(&pictures[2], 4).unwrap().pixels > 500);
}

/// `--eye` and `--look` are in the model's own units, of any size.
#[test]
fn camera_positions_are_in_the_models_units() {
    let folder = scratch("model-units");
    let mut pictures = Vec::new();
    for (name, unit) in [("small", 0.001), ("large", 50_000.0)] {
        let [model, picture] =
            [format!("{name}.obj"), format!("{name}.png")].map(|name| folder.join(name));
        let at = |x: f64, y: f64, z: f64| format!("v {} {} {}\n", x * unit, y * unit, z * unit);
        let corners = [at(0.0, 0.0, 0.0), at(4.0, 0.0, 0.0), at(4.0, 1.0, 2.0), at(0.0, 1.0, 2.0)];
        fs::write(&model, format!("{}f 1 2 3 4\n", corners.concat())).unwrap();
        let eye = format!("{},{},{}", 2.0 * unit, 9.0 * unit, 3.0 * unit);
        let look = format!("{},{},{}", 2.0 * unit, 0.0, unit);
        let [model, output] = [&model, &picture].map(|path| path.to_str().unwrap());
        shot(&[model, "-o", output, "--eye", &eye, "--look", &look]);
        pictures.push(Image::load_png(&picture).unwrap());
    }
    // The haze distance depends on the longest side, which is rounded to a power of two
    // differently.
    let seen = pictures[0].difference(&pictures[1], 12).unwrap();
    assert!(seen.pixels < 200, "{seen:?}");
}

#[test]
fn the_instanced_renderer_is_refused_for_models() {
    let folder = scratch("model-refused");
    let model = folder.join("a.obj");
    fs::write(&model, BOX.lines().skip(1).collect::<Vec<_>>().join("\n")).unwrap();
    let model = model.to_str().unwrap();
    let picture = folder.join("a.png");
    let picture = picture.to_str().unwrap();
    let base = ["shot", model, "-o", picture, "--backend", "soft"];
    let refused = one_line(&run(&[&base[..], &["--renderer", "instanced"]].concat()), 1);
    assert!(
        refused.contains("instanced") && refused.contains("use the pool or the naive renderer"),
        "{refused}"
    );
    let usage = one_line(&run(&[&base[..], &["--shade", "round"]].concat()), 2);
    assert!(usage.contains("flat or smooth"), "{usage}");
    assert!(!folder.join("a.png").exists());
}

#[test]
fn real_models_are_drawn() {
    for name in ["spot.obj", "suzanne.obj"] {
        let Some(path) = data_or_skip("real_models_are_drawn", name) else { return };
        let file = fs::read_to_string(&path).unwrap();
        let faces = file.lines().filter_map(|line| line.strip_prefix("f "));
        let triangles: usize = faces.map(|face| face.split_whitespace().count() - 2).sum();
        let folder = scratch(&format!("model-{name}"));
        let picture = folder.join("a.png");
        let report = shot(&[path.to_str().unwrap(), "-o", picture.to_str().unwrap()]);
        assert_eq!(
            (&report["triangles"], &report["draw_commands"]),
            (&triangles.into(), &1.into())
        );
    }
}

/// A square of two triangles, in a glTF file with embedded buffers.
const SQUARE: &str = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
"nodes":[{"mesh":0,"scale":[3,1,1]}],"materials":[{"pbrMetallicRoughness":{"baseColorFactor":[1,0,0,1]}}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1,"material":0}]}],
"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[2,1,0]},
{"bufferView":1,"componentType":5123,"count":6,"type":"SCALAR"}],
"bufferViews":[{"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":12}],
"buffers":[{"byteLength":60,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAQAAAgD8AAAAAAAAAAAAAgD8AAAAAAAABAAIAAAACAAMA"}]}"#;

#[test]
fn gltf_files_are_drawn_too() {
    let folder = scratch("model-gltf");
    let (model, picture) = (folder.join("square.gltf"), folder.join("a.png"));
    fs::write(&model, SQUARE).unwrap();
    let words = [model.to_str().unwrap(), "-o", picture.to_str().unwrap(), "--eye", "3,0.5,9"];
    let report = shot(&words);
    assert_eq!((&report["triangles"], &report["vertices"]), (&2.into(), &4.into()));
    let [red, green, blue, _] = Image::load_png(&picture).unwrap().pixel(80, 60);
    assert!(red > 100 && green < 40 && blue < 40, "{red} {green} {blue}");
}
