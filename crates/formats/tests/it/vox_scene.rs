//! Scenes: names, hidden nodes and layers, frames, colours, large and repeated models.

use drystone_formats::Source;
use drystone_testing::Random;
use drystone_voxel::VoxelPos;

use crate::vox_bytes::{
    NO_LAYER, chunk, error, group, layer, material, model, open, palette, shape, transform, voxels,
    words,
};
use crate::world::World;

/// Creates a model of one voxel of this colour.
fn dot(color: u8) -> Vec<u8> {
    model([1, 1, 1], &[[0, 0, 0, color]])
}

/// Creates a root group of transforms, each with a shape. A part is the attributes of its transform
/// and its model's index.
fn scene(parts: &[(&[(&str, &str)], u32)]) -> Vec<Vec<u8>> {
    let ids: Vec<u32> = (0..parts.len() as u32).map(|i| 2 + 2 * i).collect();
    let mut chunks = vec![transform(0, &[], 1, NO_LAYER, &[&[]]), group(1, &ids)];
    for (i, (attributes, layer)) in parts.iter().enumerate() {
        let place = format!("{} 0 0", i * 10);
        chunks.push(transform(ids[i], attributes, ids[i] + 1, *layer, &[&[("_t", &place)]]));
        chunks.push(shape(ids[i] + 1, &[(i as u32, &[])]));
    }
    chunks
}

fn colors(source: &dyn Source) -> Vec<u8> {
    let mut colors: Vec<u8> = voxels(source).into_values().collect();
    colors.sort_unstable();
    colors
}

#[test]
fn hidden_nodes_and_layers_are_omitted() {
    let mut chunks: Vec<_> = (1..=6).map(dot).collect();
    chunks.extend(scene(&[
        (&[("_name", "shown")], 0),
        (&[("_name", "not shown"), ("_hidden", "1")], 0),
        (&[("_hidden", "0")], 7),
        (&[("_name", "on a hidden layer")], 3),
        (&[("_name", "shown")], NO_LAYER),
        (&[("_name", "on a layer without description")], 99),
    ]));
    chunks.push(layer(7, &[("_name", "seven")]));
    chunks.push(layer(3, &[("_hidden", "1")]));
    let file = open(&chunks);
    assert_eq!(colors(&file), [1, 3, 5, 6]);
    let summary = file.summary();
    assert_eq!((summary.model_count, summary.instance_count, summary.hidden_count), (6, 4, 2));
    assert_eq!(summary.names, ["shown", "on a layer without description"]);
    let layers: Vec<_> =
        summary.layers.iter().map(|l| (l.id, l.name.as_deref(), l.hidden)).collect();
    assert_eq!(layers, [(7, Some("seven"), false), (3, None, true)]);
}

#[test]
fn children_of_a_hidden_group_are_hidden() {
    let chunks = [
        dot(1),
        transform(0, &[], 1, NO_LAYER, &[&[]]),
        group(1, &[2, 6]),
        transform(2, &[("_hidden", "1")], 3, 0, &[&[]]),
        group(3, &[4]),
        transform(4, &[("_name", "deep")], 5, 0, &[&[]]),
        shape(5, &[(0, &[])]),
        transform(6, &[], 5, 0, &[&[("_t", "0 0 9")]]),
    ];
    let file = open(&chunks);
    // The shape is shared. Only its instance below the hidden group is omitted.
    assert_eq!(voxels(&file).into_keys().collect::<Vec<_>>(), [VoxelPos::new(0, 9, -1)]);
    assert_eq!(file.summary().hidden_count, 1);
    assert!(file.summary().names.is_empty());
}

#[test]
fn shapes_without_frames_or_models_are_not_shown() {
    let file = open(&[
        dot(1),
        transform(0, &[], 1, 0, &[]),
        group(1, &[2, 3]),
        shape(2, &[(0, &[])]),
        shape(3, &[]),
    ]);
    assert_eq!(voxels(&file).len(), 1);
    let empty = open(&[model([0, 0, 0], &[])]);
    assert!(World::load(&empty).unwrap().is_empty());
}

#[test]
fn node_numbers_need_no_order() {
    let file = open(&[
        dot(3),
        shape(70, &[(0, &[])]),
        group(500, &[80]),
        transform(80, &[], 70, 0, &[&[("_t", "0 0 2")]]),
        transform(0, &[], 500, NO_LAYER, &[&[("_t", "1 0 0")]]),
    ]);
    assert_eq!(voxels(&file).into_keys().collect::<Vec<_>>(), [VoxelPos::new(1, 2, -1)]);
}

