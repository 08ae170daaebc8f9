//! `info` on polygon models.

use std::{collections::HashSet, fs, path::Path};

use serde_json::{Value, json};

use crate::program::{data_or_skip, one_line, run, scratch};

fn info(path: &Path, more: &[&str]) -> (Value, String) {
    let words = [&["info", path.to_str().unwrap()], more].concat();
    let text = run(&words);
    let json = run(&[&words[..], &["--json"]].concat());
    for output in [&text, &json] {
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    let text = String::from_utf8(text.stdout).unwrap();
    (serde_json::from_slice(&json.stdout).unwrap(), text)
}

#[test]
fn info_counts_the_polygons_of_a_real_model() {
    for name in ["spot.obj", "suzanne.obj"] {
        let Some(path) = data_or_skip("info_counts_the_polygons_of_a_real_model", name) else {
            return;
        };
        let file = fs::read_to_string(&path).unwrap();
        let faces: Vec<&str> = file.lines().filter(|line| line.starts_with("f ")).collect();
        let corners: Vec<&str> = faces.iter().flat_map(|face| face.split(' ').skip(1)).collect();
        let corners: Vec<&str> = corners.into_iter().filter(|word| !word.is_empty()).collect();
        let positions: HashSet<&str> =
            corners.iter().filter_map(|it| it.split('/').next()).collect();
        let (json, text) = info(&path, &[]);
        assert_eq!(json["polygons"], faces.len(), "{name}");
        assert_eq!(json["corners"], corners.len(), "{name}");
        assert_eq!(json["triangles"], corners.len() - 2 * faces.len(), "{name}");
        let lengths = faces.iter().map(|face| face.split_whitespace().count() as u64 - 1);
        let of = |len| lengths.clone().filter(|it| *it == len).count();
        assert_eq!(
            (&json["polygons_of_3"], &json["polygons_of_4"]),
            (&of(3).into(), &of(4).into())
        );
        assert_eq!(json["max_corners"].as_u64(), lengths.max(), "{name}");
        assert!(json["coordinates"].as_u64().unwrap() <= positions.len() as u64, "{name}");
        let bytes = |key: &str| json[key].as_f64().unwrap();
        let ratio = bytes("polygon_bytes") / bytes("polygon_bytes_unshared");
        assert_eq!(json["sharing_ratio"], ratio, "{name}");
        assert!(text.contains(&format!("  polygons  {} of {}", faces.len(), corners.len())));
        assert!(text.contains(&format!("{:.1} % of", 100.0 * ratio)), "{text}");
    }
}

/// A pyramid of a square base and four triangles, beside a separate pentagon of 5 vertices. Two
/// sides of the pyramid have a texture coordinate of their own, so that the base shares no vertex
/// with them.
const PYRAMID: &str = "v 0 0 0\nv 2 0 0\nv 2 0 2\nv 0 0 2\nv 1 2 1\nv 9 0 0\nv 9 2 0\nv 9 3 1\n\
                       v 9 2 2\nv 9 0 2\nvt 0 0\nvt 1 1\nf 1/1 2/1 3/1 4/1\nf 2/1 1/1 5/1\n\
                       f 3/1 2/1 5/1\nf 4/2 3/2 5/2\nf 1/2 4/2 5/2\nf 6/1 7/1 8/1 9/1 10/1\n";

#[test]
fn info_reports_the_corners_of_polygons_and_their_sharing() {
    let path = scratch("info-corners").join("pyramid.obj");
    fs::write(&path, PYRAMID).unwrap();
    let (json, text) = info(&path, &[]);
    // 21 corners of 6 polygons, at 10 coordinates. Of the pyramid, 4 coordinates have two vertices:
    // 1, 3, 4 and 5.
    assert_eq!((&json["polygons"], &json["vertices"]), (&6.into(), &14.into()));
    assert_eq!((&json["polygons_of_3"], &json["polygons_of_4"]), (&4.into(), &1.into()));
    assert_eq!(json["max_corners"], 5);
    assert_eq!(json["corners_per_polygon"], 3.5);
    assert_eq!(
        (&json["polygons_per_vertex"], &json["polygons_per_coordinate"]),
        (&1.5.into(), &2.1.into())
    );
    let lines = "  corners   3.50 a polygon: 66.7 % have 3, 16.7 % have 4, at most 5\n  \
                 vertices  14 at 10 coordinates\n  \
                 sharing   1.50 polygons a vertex, 2.10 a coordinate\n";
    assert!(text.contains(lines), "{text}");
}

const TEXT: &str = "mtllib lost.mtl\nv 0 0 0\nv 2 0 0\nv 2 0.5 0\nv 0 0.5 0\nv 2.001 0 0\n\
                    v 4 0 0\nv 4 0.5 0\nusemtl p\u{1b}q\nf 1 2 3 4\nf 5 6 7 3\nf 1 2\n";

#[test]
fn info_reports_warnings_and_merged_vertices() {
    let folder = scratch("info-model");
    let path = folder.join("two.obj");
    fs::write(&path, TEXT).unwrap();
    let (json, text) = info(&path, &[]);
    assert_eq!((&json["polygons"], &json["coordinates"]), (&2.into(), &7.into()));
    assert_eq!(json["max"], json!([4.0, 0.5, 0.0]));
    let warnings: Vec<(&str, u64, &str)> = json["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let word = |key: &str| it[key].as_str().unwrap();
            (word("kind"), it["count"].as_u64().unwrap(), word("first"))
        })
        .collect();
    assert_eq!(
        warnings,
        [
            ("too-few-corners", 1, "line 12"),
            ("missing-materials", 1, "line 1"),
            ("unknown-material", 1, "line 10")
        ]
    );
    assert!(text.contains("  size      4 x 0.5 x 0\n"), "{text}");
    assert!(text.contains("  warning   1 faces with fewer than three corners skipped"), "{text}");
    assert!(text.contains("p\\u{1b}q") && !text.contains('\u{1b}'), "{text}");
    let (merged, _) = info(&path, &["--merge", "0.01"]);
    assert_eq!(merged["coordinates"], 6);
    assert!(merged["sharing_ratio"].as_f64() < json["sharing_ratio"].as_f64());
}

