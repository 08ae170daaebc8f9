//! `.obj` files: which lines are read, which are skipped, and which are errors.

use drystone_formats::{Model, ModelMaterial, ModelOptions, UpAxis, WarningKind};

use crate::model_helpers::{
    beside, change_bytes, check, obj, obj_error, parts, polygons, warnings,
};

const MATERIALS: &str = "newmtl red paint\nKd 1 0 0\nnewmtl glass\nKd 0 0 1\nd 0.5\n";

/// A file with every statement for polygons.
const EVERYTHING: &str = "# a house\nmtllib house.mtl\nmtllib lost.mtl\no house\r\n\
    v 0 0 0\nv 4 0 0 1.0\nv 4 3 0\nv 2 1 0\nv 0 3 0\nv 0 0 2 0.5 0.5 0.5\n\
    vt 0 0\nvt 1\nvt 1 1 0\nvn 0 0 1\nvn 0 0 0\n\
    g front\nusemtl red paint\ns off\n\
    f 1/1/1 2/2/1 3/3/1 \\\n  4//1 5\n\
    g side\nusemtl glass\n\
    f 1/1 -1/-1 5/3 # a triangle\n\
    g\nusemtl unknown\nfo -6 -5 -4\n\
    o shed\nf 1// 2/ 6\nl 1 2\ncall other.obj\n";