#[test]
fn without_a_scene_models_are_placed_in_a_row() {
    let file =
        open(&[model([2, 3, 4], &[[0, 0, 0, 1], [1, 2, 3, 2]]), model([1, 1, 1], &[[0, 0, 0, 3]])]);
    let expected =
        [(VoxelPos::new(0, 0, 2), 1), (VoxelPos::new(1, 3, 0), 2), (VoxelPos::new(3, 0, 0), 3)];
    assert_eq!(voxels(&file).into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn the_later_of_two_voxels_at_one_position_is_used() {
    let twice = model([2, 2, 2], &[[1, 1, 1, 1], [0, 0, 0, 4], [1, 1, 1, 2]]);
    assert_eq!(colors(&open(&[twice])), [2, 4]);
    let later = [
        dot(1),
        dot(2),
        transform(0, &[], 1, 0, &[&[]]),
        group(1, &[3, 2]),
        shape(2, &[(0, &[])]),
        shape(3, &[(1, &[])]),
    ];
    assert_eq!(colors(&open(&later)), [1]);
}

fn color_of(chunks: &[Vec<u8>], number: u8) -> [u8; 4] {
    let file = open(&[vec![dot(number)], chunks.to_vec()].concat());
    let kinds: Vec<_> = file.materials().iter().skip(1).collect();
    assert_eq!(kinds.len(), 1, "only what is used");
    kinds[0].1.color
}

#[test]
fn colours_come_from_the_palette() {
    let mine = palette(|n| [n, 255 - n, 7, if n == 9 { 100 } else { 255 }]);
    for number in [1, 2, 9, 128, 255] {
        let alpha = if number == 9 { 100 } else { 255 };
        assert_eq!(color_of(std::slice::from_ref(&mine), number), [number, 255 - number, 7, alpha]);
    }
    // Without a palette, MagicaVoxel's is used: white, then less and less blue, and black last.
    assert_eq!(color_of(&[], 1), [255, 255, 255, 255]);
    assert_eq!(color_of(&[], 2), [255, 255, 204, 255]);
    assert_eq!(color_of(&[], 255), [17, 17, 17, 255]);
    // A palette that does not store opacity has 0 there.
    assert_eq!(color_of(&[palette(|n| [n, n, n, 0])], 30), [30, 30, 30, 255]);
    // An index map sorts the palette on screen. The voxels keep their colours.
    let map: Vec<u8> = (0..=255).rev().collect();
    assert_eq!(color_of(&[mine, chunk("IMAP", &map)], 5), [5, 250, 7, 255]);
}

#[test]
fn glass_is_translucent() {
    let white = |properties: &[(&str, &str)], id: u32| {
        color_of(&[palette(|_| [255; 4]), material(id, properties)], 12)[3]
    };
    assert_eq!(white(&[("_type", "_glass"), ("_trans", "0.6")], 12), 102);
    assert_eq!(white(&[("_type", "_glass"), ("_alpha", "0.2")], 12), 51);
    assert_eq!(white(&[("_type", "_glass")], 12), 128);
    assert_eq!(white(&[("_type", "_blend"), ("_trans", "0.5")], 12), 128);
    assert_eq!(white(&[("_type", "_metal"), ("_trans", "0.6")], 12), 255);
    assert_eq!(white(&[("_type", "_glass"), ("_trans", "0.6")], 11), 255);
    // Never opaque and never invisible, for any values.
    assert_eq!(white(&[("_type", "_glass"), ("_trans", "0")], 12), 254);
    assert_eq!(white(&[("_type", "_glass"), ("_trans", "7e30")], 12), 24);
    assert_eq!(white(&[("_type", "_glass"), ("_trans", "NaN")], 12), 128);
    let file = open(&[dot(12), material(12, &[("_type", "_glass")])]);
    assert!(file.materials().any_translucent());
    let opaque = open(&[dot(11), material(12, &[("_type", "_glass")])]);
    assert!(!opaque.materials().any_translucent());
}

#[test]
fn light_is_emitted_as_materials_state() {
    let emission = |properties: &[(&str, &str)]| {
        let file = open(&[dot(12), material(12, properties)]);
        file.materials().iter().last().unwrap().1.emission
    };
    assert_eq!(emission(&[("_type", "_emit"), ("_emit", "0.6"), ("_flux", "0")]), 153);
    assert_eq!(emission(&[("_type", "_emit"), ("_emit", "0.2"), ("_flux", "1")]), 102);
    assert_eq!(emission(&[("_type", "_emit"), ("_emit", "0.5"), ("_flux", "4")]), 255);
    assert_eq!(emission(&[("_type", "_emit")]), 255);
    assert_eq!(emission(&[("_type", "_metal"), ("_emit", "1")]), 0);
    assert_eq!(emission(&[("_emit", "1")]), 0);
    // Any values.
    assert_eq!(emission(&[("_type", "_emit"), ("_emit", "NaN"), ("_flux", "inf")]), 255);
    assert_eq!(emission(&[("_type", "_emit"), ("_emit", "-7e30"), ("_flux", "-9")]), 0);
}

/// Compares each voxel of two models larger than chunks, one of the largest size, rotated and moved
/// across the centre of the world.
#[test]
fn models_larger_than_chunks_cross_the_middle() {
    let mut random = Random::new(5);
    let mut voxel = |size: [usize; 3]| {
        let [x, y, z] = size.map(|side| random.below(side) as u8);
        [x, y, z, 1 + random.below(255) as u8]
    };
    let large: Vec<_> = (0..20_000).map(|_| voxel([256; 3])).collect();
    let wide: Vec<_> = (0..5_000).map(|_| voxel([99, 40, 3])).collect();
    let file = open(&[
        model([256; 3], &large),
        model([99, 40, 3], &wide),
        transform(0, &[], 1, NO_LAYER, &[&[]]),
        group(1, &[2, 4]),
        transform(2, &[], 3, 0, &[&[("_t", "-3 5 -7")]]),
        shape(3, &[(0, &[])]),
        // Rows y, -x, z: a quarter turn about the vertical axis.
        transform(4, &[], 5, 0, &[&[("_r", "33"), ("_t", "-300 17 -60")]]),
        shape(5, &[(1, &[])]),
    ]);
    let mut expected = std::collections::BTreeMap::new();
    for v in &large {
        let [x, y, z] = [i32::from(v[0]) - 131, i32::from(v[1]) - 123, i32::from(v[2]) - 135];
        expected.insert(VoxelPos::new(x, z, -y - 1), v[3]);
    }
    for v in &wide {
        let [x, y, z] = [i32::from(v[0]) - 49, i32::from(v[1]) - 20, i32::from(v[2]) - 1];
        let [x, y, z] = [y - 300, -x - 1 + 17, z - 60];
        expected.insert(VoxelPos::new(x, z, -y - 1), v[3]);
    }
    assert_eq!(voxels(&file), expected);
    let world = World::load(&file).unwrap();
    assert_eq!(world.solid_count(), expected.len() as u64);
    assert!(world.positions().any(|p| p.x < 0 && p.y < 0 && p.z < 0));
}

#[test]
fn chunks_that_no_model_touches_are_air() {
    let file = open(&[dot(1)]);
    assert_eq!(file.chunk_positions().len(), 1);
    let far = drystone_voxel::ChunkPos::new(i32::MAX, i32::MIN, 0);
    assert!(file.chunk(far).unwrap().is_empty());
}

#[test]
fn invalid_scenes_are_reported() {
    let root = transform(0, &[], 1, NO_LAYER, &[&[]]);
    let cases: [(&str, Vec<Vec<u8>>); 8] = [
        ("scene node 0: it names node 1, which does not exist", vec![root.clone()]),
        (
            "scene node 1: it shows model 3, but the file has 1",
            vec![root.clone(), shape(1, &[(3, &[])])],
        ),
        (
            "scene node 0: it is its own ancestor, through node 1",
            vec![root.clone(), group(1, &[0])],
        ),
        (
            "scene node 1: it is its own ancestor, through node 1",
            vec![root.clone(), group(1, &[1])],
        ),
        (
            "scene node 1: two nodes have this number",
            vec![root.clone(), group(1, &[]), shape(1, &[])],
        ),
        (
            "scene node 0: its translation \"1 2 x 3\" is not three whole numbers",
            vec![transform(0, &[], 1, 0, &[&[("_t", "1 2 x 3")]]), group(1, &[])],
        ),
        (
            "scene: a model at [2147483647, 0, -1], more than 16777216 voxels from the origin",
            vec![transform(0, &[], 1, 0, &[&[("_t", "2147483647 0 0")]]), shape(1, &[(0, &[])])],
        ),
        (
            "chunk nGRP at byte 104: its content (number 1) is cut off or is not UTF-8 text",
            vec![root, chunk("nGRP", &words(&[1, 0, 99]))],
        ),
    ];
    for (expected, nodes) in cases {
        let message = error(&[vec![dot(1)], nodes].concat());
        assert!(message.starts_with(&format!("test.vox: {expected};")), "{message}");
    }
}