/// The axis that points up is guessed from comments and can be chosen. `export` has an option for each
/// of its two files.
#[test]
fn models_with_z_up_stand_upright() {
    let folder = scratch("model-up");
    let path = folder.join("mast.obj");
    let mast = "v 0 0 0\nv 1 0 0\nv 1 2 9\nf 1 2 3\n";
    fs::write(&path, mast).unwrap();
    let max = |path: &Path, words: &[&str]| info(path, words).0["max"].clone();
    let (upright, lying) = (json!([1.0, 9.0, 0.0]), json!([1.0, 2.0, 9.0]));
    assert_eq!((max(&path, &[]), max(&path, &["--up", "z"])), (lying.clone(), upright.clone()));
    let (report, text) = info(&path, &[]);
    assert_eq!((&report["up"], &report["up_is_guess"]), (&json!("y"), &json!(true)));
    assert!(text.contains("  up        y, assumed\n"), "{text}");
    fs::write(&path, format!("# FreeCAD\n{mast}")).unwrap();
    assert_eq!((max(&path, &[]), max(&path, &["--up", "y"])), (upright.clone(), lying.clone()));
    let written = folder.join("mast-2.obj");
    for (words, expected) in [
        (&["--source-up", "y"][..], &lying),
        (&[], &upright),
        (&["--source-up", "z", "--up", "y"], &upright),
    ] {
        let [from, to] = [&path, &written].map(|path| path.to_str().unwrap());
        assert!(run(&[&["export", from, "-o", to], words].concat()).status.success());
        assert_eq!(&max(&written, &["--up", "y"]), expected, "{words:?}");
    }
}

#[test]
fn bad_models_and_tolerances_are_one_line_errors() {
    let folder = scratch("info-bad-model");
    for (name, bytes, problem) in [
        ("index.obj", &b"v 0 0 0\nf 1 2 3\n"[..], "line 2: number 2, but the file has 1 vertices"),
        ("cut.glb", b"glTF\x02\0\0\0\xff\xff\xff\x7f", "byte 8: claims 2147483647 bytes"),
        ("text.gltf", b"hello", "line 1 column 1 of its JSON"),
        ("picture.obj", b"\x89PNG\r\n\x1a\n0000", "no polygon"),
    ] {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        let line = one_line(&run(&["info", path.to_str().unwrap()]), 1);
        assert!(line.contains(path.to_str().unwrap()) && line.contains(problem), "{line}");
    }
    for words in [&["--merge", "-1"][..], &["--merge", "nan"], &["--merge", "x"]] {
        one_line(&run(&[&["info", "a.obj"], words].concat()), 2);
    }
}