#[test]
fn everything_is_read() {
    let model = obj(EVERYTHING, &[("house.mtl", MATERIALS.as_bytes())]);
    check(&model);
    assert_eq!(
        parts(&model),
        [
            ("house/front", "red paint"),
            ("house/side", "glass"),
            ("house", "unknown"),
            ("shed", "unknown")
        ]
    );
    let colors: Vec<[u8; 4]> = model.materials.iter().map(|material| material.color).collect();
    assert_eq!(colors, [[255, 0, 0, 255], [0, 0, 255, 128], ModelMaterial::DEFAULT_COLOR]);
    // The front is concave and stays one polygon.
    let [a, b, c, d, e, f] = [
        [0.0, 0.0, 0.0],
        [4.0, 0.0, 0.0],
        [4.0, 3.0, 0.0],
        [2.0, 1.0, 0.0],
        [0.0, 3.0, 0.0],
        [0.0, 0.0, 2.0],
    ];
    assert_eq!(polygons(&model, 0), [[a, b, c, d, e]]);
    assert_eq!(polygons(&model, 1), [[a, f, e]]);
    assert_eq!(polygons(&model, 2), [[a, b, c]]);
    assert_eq!(polygons(&model, 3), [[a, b, f]]);
    assert_eq!(model.triangle_count(), 6);

    let front = model.polygons.corners(model.parts[0].polygons[0]).unwrap();
    let seen: Vec<_> = front.map(|corner| (corner.uv(), corner.data().normal())).collect();
    let up = Some([0.0, 0.0, 1.0]);
    let none = ([0.0, 0.0], None);
    assert_eq!(seen, [([0.0; 2], up), ([1.0, 0.0], up), ([1.0; 2], up), ([0.0; 2], up), none]);

    let kinds: Vec<_> = warnings(&model);
    assert_eq!(
        kinds,
        [
            (WarningKind::MissingMaterials, 1, "line 3".into()),
            (WarningKind::UnknownMaterial, 1, "line 26".into()),
            (WarningKind::NotPolygons, 1, "line 29".into()),
            (WarningKind::UnknownStatement, 1, "line 30".into()),
            (WarningKind::NoDirection, 1, "line 15".into()),
        ]
    );
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 -0 0\n";

/// Returns the warnings of a face on a square, next to a valid face.
fn left_out(face: &str) -> Vec<(WarningKind, u64, String)> {
    let model = obj(&format!("{SQUARE}f 1 2 3 4\n{face}\n"), &[]);
    check(&model);
    warnings(&model)
}

#[test]
fn degenerate_faces_are_skipped_and_counted() {
    use WarningKind::{RepeatedCorner, TooFewCorners, TouchesItself};
    let line = || "line 7".to_owned();
    for short in ["f", "f 1", "f 1 2", "f # 1 2 3"] {
        assert_eq!(left_out(short), [(TooFewCorners, 1, line())], "{short}");
    }
    assert_eq!(left_out("f 1 2 2 3"), [(RepeatedCorner, 1, line())]);
    // The same position under another number, across the seam of the loop.
    assert_eq!(left_out("f 1 2 3 5"), [(RepeatedCorner, 1, line())]);
    assert_eq!(left_out("f 1 1 5 1"), [(TooFewCorners, 1, line()), (RepeatedCorner, 3, line())]);
    assert_eq!(left_out("f 1 2 5 3 4"), [(TouchesItself, 1, line())]);
    let many: Vec<String> = (0..40).map(|n| (n % 4 + 1).to_string()).collect();
    assert_eq!(left_out(&format!("f {}", many.join(" "))), [(TouchesItself, 1, line())]);
}

#[test]
fn errors_contain_the_line_number() {
    for (text, expected) in [
        ("f 1 2 6", "line 6: number 6, but the file has 5 vertices"),
        ("\n\nf 1 2 -6", "line 8: number -6, but only 5 vertices precede it"),
        ("f 1 2 0", "line 6: number 0 of the vertices: numbers start at 1"),
        ("f 1/1 2 3", "line 6: number 1, but the file has 0 texture coordinates"),
        ("f 1//2 2 3", "line 6: number 2, but the file has 0 normals"),
        ("f 1 2 x", "line 6: \"x\" is not a number of the vertices"),
        ("f 1 2 \\\n3.5", "line 6: \"3.5\" is not a number of the vertices"),
        ("f 1 2 /1", "line 6: \"/1\" has no vertex number"),
        ("f 1 2 1/1/1/1", "line 6: number 1, but the file has 0 texture coordinates"),
        ("f 1 2 3///", "line 6: \"3///\" has more than three numbers"),
        ("f 1 2 99999999999999999999", "line 6: \"99999999999999999999\" is not a number"),
        ("f 1 2 2000000000", "line 6: number 2000000000, but the file has 5 vertices"),
        ("v 1 2", "line 6: \"v\" has 2 numbers, but needs 3"),
        ("v 1 nan 2", "line 6: \"nan\" is NaN, infinite or beyond f32"),
        ("v 1 2 -inf", "line 6: \"-inf\" is NaN, infinite or beyond f32"),
        ("v 1e39 2 2", "line 6: \"1e39\" is NaN, infinite or beyond f32"),
        ("v 1 2 3 4 x", "line 6: \"x\" is not a number"),
        ("vt", "line 6: \"vt\" has 0 numbers, but needs 1"),
        ("vn 1 2 \u{1b}", "line 6: \"\\x1b\" is not a number"),
        ("", "the whole file: it has no polygons that can be shown"),
    ] {
        let error = obj_error(format!("{SQUARE}{text}").as_bytes(), &[]);
        assert!(error.starts_with(&format!("test.obj: {expected}")), "{text}: {error}");
    }
    let picture = obj_error(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &[]);
    assert!(picture.contains("no polygon"), "{picture}");
    let long = obj_error(&[b"v 1 2 ", &[b'7'; 100_000][..], b"x"].concat(), &[]);
    assert!(long.len() < 300 && long.contains("777…\" is not a number"), "{long}");
    let materials = [("a.mtl", &b"newmtl a\nKd 1 1"[..])];
    let error = obj_error(format!("mtllib a.mtl\n{SQUARE}f 1 2 3").as_bytes(), &materials);
    assert!(error.starts_with("test.obj: line 2 of a.mtl: \"Kd\" has 2 numbers"), "{error}");
    // A long name of a file is cut. Found by a fuzzer.
    let name = "é".repeat(5_000);
    let materials = [(name.as_str(), &b"newmtl a\nKd 1 1"[..])];
    let error = obj_error(format!("mtllib {name}\n{SQUARE}f 1 2 3").as_bytes(), &materials);
    assert!(error.len() < 500 && error.contains("éé: \"Kd\" has 2 numbers"), "{error}");
}

#[test]
fn names_of_files_may_have_spaces_or_be_several() {
    let colors = |library: &str, files: &[(&str, &[u8])]| {
        let text = format!("mtllib {library}\n{SQUARE}usemtl glass\nf 1 2 3");
        let model = obj(&text, files);
        let missing = model.warnings.count(WarningKind::MissingMaterials);
        (model.materials[0].color, missing)
    };
    let (glass, grey) = ([0, 0, 255, 128], ModelMaterial::DEFAULT_COLOR);
    let file = MATERIALS.as_bytes();
    assert_eq!(colors("a b.mtl", &[("a b.mtl", file)]), (glass, 0));
    assert_eq!(colors("a.mtl b.mtl", &[("a.mtl", b""), ("b.mtl", file)]), (glass, 0));
    assert_eq!(colors("a.mtl b.mtl", &[("b.mtl", file)]), (glass, 1));
    assert_eq!(colors("a.mtl", &[]), (grey, 1));
    // Names with more bytes than a message shows, and the same file several times.
    let many: String = (0..30).map(|n| format!("materials-{n:05}.mtl ")).collect();
    // Missing files are counted per statement.
    assert_eq!(colors(many.trim_end(), &[("materials-00029.mtl", file)]), (glass, 1));
    let again = "a.mtl\nmtllib ".repeat(400) + "a.mtl";
    assert_eq!(colors(&again, &[("a.mtl", file)]), (glass, 0));
}

#[test]
fn equal_corners_share_vertices_and_coordinates() {
    // Two quads without shared vertices. One corner has another uv.
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 1 -0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\n\
                vt 0 0\nvt -0 0\nvt 1 1\nf 1/1 2/1 3/1 4/1\nf 5/2 6/1 7/1 8/3\n";
    let model = obj(text, &[]);
    let stats = model.polygons.stats();
    assert_eq!((stats.corners, stats.vertices, stats.coordinates), (8, 7, 6));
    let ratio = stats.bytes as f64 / stats.unshared_bytes as f64;
    assert!(model.sharing_ratio() == ratio && (0.5..1.0).contains(&ratio), "{ratio}");
    // Eight corners, all different.
    let apart = obj(&text.replace("5/2", "5/3").replace("v 1 -0 0", "v 1 0 9"), &[]);
    assert_eq!(apart.polygons.stats().vertices, 8);
}

#[test]
fn near_coordinates_are_merged_within_the_tolerance() {
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 1.01 1 0\nv 1.02 0 0\nv 2 0 0\n\
                f 1 2 3\nf 5 6 4\nf 3 4 6\n";
    let read = |merge_tolerance| {
        let options = ModelOptions::default().with_merge_tolerance(merge_tolerance);
        Model::parse_obj(text.as_bytes(), "near.obj", &options, &mut beside(&[]))
    };
    let figures = |tolerance: f32| {
        let model = read(tolerance).unwrap();
        check(&model);
        (model.polygons.len(), model.polygons.stats().coordinates)
    };
    assert_eq!(figures(0.0), (3, 6));
    assert_eq!(figures(0.015), (2, 5));
    assert_eq!(figures(0.03), (2, 4));
    assert!(read(10.0).unwrap_err().to_string().contains("no polygon"));
    for tolerance in [-1.0, f32::NAN, f32::INFINITY] {
        let error = read(tolerance).unwrap_err().to_string();
        assert!(error.starts_with("near.obj: options: a merge tolerance of"), "{error}");
    }
}

/// Positions and normals of a model with Z up are turned alike, and front faces stay in front.
#[test]
fn models_with_z_up_are_turned() {
    let text = "v 1 2 3\nv 4 2 3\nv 4 5 3\nvn 0 0 1\nf 1//1 2//1 3//1\n";
    let read = |text: &str, up| {
        let options = ModelOptions::default().with_up(up);
        Model::parse_obj(text.as_bytes(), "up.obj", &options, &mut beside(&[])).unwrap()
    };
    let (as_it_is, turned) = (read(text, None), read(text, Some(UpAxis::Z)));
    check(&turned);
    let corners = |model: &Model| polygons(model, 0)[0].clone();
    assert_eq!(corners(&as_it_is)[0], [1.0, 2.0, 3.0]);
    assert_eq!(corners(&turned), [[1.0, 3.0, -2.0], [4.0, 3.0, -2.0], [4.0, 3.0, -5.0]]);
    let normal = |model: &Model| {
        let polygon = model.polygons.polygons().next().unwrap();
        let corner = model.polygons.corners(polygon).unwrap().next().unwrap();
        corner.data().normal().unwrap()
    };
    assert_eq!((normal(&as_it_is), normal(&turned)), ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]));
    let commented = read(&format!("# FreeCAD v0.21\n{text}"), None);
    assert_eq!(corners(&commented), corners(&turned));
    assert_eq!(commented.up.to_string(), "z, guessed from \"freecad\" in a comment");
    let chosen = read(&format!("# FreeCAD v0.21\n{text}"), Some(UpAxis::Y));
    assert_eq!(corners(&chosen), corners(&as_it_is));
}

