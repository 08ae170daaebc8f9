//! glTF files: which parts are read, and the result.

use drystone_formats::{Model, ModelOptions, UpAxis, WarningKind};
use serde_json::json;

use crate::gltf_bytes::{I16, U8, U16, U32, parse, quad};
use crate::model_helpers::{beside, check, parts, polygons, warnings};

/// The two triangles of the floor.
const FLOOR: [[[f32; 3]; 3]; 2] = [
    [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0]],
    [[0.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
];

#[test]
fn text_and_binary_say_the_same() {
    let gltf = quad();
    let files = [("a b.bin", &gltf.buffer[..])];
    for bytes in [gltf.text(), gltf.embedded(), gltf.binary()] {
        let model = parse(&bytes, &files).unwrap();
        check(&model);
        assert_eq!(polygons(&model, 0), FLOOR);
        assert_eq!(parts(&model), [("floor", "")]);
        let stats = model.polygons.stats();
        assert_eq!((stats.corners, stats.vertices, stats.coordinates), (6, 4, 4));
        assert!(model.warnings.is_empty());
    }
}

/// glTF specifies Y up, and files that do not keep to it can be turned.
#[test]
fn the_axis_that_points_up_can_be_chosen() {
    let options = ModelOptions::default().with_up(Some(UpAxis::Z));
    let bytes = quad().embedded();
    let turned = Model::parse_gltf(&bytes, "up.gltf", &options, &mut beside(&[])).unwrap();
    check(&turned);
    let moved = FLOOR.map(|triangle| triangle.map(|[x, y, z]| [x, z, 0.0 - y]));
    assert_eq!(polygons(&turned, 0), moved);
    let plain = quad().model();
    assert_eq!(
        [plain.up, turned.up].map(|up| up.to_string()),
        ["y, by the format", "z, as requested"]
    );
}

#[test]
fn indices_of_every_size_and_none() {
    for component in [U8, U16, U32] {
        let mut gltf = quad();
        let indices = gltf.indices(component, &[0, 1, 2, 0, 2, 3]);
        gltf.json["meshes"][0]["primitives"][0]["indices"] = indices.into();
        assert_eq!(polygons(&gltf.model(), 0), FLOOR, "{component}");
    }
    let mut gltf = quad();
    let positions = gltf.floats(FLOOR.as_flattened());
    gltf.json["meshes"][0]["primitives"] = json!([{"attributes": {"POSITION": positions}}]);
    let model = gltf.model();
    assert_eq!(polygons(&model, 0), FLOOR);
    assert_eq!(model.polygons.stats().coordinates, 4);
}

#[test]
fn strips_and_fans_are_triangles() {
    for (mode, indices) in [(5, [1, 2, 0, 3]), (6, [0, 1, 2, 3])] {
        let mut gltf = quad();
        let indices = gltf.indices(U8, &indices);
        gltf.json["meshes"][0]["primitives"][0]["indices"] = indices.into();
        gltf.json["meshes"][0]["primitives"][0]["mode"] = mode.into();
        let model = gltf.model();
        // For any first corner, both are visible from above and cover the floor.
        let normal_z = |t: &Vec<[f32; 3]>| {
            (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) - (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])
        };
        let areas: Vec<f32> = polygons(&model, 0).iter().map(normal_z).collect();
        assert_eq!(areas, [2.0, 2.0], "{mode}");
    }
}

