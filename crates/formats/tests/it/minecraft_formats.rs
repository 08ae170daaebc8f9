//! Columns as written by versions since 1.15, with all data around the blocks. They are made by an
//! independent writer with simple packing.

use drystone_formats::{MinecraftWorld, Source};
use drystone_voxel::VoxelPos;
use fastnbt::{IntArray, LongArray, Value, nbt};

use crate::minecraft_bytes::region;
use crate::world::{World, without_state};

/// Packing of a section's numbers, and the location of the sections.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    /// Version 1.15.2, with numbers of `bits` bits, which may be more than necessary.
    Spanning { bits: usize },
    /// Version 1.16.5.
    Apart,
    /// Snapshot 21w39a of 1.18: sections within `Level`, in the format that is used without `Level`
    /// since 21w43a.
    Between,
    /// Versions 1.18.2 and 1.21.5.
    Flat { data_version: i32 },
}

/// States of a palette. Several belong to the same block.
const STATES: [(&str, &str); 21] = [
    ("air", ""),
    ("deepslate", "x"),
    ("deepslate", "y"),
    ("deepslate", "z"),
    ("stone", ""),
    ("oak_log", "x"),
    ("oak_log", "y"),
    ("cave_air", ""),
    ("water", ""),
    ("tuff", ""),
    ("pale_oak_log", "y"),
    ("creaking_heart", "y"),
    ("firefly_bush", ""),
    ("sculk", ""),
    ("mud", ""),
    ("cherry_log", "z"),
    ("trial_spawner", ""),
    ("dripstone_block", ""),
    ("oak_log", "z"),
    ("seagrass", ""),
    ("kelp_plant", ""),
];

/// Returns the index of the state at a position: solid rock far below, one state in every fourth
/// section.
fn state([x, y, z]: [i32; 3]) -> usize {
    let section = y.div_euclid(16);
    match section.rem_euclid(4) {
        0 => 1,
        // Two states in a section that still needs four bits for its palette.
        1 => (x + y + z).rem_euclid(2) as usize * 4,
        _ => ((x * 31 + y * 17 + z * 7 + x * y * z) as usize) % STATES.len(),
    }
}

/// Returns the states of a section in order of occurrence, and the indices of its voxels.
fn section_states(y: i32) -> (Vec<usize>, Vec<u64>) {
    let mut palette = Vec::new();
    let numbers = (0..4096).map(|at| {
        let found = state([at % 16, 16 * y + at / 256, at / 16 % 16]);
        let known = palette.iter().position(|it| *it == found);
        known.unwrap_or_else(|| {
            palette.push(found);
            palette.len() - 1
        }) as u64
    });
    let numbers = numbers.collect();
    (palette, numbers)
}

/// Packs word by word, voxel by voxel, bit by bit.
fn packed(numbers: &[u64], bits: usize, spanning: bool) -> LongArray {
    let per_word = 64 / bits;
    let word_count = if spanning { bits * 64 } else { numbers.len().div_ceil(per_word) };
    let mut words = vec![0_i64; word_count];
    for (at, number) in numbers.iter().enumerate() {
        for bit in 0..bits {
            let to = if spanning {
                at * bits + bit
            } else {
                at / per_word * 64 + at % per_word * bits + bit
            };
            words[to / 64] |= ((number >> bit & 1) << (to % 64)) as i64;
        }
    }
    LongArray::new(words)
}

fn palette_entry(state: usize) -> Value {
    match STATES[state] {
        (name, "") => nbt!({ "Name": format!("minecraft:{name}") }),
        (name, axis) => {
            nbt!({ "Name": format!("minecraft:{name}"), "Properties": { "axis": axis } })
        }
    }
}

