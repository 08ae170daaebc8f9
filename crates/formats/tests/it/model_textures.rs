//! Textures of models: where they lie, how they are decoded, and what is counted instead.

use drystone_formats::{AlphaMode, Model, ModelImage, ModelOptions, WarningKind, Wrap};
use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use serde_json::json;

use crate::gltf_bytes::{Gltf, base64, parse, quad};
use crate::model_helpers::{Files, beside, check, obj};

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const CLEAR: [u8; 4] = [255, 255, 255, 0];

/// Encodes an image of these rows.
fn encoded(rows: &[&[[u8; 4]]], format: ImageFormat) -> Vec<u8> {
    let size = [rows[0].len() as u32, rows.len() as u32];
    let image = RgbaImage::from_fn(size[0], size[1], |x, y| Rgba(rows[y as usize][x as usize]));
    let image = DynamicImage::from(image);
    let image = if format == ImageFormat::Jpeg { image.into_rgb8().into() } else { image };
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn png(rows: &[&[[u8; 4]]]) -> Vec<u8> {
    encoded(rows, ImageFormat::Png)
}

/// A PNG with this size in its head and no texels.
fn huge_png(side: u32) -> Vec<u8> {
    let mut bytes = png(&[&[RED]]);
    bytes[16..20].copy_from_slice(&side.to_be_bytes());
    bytes[20..24].copy_from_slice(&side.to_be_bytes());
    let crc = crc32(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

const TRIANGLE: &str = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n\
    usemtl m\nf 1/1 2/2 3/3\n";

/// Reads a triangle with a material of these statements.
fn mtl(statements: &str, files: Files) -> Model {
    let material = format!("newmtl m\n{statements}\n");
    let mut all = vec![("a.mtl", material.as_bytes())];
    all.extend_from_slice(files);
    let model = obj(TRIANGLE, &all);
    check(&model);
    model
}

fn base(model: &Model) -> &ModelImage {
    &model.images[model.materials[0].base_texture.unwrap().image]
}

/// Reads the quad with a material, and files beside it.
fn gltf(change: impl FnOnce(&mut Gltf), files: Files) -> Model {
    let mut gltf = quad();
    gltf.json["textures"] = json!([{"source": 0}]);
    gltf.json["images"] = json!([{"uri": "a.png"}]);
    let material = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}});
    gltf.json["materials"] = json!([material]);
    gltf.json["meshes"][0]["primitives"][0]["material"] = 0.into();
    change(&mut gltf);
    let model = parse(&gltf.binary(), files).unwrap();
    check(&model);
    model
}

/// The only kind of warning, and its place.
fn warning(model: &Model) -> (WarningKind, String) {
    let all: Vec<_> = model.warnings.iter().collect();
    assert_eq!((all.len(), all[0].count), (1, 1), "{all:?}");
    (all[0].kind, all[0].first_location.clone())
}

#[test]
fn all_formats_are_decoded_from_the_top() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
        // Blocks of JPEG have 8×8 texels.
        let row = |left, right| [[left; 16], [right; 16]].concat();
        let (upper, lower) = (row(RED, GREEN), row(BLUE, RED));
        let rows: Vec<&[[u8; 4]]> = [vec![&*upper; 16], vec![&*lower; 16]].concat();
        let bytes = encoded(&rows, format);
        let model = gltf(|_| {}, &[("a.png", &bytes)]);
        assert!(model.warnings.is_empty());
        let ModelImage { size, rgba } = base(&model);
        assert_eq!(*size, [32, 32], "{format:?}");
        for (at, color) in [([4, 4], RED), ([28, 4], GREEN), ([4, 28], BLUE), ([28, 28], RED)] {
            let at = 4 * (at[1] * 32 + at[0]);
            let off = (0..4).map(|n| rgba[at + n].abs_diff(color[n])).max().unwrap();
            assert!(off <= 2, "{format:?}: {:?}, not {color:?}", &rgba[at..at + 4]);
        }
    }
}