#[test]
fn unsupported_primitives_are_counted_as_warnings() {
    let mut gltf = quad();
    let few = gltf.indices(U8, &[0, 1, 2, 0, 1, 1, 3, 2]);
    let positions = gltf.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].clone();
    let attributes = json!({"POSITION": positions});
    gltf.json["meshes"][0]["primitives"] = json!([
        {"attributes": attributes, "mode": 1},
        {"attributes": {}},
        {"attributes": attributes, "indices": few, "targets": [{"POSITION": 0}]},
    ]);
    gltf.json["nodes"][0]["skin"] = 0.into();
    gltf.json["nodes"][0]["translation"] = json!([5, 0, 0]);
    let model = gltf.model();
    check(&model);
    // Bones give its position, not the node.
    assert_eq!(polygons(&model, 0), [FLOOR[0]]);
    let location = |primitive| format!("node 0, mesh 0, primitive {primitive}");
    assert_eq!(
        warnings(&model),
        [
            (WarningKind::TooFewCorners, 2, location(2)),
            (WarningKind::RepeatedCorner, 1, location(2)),
            (WarningKind::NotPolygons, 2, location(0)),
            (WarningKind::Skin, 2, location(1)),
            (WarningKind::MorphTargets, 1, location(2)),
        ]
    );
}

#[test]
fn nodes_transform_their_meshes() {
    let mut gltf = quad();
    let normals = gltf.floats(&[[0.0, 0.0, 1.0]; 4]);
    gltf.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = normals.into();
    gltf.json["nodes"] = json!([
        {"name": "root", "children": [2, 1], "translation": [10, 0, 0]},
        {"name": "mirror", "mesh": 0, "scale": [-1, 1, 1]},
        {"mesh": 0, "matrix": [0,0,-2,0, 0,1,0,0, 2,0,0,0, 0,0,5,1]},
        {"name": "not in the scene", "mesh": 0},
    ]);
    gltf.json["scenes"] = json!([{"nodes": [3]}, {"nodes": [0]}]);
    gltf.json["scene"] = 1.into();
    let model = gltf.model();
    check(&model);
    assert_eq!(parts(&model), [("mesh", ""), ("mirror", "")]);
    let turned = polygons(&model, 0);
    assert_eq!(turned[0], [[10.0, 0.0, 5.0], [10.0, 0.0, 1.0], [10.0, 1.0, 1.0]]);
    // A mirrored mesh is visible from above too.
    let mirrored = polygons(&model, 1);
    assert_eq!(mirrored[0], [[10.0, 0.0, 0.0], [8.0, 1.0, 0.0], [8.0, 0.0, 0.0]]);
    let normal = |part: usize| {
        let mut corners = model.polygons.corners(model.parts[part].polygons[0]).unwrap();
        corners.next().unwrap().data().normal()
    };
    assert_eq!((normal(0), normal(1)), (Some([1.0, 0.0, 0.0]), Some([0.0, 0.0, 1.0])));

    // Without scenes, every root is shown. Without nodes, every mesh is shown.
    gltf.json.as_object_mut().unwrap().retain(|key, _| !key.starts_with("scene"));
    assert_eq!(gltf.model().parts.len(), 3);
    gltf.json["nodes"] = json!([]);
    assert_eq!(polygons(&gltf.model(), 0), FLOOR);
}

#[test]
fn sparse_and_interleaved_and_quantised_numbers() {
    // Sparse accessor on zeros: two of four elements differ.
    let mut gltf = quad();
    let places = gltf.view(&[1, 0, 2, 0]);
    let values = [2.0_f32, 0.0, 0.0, 2.0, 1.0, 0.0].iter().flat_map(|n| n.to_le_bytes());
    let values = gltf.view(&values.collect::<Vec<u8>>());
    let sparse = gltf.add(
        "accessors",
        json!({"componentType": 5126, "count": 4, "type": "VEC3", "sparse": {
            "count": 2,
            "indices": {"bufferView": places, "componentType": U16},
            "values": {"bufferView": values}}}),
    );
    gltf.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = sparse.into();
    assert_eq!(polygons(&gltf.model(), 0), [FLOOR[0]]);

    // Interleaved positions and texture coordinates, as small integers.
    let mut gltf = quad();
    let rows: [[i16; 6]; 4] =
        [[0, 0, 0, 9, 0, 0], [2, 0, 0, 9, 32767, 0], [2, 1, 0, 9, 32767, -1], [0, 1, 0, 9, 0, 5]];
    let bytes: Vec<u8> = rows.as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect();
    let view = gltf.view(&bytes);
    gltf.json["bufferViews"][view]["byteStride"] = 12.into();
    let mut accessor = |offset: usize, kind: &str, normalized: bool| {
        let object = json!({"bufferView": view, "byteOffset": offset, "componentType": I16,
            "count": 4, "type": kind, "normalized": normalized});
        gltf.add("accessors", object)
    };
    let (positions, uvs) = (accessor(0, "VEC3", false), accessor(8, "VEC2", true));
    let attributes = json!({"POSITION": positions, "TEXCOORD_0": uvs});
    gltf.json["meshes"][0]["primitives"][0]["attributes"] = attributes;
    gltf.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let model = gltf.model();
    assert_eq!(polygons(&model, 0), FLOOR);
    let corners = model.polygons.corners(model.parts[0].polygons[0]).unwrap();
    let uvs: Vec<[f32; 2]> = corners.map(|corner| corner.uv()).collect();
    assert_eq!(uvs, [[0.0, 0.0], [1.0, 0.0], [1.0, -1.0 / 32767.0]]);
}

