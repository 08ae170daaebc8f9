//! Textures from files to pixels: where the corners of an image appear, and what lies between them.

use std::fs;
use std::path::{Path, PathBuf};

use drystone::scene::{ModelScene, ModelTriangles, Shade};
use drystone_formats::{Model, ModelOptions};
use drystone_render::{Camera, Image, Projection, SoftDevice, View};
use glam::DVec3;
use serde_json::{Value, json};

use crate::pictures::pool;

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const YELLOW: [u8; 4] = [255, 255, 0, 255];
/// Width and height of pictures.
const SIDE: u32 = 64;

/// Creates a folder with an image of four colours, and one whose left half is clear.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    fs::create_dir_all(&folder).unwrap();
    let image = |name: &str, color: fn(u32, u32) -> [u8; 4]| {
        let texels = (0..256).flat_map(|n| color(n % 16 / 8, n / 128)).collect();
        Image::from_rgba(16, 16, texels).unwrap().save_png(&folder.join(name)).unwrap();
    };
    image("four.png", |x, y| [[RED, GREEN], [BLUE, YELLOW]][y as usize][x as usize]);
    image("half.png", |x, _| [[255, 0, 0, 0], RED][x as usize]);
    folder
}

/// The square from 0 to 1 with this material, as glTF. Texture coordinates have their origin at the
/// upper left corner.
fn gltf(folder: &Path, material: Value, change: impl FnOnce(&mut Value)) -> Model {
    let floats: [f32; 36] = [
        0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, // positions
        0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, // texture coordinates
        1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, // colours
        0.0, 0.0, 0.0, 0.0, // unused
    ];
    let bytes: Vec<u8> = floats.iter().flat_map(|n| n.to_le_bytes()).collect();
    fs::write(folder.join("square.bin"), bytes).unwrap();
    fs::write(folder.join("indices.bin"), [0, 1, 2, 0, 2, 3]).unwrap();
    let view = |buffer: u32, offset: u32, length: u32| json!({"buffer": buffer, "byteOffset": offset, "byteLength": length});
    let mut json = json!({
        "asset": {"version": "2.0"},
        "buffers": [
            {"uri": "square.bin", "byteLength": 144}, {"uri": "indices.bin", "byteLength": 6}],
        "bufferViews": [view(0, 0, 48), view(0, 48, 32), view(0, 80, 48), view(1, 0, 6)],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC2"},
            {"bufferView": 2, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 3, "componentType": 5121, "count": 6, "type": "SCALAR"}],
        "images": [{"uri": "four.png"}, {"uri": "half.png"}],
        "samplers": [{"wrapS": 33071, "wrapT": 33648}],
        "textures": [{"source": 0}, {"source": 1}, {"source": 0, "sampler": 0}],
        "materials": [material],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 3, "material": 0}]}],
        "nodes": [{"mesh": 0}]});
    change(&mut json);
    fs::write(folder.join("square.gltf"), json.to_string()).unwrap();
    let model = Model::open(&folder.join("square.gltf"), &ModelOptions::default()).unwrap();
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    model
}

/// The square with a material of these statements, as `.obj`. Texture coordinates have their origin
/// at the lower left corner.
fn obj(folder: &Path, statements: &str) -> Model {
    fs::write(folder.join("square.mtl"), format!("newmtl m\nillum 1\n{statements}\n")).unwrap();
    let text = "mtllib square.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\n\
                vt 0 1\nusemtl m\nf 1/1 2/2 3/3 4/4\n";
    fs::write(folder.join("square.obj"), text).unwrap();
    let model = Model::open(&folder.join("square.obj"), &ModelOptions::default()).unwrap();
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    model
}

/// The picture of a model whose square fills it.
fn picture(model: &Model) -> Image {
    let model = ModelTriangles::new(model, Shade::Smooth).unwrap();
    let (min, max) = model.transform.corners();
    let middle = (min + max) / 2.0;
    let height_voxels = (max - min).y as f32;
    let camera = Camera::look_at(middle + DVec3::Z * 50.0, middle);
    let camera = Camera { projection: Projection::Orthographic { height_voxels }, ..camera };
    let mut scene = ModelScene::new(model, pool(SoftDevice::new(SIDE, SIDE).unwrap(), 0)).unwrap();
    let mut view = View::new(camera);
    view.atmosphere.haze_density = 0.0;
    scene.picture(&view).unwrap().0
}

/// The colours of the four quarters: upper left, upper right, lower left, lower right. `None` for the
/// sky and for others.
fn quarters(picture: &Image) -> [Option<[u8; 4]>; 4] {
    let low = SIDE / 4;
    [[low, low], [3 * low, low], [low, 3 * low], [3 * low, 3 * low]].map(|[x, y]| {
        let [red, green, blue, _] = picture.pixel(x, y);
        let most = red.max(green).max(blue);
        // Light darkens and tints colours.
        let seen = [red, green, blue].map(|channel| u32::from(channel) * 3 > u32::from(most));
        let of = |color: &[u8; 4]| [0, 1, 2].map(|n| color[n] > 0) == seen;
        [RED, GREEN, BLUE, YELLOW].into_iter().find(of)
    })
}

fn base(texture: Value) -> Value {
    json!({"pbrMetallicRoughness": {"baseColorTexture": texture}})
}