fn section(version: Version, y: i32) -> Value {
    let (palette, numbers) = section_states(y);
    let fewest = (4..).find(|bits| palette.len() <= 1 << bits).unwrap();
    let states: Vec<Value> = palette.iter().map(|state| palette_entry(*state)).collect();
    let light = fastnbt::ByteArray::new(vec![-1; 2048]);
    match version {
        Version::Spanning { bits } => {
            assert!(bits >= fewest);
            nbt!({ "Y": y as i8, "Palette": states, "BlockStates": packed(&numbers, bits, true), "SkyLight": light })
        }
        Version::Apart => {
            nbt!({ "SkyLight": light, "Palette": states, "BlockStates": packed(&numbers, fewest, false), "Y": y as i8 })
        }
        Version::Between | Version::Flat { .. } => {
            // Biomes have a palette and data for cells of 4³, with other names.
            let biomes = nbt!({ "palette": ["minecraft:plains", "minecraft:river"], "data": LongArray::new(vec![0x5555]) });
            let blocks = match palette.len() {
                1 => nbt!({ "palette": states }),
                _ => nbt!({ "palette": states, "data": packed(&numbers, fewest, false) }),
            };
            nbt!({ "biomes": biomes, "block_states": blocks, "SkyLight": light, "Y": y as i8 })
        }
    }
}

/// Returns the range of sections. Beyond it, only light is stored.
fn heights(version: Version) -> std::ops::Range<i32> {
    match version {
        Version::Spanning { .. } | Version::Apart => 0..16,
        Version::Between | Version::Flat { .. } => -4..20,
    }
}

fn column(version: Version) -> Vec<u8> {
    let heights = heights(version);
    let only_light =
        |y: i32| nbt!({ "Y": y as i8, "BlockLight": fastnbt::ByteArray::new(vec![0; 2048]) });
    let mut sections = vec![only_light(heights.start - 1)];
    sections.extend(heights.clone().map(|y| section(version, y)));
    sections.push(only_light(heights.end));
    let maps = nbt!({ "WORLD_SURFACE": LongArray::new(vec![0; 37]) });
    let post: Vec<Vec<i16>> = vec![vec![]; heights.len()];
    let entities = nbt!([{ "id": "minecraft:chest", "x": 3, "y": 4, "z": 5, "Items": [{ "Slot": 0_i8, "palette": [1, 2] }] }]);
    let root = match version {
        Version::Flat { data_version } => nbt!({
            "DataVersion": data_version, "xPos": 2, "yPos": -4, "zPos": 3, "Status": "minecraft:full",
            "block_entities": entities, "Heightmaps": maps, "PostProcessing": post, "isLightOn": 1_i8,
            "structures": { "References": {}, "starts": {} }, "sections": sections,
        }),
        _ => {
            let data_version = match version {
                Version::Spanning { .. } => 2230,
                Version::Apart => 2586,
                _ => 2836,
            };
            nbt!({
                "Level": {
                    "Biomes": IntArray::new(vec![1; 1024]), "Heightmaps": maps, "PostProcessing": post,
                    "Sections": sections, "Status": "full", "TileEntities": entities, "xPos": 2, "zPos": 3,
                },
                "DataVersion": data_version,
            })
        }
    };
    fastnbt::to_bytes(&root).unwrap()
}

/// Compares every voxel of a column of the version's full height.
#[test]
fn columns_of_each_version_are_read() {
    let spanning = [5, 6, 9].map(|bits| Version::Spanning { bits });
    let flat = [2975, 4325].map(|data_version| Version::Flat { data_version });
    for version in spanning.into_iter().chain([Version::Apart, Version::Between]).chain(flat) {
        let source =
            MinecraftWorld::parse(&region(&[([2, 3], 2, &column(version))]), "a.mca").unwrap();
        let world = World::load(&source).unwrap();
        assert_eq!(source.faults(), Vec::<String>::new(), "{version:?}");
        let heights = heights(version);
        let mut solid_count = 0;
        for y in 16 * heights.start..16 * heights.end {
            for [x, z] in (0..256).map(|at| [at % 16, at / 16]) {
                let material = world.get(VoxelPos::new(32 + x, y, 48 + z));
                let found = without_state(&world.materials().get(material).unwrap().name);
                let (expected, axis) = STATES[state([x, y, z])];
                // Blocks that lie on their side are materials of their own.
                let along =
                    if ["x", "z"].contains(&axis) { format!(" along {axis}") } else { "".into() };
                let is_wet = ["seagrass", "kelp_plant"].contains(&expected);
                let wet = if is_wet { " in water" } else { "" };
                let expected = format!("{expected}{along}{wet}");
                match expected.as_str() {
                    "air" | "cave_air" => assert!(material.is_air(), "{version:?} {x} {y} {z}"),
                    _ => assert_eq!(*found, expected, "{version:?} {x} {y} {z}"),
                }
                solid_count += u64::from(!material.is_air());
            }
        }
        assert_eq!(world.solid_count(), solid_count, "{version:?}");
    }
}