#[test]
fn base_colours_are_converted_to_srgb() {
    let color = |material: serde_json::Value| {
        let mut gltf = quad();
        let number = gltf.add("materials", material);
        gltf.json["meshes"][0]["primitives"][0]["material"] = number.into();
        let model = gltf.model();
        (model.materials[0].color, model.warnings.count(WarningKind::DamagedTexture))
    };
    let pbr = |factor: [f32; 4]| json!({"baseColorFactor": factor});
    // Computed by hand: 0.5 is 0.7354, and 0.002 is 0.0258.
    let half = pbr([1.0, 0.5, 0.002, 0.25]);
    assert_eq!(color(json!({"pbrMetallicRoughness": half})), ([255, 188, 7, 255], 0));
    let blend = json!({"pbrMetallicRoughness": half, "alphaMode": "BLEND"});
    assert_eq!(color(blend), ([255, 188, 7, 64], 0));
    let mask = json!({"pbrMetallicRoughness": half, "alphaMode": "MASK", "alphaCutoff": 0.25});
    assert_eq!(color(mask).0[3], 255);
    assert_eq!(color(json!({"pbrMetallicRoughness": half, "alphaMode": "MASK"})).0[3], 0);
    let texture = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}});
    assert_eq!(color(texture), ([255; 4], 1));
    let older = json!({"extensions": {"KHR_materials_pbrSpecularGlossiness":
        {"diffuseFactor": [0, 1, 0, 1]}}});
    assert_eq!(color(older), ([0, 255, 0, 255], 0));
}

#[test]
fn parts_share_across_nodes() {
    // Two adjacent floors of one mesh share two corners.
    let mut gltf = quad();
    gltf.add("nodes", json!({"name": "next", "mesh": 0, "translation": [2, 0, 0]}));
    let model = gltf.model();
    assert_eq!(model.parts.len(), 2);
    let stats = model.polygons.stats();
    assert_eq!((stats.polygons, stats.coordinates), (4, 6));
}

/// The program of the fuzzer, with the same seeds.
#[test]
fn files_as_the_fuzzer_makes_them() {
    let text = include_bytes!("../../../../fuzz/seeds/model_gltf/quad.gltf");
    let binary = include_bytes!("../../../../fuzz/seeds/model_gltf/quad.glb");
    for seed in [&text[..], binary] {
        let model = parse(seed, &[]).unwrap();
        assert_eq!(model.polygons.len(), 2);
        let mut random = drystone_testing::Random::new(7);
        for _ in 0..2_000 {
            let mut bytes = seed.to_vec();
            let (at, from) = (random.below(bytes.len()), random.below(bytes.len()));
            bytes.copy_within(from..(from + 6).min(seed.len()), at.min(seed.len() - 6));
            crate::programs::gltf(&bytes);
        }
    }
}