#[test]
fn limits_are_errors_with_numbers() {
    let many: String = (0..20_000).map(|n| format!("{} ", n % 4 + 1)).collect();
    let error = obj_error(format!("{SQUARE}f {many}").as_bytes(), &[]);
    assert!(error.starts_with("test.obj: line 6: a face of more than 16384 corners"), "{error}");
    let options = ModelOptions::default().with_max_corners(6).with_max_file_bytes(100);
    let text = format!("mtllib a.mtl\n{SQUARE}f 1 2 3\nf 1 2 3 4");
    let parse = |files: &[(&str, &[u8])]| {
        let read = Model::parse_obj(text.as_bytes(), "small.obj", &options, &mut beside(files));
        read.unwrap_err().to_string()
    };
    let error = parse(&[]);
    assert!(error.starts_with("small.obj: 7 corners of faces, at most 6 are taken"), "{error}");
    let error = parse(&[("a.mtl", &[b'#'; 60])]);
    assert!(error.starts_with("a.mtl: 60 bytes, at most "), "{error}");
}

#[test]
fn every_prefix_is_read_or_refused() {
    let files = [("house.mtl", MATERIALS.as_bytes())];
    let mut whole = 0;
    for end in 0..EVERYTHING.len() {
        let text = &EVERYTHING.as_bytes()[..end];
        let options = ModelOptions::default();
        match Model::parse_obj(text, "cut.obj", &options, &mut beside(&files)) {
            Ok(model) => {
                check(&model);
                whole += 1;
            }
            Err(error) => assert!(error.to_string().starts_with("cut.obj: "), "{error}"),
        }
    }
    assert!((50..EVERYTHING.len() / 2).contains(&whole), "{whole}");
}

