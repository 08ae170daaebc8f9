//! Damaged and hostile glTF files: an error that names the position, quickly and without much
//! memory.

use std::time::{Duration, Instant};

use drystone_formats::{Model, ModelOptions};
use serde_json::{Value, json};

use crate::gltf_bytes::{F32, Gltf, U8, U16, parse, quad};
use crate::model_helpers::{beside, change_bytes, check};

/// A file with some of everything that is read.
fn everything() -> Gltf {
    let mut gltf = quad();
    let normals = gltf.floats(&[[0.0, 0.0, 1.0]; 4]);
    let uvs = gltf.floats(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    let places = gltf.view(&[3]);
    let values = gltf.view(&[0; 12]);
    gltf.json["accessors"][0]["sparse"] = json!({"count": 1,
        "indices": {"bufferView": places, "componentType": U8},
        "values": {"bufferView": values}});
    let material = json!({"name": "blue", "alphaMode": "BLEND",
        "pbrMetallicRoughness": {"baseColorFactor": [0, 0, 1, 0.5]}});
    gltf.add("materials", material);
    let fan = json!({"attributes": {"POSITION": 0, "NORMAL": normals, "TEXCOORD_0": uvs},
        "mode": 6, "material": 0});
    gltf.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(fan);
    gltf.json["nodes"] = json!([{"children": [1, 2], "scale": [1, -1, 1]},
        {"mesh": 0, "rotation": [0, 0, 0, 1]}, {"mesh": 0, "translation": [4, 0, 0]}]);
    gltf.json["scenes"] = json!([{"nodes": [0]}]);
    gltf
}

/// Changes one value in the quad's document and returns the resulting error message.
fn lie(change: impl Fn(&mut Value)) -> String {
    let mut gltf = quad();
    change(&mut gltf.json);
    gltf.error()
}

fn expect_error(expected: &str, change: impl Fn(&mut Value)) {
    let error = lie(change);
    assert!(error.starts_with(&format!("test.glb: {expected}")), "{expected}: {error}");
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn invalid_indices_are_reported() {
    let primitive = |json: &mut Value| json["meshes"][0]["primitives"][0].take();
    expect_error("accessor 7: out of range, the file has 2", |json| {
        json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = 7.into();
    });
    expect_error("accessor 4294967295: out of range, the file has 2", |json| {
        json["meshes"][0]["primitives"][0]["indices"] = u32::MAX.into();
    });
    expect_error("material 0: out of range, the file has 0", |json| {
        json["meshes"][0]["primitives"][0]["material"] = 0.into();
    });
    expect_error("buffer view 9: out of range, the file has 2", |json| {
        json["accessors"][0]["bufferView"] = 9.into();
    });
    expect_error("buffer view 0: buffer 3 of 1", |json| {
        json["bufferViews"][0]["buffer"] = 3.into();
    });
    expect_error("node 0: mesh 1 of 1", |json| json["nodes"][0]["mesh"] = 1.into());
    expect_error("node 5: out of range, the file has 1", |json| {
        json["nodes"][0]["children"] = json!([5]);
    });
    expect_error("scene 2: out of range, the file has 0", |json| json["scene"] = 2.into());
    expect_error("buffer 1: it has no URI and is not in this file", |json| {
        json["buffers"].as_array_mut().unwrap().push(json!({"byteLength": 4}));
    });
    expect_error("line 1 column ", |json| drop(primitive(json)));
    expect_error("asset: version \"1.0\", only 2 is supported", |json| {
        json["asset"]["version"] = "1.0".into();
    });
}

#[test]
fn cycles_and_nodes_with_two_parents_are_reported() {
    for children in [[[0, 0], [1, 1]], [[1, 1], [0, 0]]] {
        expect_error("node ", |json| {
            json["nodes"] = json!([{"children": children[0]}, {"children": children[1]}]);
            json["scenes"] = json!([{"nodes": [0]}]);
        });
    }
    expect_error("node 0: it has two parents", |json| {
        json["scenes"] = json!([{"nodes": [0, 0]}]);
    });
    // A cycle that no root leads to.
    expect_error("the whole file: it has no polygons", |json| {
        json["nodes"] = json!([{"mesh": 0, "children": [0]}]);
    });
}

#[test]
fn false_counts_and_ranges_are_reported() {
    for (count, start) in [(5_u64, 0_u64), (4, 1), (1 << 40, 0), (u64::MAX, 0), (1, u64::MAX)] {
        expect_error(&format!("accessor 0: claims {count} elements of 12 bytes"), |json| {
            json["accessors"][0]["count"] = count.into();
            json["accessors"][0]["byteOffset"] = start.into();
        });
    }
    expect_error("buffer view 0: a stride of 3 bytes", |json| {
        json["bufferViews"][0]["byteStride"] = 3.into();
    });
    expect_error("accessor 0: claims 4 elements of 12 bytes, 16 apart", |json| {
        json["bufferViews"][0]["byteStride"] = 16.into();
    });
    expect_error(
        "buffer view 0: 49 bytes from byte 18446744073709551615, but the buffer has 60",
        |json| {
            json["bufferViews"][0]["byteOffset"] = u64::MAX.into();
            json["bufferViews"][0]["byteLength"] = 49.into();
        },
    );
    // An accessor without a view may claim any number of zeros.
    let sparse = json!({"count": 2000000000,
        "indices": {"bufferView": 1, "componentType": U16}, "values": {"bufferView": 0}});
    expect_error("accessor 0: claims 2000000000 elements of 12 bytes", |json| {
        json["accessors"][0] =
            json!({"componentType": F32, "count": 4, "type": "VEC3", "sparse": sparse});
    });
    expect_error("accessor 0: claims 2000000000 elements without a view, at most", |json| {
        json["accessors"][0] = json!({"componentType": F32, "count": 2000000000, "type": "VEC3"});
    });
    let mut gltf = quad();
    let places = gltf.view(&[1, 1]);
    gltf.json["accessors"][0]["sparse"] = json!({"count": 2,
        "indices": {"bufferView": places, "componentType": U8}, "values": {"bufferView": 0}});
    let error = gltf.error();
    assert!(
        error.starts_with("test.glb: accessor 0: sparse indices that do not increase"),
        "{error}"
    );
    let mut gltf = quad();
    gltf.buffer.pop();
    let error = parse(&gltf.text(), &[("a b.bin", &quad().buffer[..50])]).unwrap_err().to_string();
    assert!(error.starts_with("test.glb: buffer 0: claims 59 bytes, but has 50"), "{error}");
}

#[test]
fn accessors_of_the_wrong_type_are_reported() {
    expect_error("node 0, mesh 0, primitive 0: accessor 0 does not hold indices", |json| {
        json["meshes"][0]["primitives"][0]["indices"] = 0.into();
    });
    expect_error("node 0, mesh 0, primitive 0: accessor 1 has no type for", |json| {
        json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = 1.into();
    });
    expect_error("accessor 0: a type unknown to glTF", |json| {
        json["accessors"][0]["type"] = "VEC9".into();
    });
    expect_error("node 0, mesh 0, primitive 0: a mode unknown to glTF", |json| {
        json["meshes"][0]["primitives"][0]["mode"] = 9.into();
    });
    let with = |change: &dyn Fn(&mut Gltf)| {
        let mut gltf = quad();
        change(&mut gltf);
        gltf.error()
    };
    let primitive = |gltf: &mut Gltf, key: &str, number: usize| {
        gltf.json["meshes"][0]["primitives"][0][key] = number.into();
    };
    let error = with(&|gltf| {
        let indices = gltf.indices(U8, &[0, 1, 4]);
        primitive(gltf, "indices", indices);
    });
    assert!(error.contains("primitive 0: index 4 of 4 positions"), "{error}");
    let error = with(&|gltf| {
        let normals = gltf.floats(&[[0.0, 0.0, 1.0]; 5]);
        gltf.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = normals.into();
    });
    assert!(error.contains("primitive 0: 4 positions, but 5 elements of accessor 2"), "{error}");
    let error = with(&|gltf| {
        let normals = gltf.floats(&[[0.0, 0.0, 1.0]; 3]);
        gltf.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = normals.into();
    });
    assert!(error.contains("primitive 0: 4 positions, but 3 elements of accessor 2"), "{error}");
    for number in [f32::NAN, f32::INFINITY] {
        let error = with(&|gltf| gltf.buffer[16..20].copy_from_slice(&number.to_le_bytes()));
        assert!(error.contains("accessor 0: element 1 is NaN or infinite"), "{error}");
    }
    let error = with(&|gltf| {
        let uvs = gltf.floats(&[[0.0, f32::NAN]; 4]);
        gltf.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = uvs.into();
    });
    assert!(error.contains("accessor 2: element 0 is NaN or infinite"), "{error}");
    let error = lie(|json| json["nodes"][0]["scale"] = json!([3e38, 3e38, 3e38]));
    assert!(error.contains("its transform moves position 1 beyond f32"), "{error}");
}

#[test]
fn required_extensions_are_reported() {
    for name in ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "x\u{1b}y"] {
        let error = lie(|json| json["extensionsRequired"] = json!(["KHR_materials_unlit", name]));
        let shown = name.escape_default();
        let expected = format!("extensionsRequired: requires \"{shown}\", which is not supported");
        assert!(error.contains("not supported"), "{error}");
        assert!(name.contains('\u{1b}') || error.contains(&expected), "{error}");
    }
    let mut gltf = quad();
    gltf.json["extensionsRequired"] = json!(["KHR_materials_unlit", "KHR_texture_transform"]);
    check(&gltf.model());
}

#[test]
fn remote_buffers_are_refused() {
    for uri in ["http://example.org/a.bin", "/dev/zero", "file:///dev/zero", "data:text/plain,x"] {
        let mut gltf = quad();
        gltf.json["buffers"][0]["uri"] = uri.into();
        let error = gltf.error();
        assert!(error.starts_with("test.glb: buffer 0: its "), "{error}");
    }
    let error = parse(&quad().text(), &[]).unwrap_err().to_string();
    assert!(error.starts_with("test.glb: buffer 0: \"a b.bin\" cannot be read"), "{error}");
}

#[test]
fn normalized_indices_are_read_as_integers() {
    let mut gltf = quad();
    let indices = gltf.indices(U8, &[0, 1, 2]);
    gltf.json["accessors"][indices]["normalized"] = true.into();
    gltf.json["meshes"][0]["primitives"][0]["indices"] = indices.into();
    let model = parse(&gltf.binary(), &[]).unwrap();
    check(&model);
    assert_eq!((model.polygons.len(), model.warnings.iter().count()), (1, 0));
}

/// 1,200 nodes with 1,200 parts each, in about 70 kB.
#[test]
fn limits_are_checked_before_repeated_meshes_are_built() {
    let mut gltf = quad();
    let primitive = gltf.json["meshes"][0]["primitives"][0].clone();
    gltf.json["meshes"][0]["primitives"] = vec![primitive; 1200].into();
    gltf.json["nodes"] = (0..1200).map(|_| json!({"mesh": 0})).collect();
    let start = Instant::now();
    let error = gltf.error();
    assert!(error.contains("corners of faces, at most 16777216 are taken"), "{error}");
    // Most of the limit is used before: a part takes 16 corners of it.
    assert!(start.elapsed() < Duration::from_secs(20));
    // Parts without visible faces count too.
    gltf.json["meshes"][0]["primitives"] = vec![json!({"attributes": {}}); 1200].into();
    let error = gltf.error();
    assert!(error.contains("corners of faces, at most 16777216 are taken"), "{error}");
    // Objects and values of the JSON, which take more memory than bytes.
    for (what, unit) in [("{},", "objects"), ("0,", "values")] {
        let text =
            format!("{{\"asset\": {{\"version\": \"2.0\"}}, \"nodes\": [{}", what.repeat(5 << 20));
        let error = parse(text.as_bytes(), &[]).unwrap_err().to_string();
        assert!(error.contains(&format!("{unit} in its JSON, at most")), "{error}");
    }
}

/// Limits are checked before the rest of the scene is read or stored.
#[test]
fn limits_are_checked_node_by_node() {
    let mut gltf = quad();
    let shown = json!({"mesh": 0});
    // The last node occurs twice, which is reported if the limit is high enough to reach it.
    gltf.json["nodes"] = vec![shown; 101].into();
    gltf.json["scenes"] = json!([{"nodes": (0..101).chain([100]).collect::<Vec<_>>()}]);
    for (max_corners, expected) in [
        (100 * 16, "corners of faces, at most 1600 are taken"),
        (101 * 16, "node 100: it has two parents"),
    ] {
        let options = ModelOptions::default().with_max_corners(max_corners);
        let read = Model::parse_gltf(&gltf.binary(), "test.glb", &options, &mut beside(&[]));
        let error = read.unwrap_err().to_string();
        assert!(error.contains(expected), "{max_corners}: {error}");
    }
}

#[test]
fn a_chain_of_nodes_is_followed_to_its_end() {
    let mut gltf = quad();
    let last = 20_000;
    let below = |node: usize| json!({"children": [node + 1], "translation": [1, 0, 0]});
    let mut nodes: Vec<_> = (0..last).map(below).collect();
    nodes.push(json!({"mesh": 0}));
    gltf.json["nodes"] = nodes.into();
    gltf.json["scenes"] = json!([{"nodes": [0]}]);
    let min = gltf.model().bounds().unwrap().min;
    assert_eq!(min[0], quad().model().bounds().unwrap().min[0] + last as f32);
}

#[test]
fn every_prefix_is_an_error() {
    let gltf = everything();
    let files = [("a b.bin", &gltf.buffer[..])];
    for bytes in [gltf.binary(), gltf.embedded(), gltf.text()] {
        check(&parse(&bytes, &files).unwrap());
        for end in 0..bytes.len() {
            let error = parse(&bytes[..end], &files).unwrap_err().to_string();
            assert!(error.starts_with("test.glb: ") && !error.contains('\n'), "{end}: {error}");
        }
    }
    // Prefixes of the separate buffer.
    let text = gltf.text();
    for end in 0..gltf.buffer.len() {
        let error = parse(&text, &[("a b.bin", &gltf.buffer[..end])]).unwrap_err().to_string();
        assert!(error.starts_with("test.glb: buffer 0: claims"), "{end}: {error}");
    }
}

#[test]
fn thousands_of_changed_bytes() {
    let gltf = everything();
    let parse = |bytes: &[u8]| {
        let files = [("a b.bin", &gltf.buffer[..])];
        let options = ModelOptions::default().with_max_corners(1 << 16);
        Model::parse_gltf(bytes, "changed.glb", &options, &mut beside(&files))
    };
    for bytes in [gltf.binary(), gltf.embedded(), gltf.text()] {
        let read = change_bytes(&bytes, 5_000, parse);
        println!("{read} of 5000 are read");
        assert!((100..4_500).contains(&read), "{read}");
    }
}