/// Each state of a block that is not a cube has its own shape. A state that the block does not have is a
/// cube, and is reported.
#[test]
fn states_of_blocks_have_their_shape_and_unknown_ones_are_reported() {
    let states = [
        ("minecraft:oak_slab", "type", "bottom"),
        ("minecraft:oak_slab", "type", "top"),
        ("minecraft:oak_slab", "type", "double"),
        ("minecraft:snow", "layers", "5"),
        ("minecraft:snow", "layers", "9"),
        ("minecraft:water", "level", "3"),
        ("minecraft:stone", "layers", "9"),
        ("minecraft:oak_slab", "waterlogged", "true"),
        ("minecraft:oak_slab", "waterlogged", "false"),
        ("minecraft:oak_slab", "waterlogged", "TRUE"),
        ("minecraft:stone", "waterlogged", "true"),
        ("minecraft:kelp", "age", "7"),
    ];
    let palette: Vec<Value> = states
        .iter()
        .map(|(name, property, value)| nbt!({ "Name": *name, "Properties": { *property: *value } }))
        .collect();
    let numbers: Vec<u64> = (0..4096).map(|at| at % states.len() as u64).collect();
    let blocks = nbt!({ "palette": palette, "data": packed(&numbers, 4, false) });
    let sections = [nbt!({ "block_states": blocks, "Y": 0_i8 })];
    let root = nbt!({ "DataVersion": 4189, "sections": sections });
    let bytes = region(&[([2, 3], 3, &fastnbt::to_bytes(&root).unwrap())]);
    let source = MinecraftWorld::parse(&bytes, "a.mca").unwrap();
    let world = World::load(&source).unwrap();
    let kind = |x: i32| {
        let material = world.get(VoxelPos::new(32 + x, 0, 48));
        world.materials().get(material).unwrap()
    };
    let boxes = |x: i32| -> Vec<[[u8; 3]; 2]> {
        kind(x)
            .shape
            .iter()
            .flat_map(drystone_voxel::Shape::boxes)
            .map(|it| [it.min, it.max])
            .collect()
    };
    assert_eq!(boxes(0), [[[0; 3], [16, 8, 16]]]);
    assert_eq!(boxes(1), [[[0, 8, 0], [16; 3]]]);
    assert_eq!(boxes(3), [[[0; 3], [16, 10, 16]]]);
    assert_eq!(boxes(5), [[[0; 3], [16, 9, 16]]]);
    assert_eq!((kind(4).name.as_str(), boxes(4)), ("snow", vec![[[0; 3], [16, 2, 16]]]));
    for (x, name) in [(2, "oak_slab type=double"), (6, "stone")] {
        assert_eq!((kind(x).name.as_str(), &kind(x).shape), (name, &None));
    }
    let fluid = |x: i32| {
        let material = world.get(VoxelPos::new(32 + x, 0, 48));
        world.materials().fluid(material).and_then(|it| Some(&world.materials().get(it)?.name))
    };
    assert_eq!(kind(7).name, "oak_slab in water");
    assert_eq!([7, 11].map(|x| fluid(x).unwrap().as_str()), ["water"; 2]);
    assert_eq!([0, 8, 9, 10].map(fluid), [None; 4]);
    let faults = source.faults();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].contains("1 blocks of palettes in unknown states"), "{faults:?}");
}