#[test]
fn textures_of_gltf_lie_in_files_views_and_uris() {
    let bytes = png(&[&[RED, GREEN]]);
    let in_view = |gltf: &mut Gltf| {
        let view = gltf.view(&bytes);
        gltf.json["images"] = json!([{"bufferView": view, "mimeType": "image/png"}]);
    };
    let in_uri = |gltf: &mut Gltf| {
        let uri = format!("data:image/png;base64,{}", base64(&bytes));
        gltf.json["images"] = json!([{"uri": uri}]);
    };
    let webp = |gltf: &mut Gltf| {
        let source = json!({"EXT_texture_webp": {"source": 1}});
        gltf.json["textures"] = json!([{"source": 0, "extensions": source}]);
        gltf.json["images"] = json!([{"uri": "lost.png"}, {"uri": "a%20b.png"}]);
    };
    let files: Files = &[("a.png", &bytes), ("a b.png", &bytes)];
    for model in [gltf(|_| {}, files), gltf(in_view, files), gltf(in_uri, files), gltf(webp, files)]
    {
        assert!(model.warnings.is_empty());
        assert_eq!(base(&model).rgba[..], [RED, GREEN].concat());
    }
}

#[test]
fn materials_of_gltf_keep_all_that_is_shown() {
    let change = |gltf: &mut Gltf| {
        gltf.json["samplers"] = json!([{"wrapS": 33071, "wrapT": 33648}]);
        gltf.json["textures"] = json!([{"source": 0, "sampler": 0}, {"source": 0}]);
        let transform = json!({"KHR_texture_transform":
            {"offset": [0.5, 0.25], "scale": [2, 3], "rotation": 1.570_796_4}});
        gltf.json["materials"] = json!([{
            "pbrMetallicRoughness": {
                "baseColorFactor": [1, 1, 1, 0.5],
                "baseColorTexture": {"index": 0, "extensions": transform}},
            "emissiveFactor": [1, 0, 0],
            "emissiveTexture": {"index": 1},
            "alphaMode": "MASK", "alphaCutoff": 0.2,
            "extensions": {"KHR_materials_unlit": {}}}]);
    };
    let bytes = png(&[&[RED]]);
    let model = gltf(change, &[("a.png", &bytes)]);
    let material = &model.materials[0];
    assert_eq!((material.alpha, material.color[3]), (AlphaMode::Mask { cutoff: 51 }, 128));
    assert_eq!((material.emissive, material.is_unlit), ([255, 0, 0], true));
    let (base, emissive) = (material.base_texture.unwrap(), material.emissive_texture.unwrap());
    assert_eq!((base.wrap, emissive.wrap), ([Wrap::Clamp, Wrap::Mirror], [Wrap::Repeat; 2]));
    // One image for both. A quarter turn: u shows −v of the scaled coordinates.
    assert_eq!((base.image, emissive.image, model.images.len()), (0, 0, 1));
    let want = [[0.0, 3.0, 0.5], [-2.0, 0.0, 0.25]];
    for (row, want) in base.transform.iter().zip(want) {
        assert!(row.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5), "{:?}", base.transform);
    }
}

#[test]
fn emissive_textures_with_other_coordinates_are_counted() {
    let change = |gltf: &mut Gltf| {
        gltf.json["materials"][0]["emissiveTexture"] = json!({"index": 0, "texCoord": 1});
        gltf.json["materials"][0]["emissiveFactor"] = json!([1, 1, 1]);
    };
    let bytes = png(&[&[RED]]);
    let model = gltf(change, &[("a.png", &bytes)]);
    assert_eq!(warning(&model), (WarningKind::OtherCoordinates, "material 0".into()));
    // Without its texture, the surface does not shine.
    assert_eq!((model.materials[0].emissive, model.materials[0].emissive_texture), ([0; 3], None));
}