#[test]
fn images_stand_upright() {
    let folder = folder("images_stand_upright");
    let upright = [RED, GREEN, BLUE, YELLOW].map(Some);
    let model = gltf(&folder, base(json!({"index": 0})), |_| {});
    assert_eq!(quarters(&picture(&model)), upright);
    assert_eq!(quarters(&picture(&obj(&folder, "map_Kd four.png"))), upright);
    assert_eq!(quarters(&picture(&obj(&folder, "Kd 0 0 0\nmap_Ke four.png"))), upright);
}

#[test]
fn transforms_and_wrap_modes_move_images() {
    let folder = folder("transforms_and_wrap_modes_move_images");
    let seen = |texture: u32, transform: Value| {
        let extensions = json!({"KHR_texture_transform": transform});
        let texture = json!({"index": texture, "extensions": extensions});
        quarters(&picture(&gltf(&folder, base(texture), |_| {})))
    };
    let across = seen(0, json!({"offset": [0.5, 0]}));
    assert_eq!(across, [GREEN, RED, YELLOW, BLUE].map(Some));
    // A quarter turn about the upper left corner, which the repetition moves back.
    let turned = seen(0, json!({"rotation": std::f32::consts::FRAC_PI_2}));
    assert_eq!(turned, [BLUE, RED, YELLOW, GREEN].map(Some));
    let part = seen(0, json!({"scale": [0.5, 0.5], "offset": [0.5, 0.5]}));
    assert_eq!(part, [YELLOW; 4].map(Some));
    // Across the right side continues, below the image is mirrored.
    let wrapped = seen(2, json!({"offset": [1, 1]}));
    assert_eq!(wrapped, [YELLOW, YELLOW, GREEN, GREEN].map(Some));
    let moved = quarters(&picture(&obj(&folder, "map_Kd -o 0 0.5 four.png")));
    assert_eq!(moved, [BLUE, YELLOW, RED, GREEN].map(Some));
}

#[test]
fn opacity_is_ignored_cut_out_or_blended() {
    let folder = folder("opacity_is_ignored_cut_out_or_blended");
    let seen = |mode: &str| {
        let mut material = base(json!({"index": 1}));
        material["alphaMode"] = mode.into();
        let model = gltf(&folder, material, |_| {});
        let [left, _, _, right] = quarters(&picture(&model));
        (left, right)
    };
    assert_eq!(seen("OPAQUE"), (Some(RED), Some(RED)));
    assert_eq!(seen("MASK"), (None, Some(RED)));
    assert_eq!(seen("BLEND"), (None, Some(RED)));
    let [left, _, _, right] = quarters(&picture(&obj(&folder, "map_Kd four.png\nmap_d half.png")));
    assert_eq!((left, right), (None, Some(YELLOW)));
}

/// The colours of an unlit surface are those of its image, whatever the light is.
#[test]
fn unlit_surfaces_and_vertex_colours() {
    let folder = folder("unlit_surfaces_and_vertex_colours");
    let mut material = base(json!({"index": 0}));
    material["extensions"] = json!({"KHR_materials_unlit": {}});
    let seen = picture(&gltf(&folder, material, |_| {}));
    let low = SIDE / 4;
    assert_eq!(seen.pixel(low, low), RED);
    assert_eq!(seen.pixel(3 * low, 3 * low), YELLOW);
    // The upper corners are red, the lower ones white.
    let colored = |json: &mut Value| {
        json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = 2.into();
    };
    let plain = json!({"extensions": {"KHR_materials_unlit": {}}});
    let seen = picture(&gltf(&folder, plain, colored));
    let [top, bottom] = [1, SIDE - 2].map(|y| seen.pixel(SIDE / 2, y));
    assert!(top[0] == 255 && top[1] < 16 && bottom[1] > 239, "{top:?} {bottom:?}");
    // They multiply a texture.
    let seen = picture(&gltf(&folder, base(json!({"index": 0})), colored));
    assert!(seen.pixel(3 * low, 1)[1] < 16, "green times red");
}

/// Faces of different groups, and flat ones, share no normals.
#[test]
fn smoothing_groups_part_the_surface() {
    let bent = "v 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
    let faces = ["f 1 2 3 4\n", "f 1 4 5 6\n"];
    let normals = |first: &str, second: &str| {
        let text = format!("{bent}{first}\n{}{second}\n{}", faces[0], faces[1]);
        let mut nothing = |name: &str, _| {
            let problem = std::io::ErrorKind::NotFound.into();
            Err(drystone_formats::SourceError::Unreadable { path: name.into(), problem })
        };
        let options = ModelOptions::default();
        let model = Model::parse_obj(text.as_bytes(), "a.obj", &options, &mut nothing).unwrap();
        let triangles = ModelTriangles::new(&model, Shade::Smooth).unwrap();
        let flat = |normal: [f32; 3]| normal.iter().filter(|n| n.abs() > 0.01).count() == 1;
        let vertices = &triangles.parts[0].vertices;
        let flat = vertices.iter().filter(|vertex| flat(vertex.normal())).count();
        (vertices.len(), flat)
    };
    // Two of six vertices are at the bend.
    assert_eq!(normals("", ""), (6, 4));
    assert_eq!(normals("s 1", "s 1"), (6, 4));
    assert_eq!(normals("s 1", "s 2"), (8, 8));
    assert_eq!(normals("s off", "s off"), (8, 8));
    assert_eq!(normals("s 1", "s 0"), (8, 8));
}