#[test]
fn thousands_of_changed_bytes() {
    let read = change_bytes(EVERYTHING.as_bytes(), 10_000, |bytes| {
        let files = [("house.mtl", MATERIALS.as_bytes())];
        Model::parse_obj(bytes, "changed.obj", &ModelOptions::default(), &mut beside(&files))
    });
    assert!((1_000..9_000).contains(&read), "{read}");
    // Changes in the materials.
    let text = format!("mtllib a.mtl\n{SQUARE}usemtl glass\nf 1 2 3");
    let read = change_bytes(MATERIALS.as_bytes(), 3_000, |bytes| {
        let files = [("a.mtl", bytes)];
        let options = ModelOptions::default();
        Model::parse_obj(text.as_bytes(), "changed.obj", &options, &mut beside(&files))
    });
    assert!((500..2_900).contains(&read), "{read}");
}

/// The program of the fuzzer, with the same seed.
#[test]
fn files_as_the_fuzzer_makes_them() {
    let seed = include_bytes!("../../../../fuzz/seeds/model_obj/house.obj");
    crate::programs::obj(seed);
    let mut random = drystone_testing::Random::new(7);
    for _ in 0..2_000 {
        let mut bytes = seed.to_vec();
        let (at, from) = (random.below(bytes.len()), random.below(bytes.len()));
        bytes.copy_within(from..(from + 12).min(seed.len()), at.min(seed.len() - 12));
        crate::programs::obj(&bytes);
    }
}