/// Each fault of a texture is counted, and the rest is read.
#[test]
fn bad_textures_are_counted_by_kind() {
    let (good, huge) = (png(&[&[RED, GREEN]]), huge_png(8193));
    let cut = &good[..good.len() - 20];
    let ktx2 = b"\xabKTX 20\xbb\r\n\x1a\n and more";
    for (file, kind, name) in [
        (Some(cut), WarningKind::DamagedTexture, ""),
        (Some(&huge[..]), WarningKind::LargeTexture, ""),
        (Some(&ktx2[..]), WarningKind::Ktx2Texture, ": KTX2"),
        (Some(&b"DDS |"[..]), WarningKind::UnsupportedTexture, ": DDS"),
        (Some(&b""[..]), WarningKind::UnsupportedTexture, ": an unknown format"),
        (None, WarningKind::MissingTexture, ""),
    ] {
        let files: Vec<_> = file.map(|file| ("a.png", file)).into_iter().collect();
        let location = format!("material 0, texture 0, image 0{name}");
        let model = gltf(|_| {}, &files);
        assert_eq!(warning(&model), (kind, location));
        assert_eq!((model.materials[0].base_texture, model.images.len()), (None, 0));
        let model = mtl("map_Kd a.png", &files);
        assert_eq!(warning(&model), (kind, format!("material m, a.png{name}")));
    }
    for (uri, kind) in [
        ("../a.png", WarningKind::OutsideFolder),
        ("%2e%2e/a.png", WarningKind::OutsideFolder),
        ("/etc/passwd", WarningKind::OutsideFolder),
        ("data:image/png;base64,!", WarningKind::DamagedTexture),
        ("%ff", WarningKind::DamagedTexture),
    ] {
        let model = gltf(|gltf| gltf.json["images"] = json!([{"uri": uri}]), &[("a.png", &good)]);
        assert_eq!(warning(&model).0, kind, "{uri}");
    }
    for (name, kind) in [
        ("..\\a.png", WarningKind::OutsideFolder),
        ("C:\\a.png", WarningKind::OutsideFolder),
        ("/a.png", WarningKind::OutsideFolder),
    ] {
        assert_eq!(warning(&mtl(&format!("map_Kd {name}"), &[("a.png", &good)])).0, kind);
    }
}

#[test]
fn references_that_lead_nowhere_are_counted() {
    let bytes = png(&[&[RED]]);
    for (textures, kind) in [
        (json!([]), WarningKind::DamagedTexture),
        (json!([{}]), WarningKind::DamagedTexture),
        (json!([{"source": 7}]), WarningKind::DamagedTexture),
        (json!([{"extensions": {"KHR_texture_basisu": {"source": 0}}}]), WarningKind::Ktx2Texture),
    ] {
        let model = gltf(|gltf| gltf.json["textures"] = textures, &[("a.png", &bytes)]);
        assert_eq!(warning(&model).0, kind);
    }
    let view = |gltf: &mut Gltf| gltf.json["images"] = json!([{"bufferView": 99}]);
    assert_eq!(warning(&gltf(view, &[])).0, WarningKind::DamagedTexture);
    // The image for readers without the extension is used.
    let fallback = json!([{"source": 0, "extensions": {"KHR_texture_basisu": {"source": 1}}}]);
    let model = gltf(|gltf| gltf.json["textures"] = fallback, &[("a.png", &bytes)]);
    assert!(model.warnings.is_empty() && model.images.len() == 1);
}

#[test]
fn textures_beyond_the_limit_are_made_smaller_and_counted() {
    let row = [RED; 64];
    let bytes = png(&[&row[..]; 64]);
    let options = ModelOptions::default().with_max_texture_bytes(64 * 64 * 4 - 1);
    let material = "newmtl m\nmap_Kd a.png\n";
    let files: Files = &[("a.mtl", material.as_bytes()), ("a.png", &bytes)];
    let text = TRIANGLE.as_bytes();
    let model = Model::parse_obj(text, "a.obj", &options, &mut beside(files)).unwrap();
    assert_eq!(warning(&model).0, WarningKind::ScaledTexture);
    assert_eq!((base(&model).size, &base(&model).rgba[..4]), ([32, 32], &RED[..]));
}

#[test]
fn obj_textures_have_positions_and_opacity() {
    let (color, soft) = (png(&[&[RED, GREEN], &[BLUE, RED]]), [200, 200, 200, 255]);
    let files: Files = &[
        ("a.png", &color),
        ("hole.png", &png(&[&[[255; 4]], &[[0, 0, 0, 255]]])),
        ("soft.png", &png(&[&[soft]])),
        ("clear.png", &png(&[&[RED, CLEAR]])),
    ];
    let of = |statements: &str| {
        let model = mtl(statements, files);
        assert!(model.warnings.is_empty(), "{:?}", model.warnings);
        let material = model.materials[0].clone();
        (material.alpha, material.base_texture.unwrap(), base(&model).clone())
    };
    let opacities = |image: &ModelImage| image.rgba.chunks(4).map(|it| it[3]).collect::<Vec<_>>();
    // The first row of an image is at v = 1.
    let (alpha, texture, image) = of("map_Kd -s 2 3 -o 0.5 0.25 a.png");
    assert_eq!((alpha, image.size), (AlphaMode::Opaque, [2, 2]));
    assert_eq!(texture.transform, [[2.0, 0.0, 0.5], [0.0, -3.0, 0.75]]);
    // Brightness, scaled to the image of colours.
    let (alpha, _, image) = of("map_Kd a.png\nmap_d hole.png");
    assert_eq!((alpha, opacities(&image)), (AlphaMode::Mask { cutoff: 128 }, vec![255, 255, 0, 0]));
    assert_eq!(image.rgba[..3], RED[..3]);
    let (alpha, _, image) = of("map_d soft.png\nmap_Kd a.png");
    assert_eq!((alpha, opacities(&image)), (AlphaMode::Blend, vec![200; 4]));
    // The opacity of one image for both, or of the image alone.
    let (alpha, _, image) = of("map_Kd clear.png\nmap_d clear.png");
    assert_eq!((alpha, opacities(&image)), (AlphaMode::Mask { cutoff: 128 }, vec![255, 0]));
    let (_, _, image) = of("map_d clear.png");
    assert_eq!(image.rgba[..4], [255; 4]);
    // Programs write it without `map_d` too, and it has no meaning then.
    assert_eq!(of("map_Kd clear.png").0, AlphaMode::Opaque);
    let glow = mtl("Ke 0 0 0\nmap_Ke a.png", files).materials[0].clone();
    assert_eq!((glow.emissive, glow.emissive_texture.is_some()), ([255; 3], true));
}

#[test]
fn obj_vertices_have_colours_and_smoothing_groups() {
    let text = "v 0 0 0 1 0.5 0\nv 1 0 0\nv 0 1 0 0 0 1\nv 0 0 1\n\
        f 1 2 3\ns 3\nf 1 2 4\ns off\nf 2 3 4\ns 70000\nf 1 3 4\n";
    let model = obj(text, &[]);
    check(&model);
    let corners = |face: usize| {
        let corners = model.polygons.corners(model.parts[0].polygons[face]).unwrap();
        let data = corners.map(|corner| (corner.data().color(), corner.data().smoothing_group()));
        data.collect::<Vec<_>>()
    };
    let (orange, white) = ([255, 128, 0, 255], [255; 4]);
    assert_eq!(corners(0), [(orange, None), (white, None), (BLUE, None)]);
    assert_eq!(corners(1), [orange, white, white].map(|color| (color, Some(3))));
    assert_eq!(corners(2)[0], (white, Some(0)));
    assert!(corners(3)[0].1.is_some_and(|group| group != 0));
}

#[test]
fn gltf_vertices_have_colours() {
    let change = |gltf: &mut Gltf| {
        let colors = gltf.floats(&[[1.0, 0.0, 0.0], [0.5; 3], [0.0; 3], [2.0, f32::NAN, -1.0]]);
        gltf.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = colors.into();
    };
    let bytes = png(&[&[RED]]);
    let model = gltf(change, &[("a.png", &bytes)]);
    let corners = model.polygons.corners(model.parts[0].polygons[0]).unwrap();
    let colors: Vec<_> = corners.map(|corner| corner.data().color()).collect();
    // Linear light is converted to sRGB.
    assert_eq!(colors[..2], [[255, 0, 0, 255], [188, 188, 188, 255]]);
}

#[test]
fn the_helmet_has_its_textures() {
    let Some(folder) = crate::data("the_helmet_has_its_textures") else { return };
    let path = folder.join("FlightHelmet/FlightHelmet.gltf");
    let model = Model::open(&path, &ModelOptions::default()).unwrap();
    check(&model);
    let textured = model.materials.iter().filter(|it| it.base_texture.is_some()).count();
    assert_eq!((model.images.len(), textured), (5, 6));
    let (missing, all) = (WarningKind::MissingTexture, model.warnings.iter().count());
    assert!(all <= 1 && model.warnings.iter().all(|it| it.kind == missing), "{:?}", model.warnings);
}

/// The program of the fuzzer, with the same seeds and with damaged ones.
#[test]
fn textures_as_the_fuzzer_makes_them() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/textures");
    let mut random = drystone_testing::Random::new(5);
    for file in std::fs::read_dir(folder).unwrap() {
        let seed = std::fs::read(file.unwrap().path()).unwrap();
        assert!(crate::programs::texture(&seed), "a valid seed");
        for end in 0..seed.len() {
            crate::programs::texture(&seed[..end]);
        }
        for _ in 0..300 {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            crate::programs::texture(&bytes);
        }
    }
}
