//! A region written by the game itself, found through `DRYSTONE_DATA`.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use drystone_formats::{MinecraftWorld, Source};
use drystone_testing::Random;
use fastnbt::Value;

use crate::data;
use crate::world::{World, without_state};

type Counts = BTreeMap<String, u64>;

/// Counts voxels by block with an independent reader and simple unpacking.
fn independent_counts(file: &[u8]) -> Counts {
    let mut counts = Counts::new();
    for entry in file[..4096].chunks(4) {
        let start = usize::from_be_bytes([0, 0, 0, 0, 0, entry[0], entry[1], entry[2]]) * 4096;
        if start == 0 {
            continue;
        }
        assert_eq!(file[start + 4], 2);
        let mut data = Vec::new();
        flate2::read::ZlibDecoder::new(&file[start + 5..]).read_to_end(&mut data).unwrap();
        let Value::Compound(root) = fastnbt::from_bytes(&data).unwrap() else { panic!() };
        let version = root["DataVersion"].as_i64().unwrap();
        // Versions 1.13 to 1.15, in which numbers span words.
        assert!((1519..2529).contains(&version), "{version}");
        let Value::Compound(level) = &root["Level"] else { panic!() };
        let Value::List(sections) = &level["Sections"] else { panic!() };
        let Value::IntArray(biomes) = &level["Biomes"] else { panic!() };
        sections.iter().for_each(|section| count_section(section, biomes, &mut counts));
    }
    counts
}

fn count_section(section: &Value, biomes: &[i32], counts: &mut Counts) {
    let Value::Compound(section) = section else { panic!() };
    let y = section["Y"].as_i64().unwrap();
    let Some(Value::List(palette)) = section.get("Palette") else { return };
    let Some(Value::LongArray(words)) = section.get("BlockStates") else { panic!() };
    let bits = words.len() * 64 / 4096;
    let bit = |at: usize| (words[at / 64] >> (at % 64) & 1) as usize;
    for voxel in 0..4096 {
        let number = (0..bits).map(|i| bit(voxel * bits + i) << i).sum::<usize>();
        let Value::Compound(block) = &palette[number] else { panic!() };
        let name = block["Name"].as_str().unwrap().strip_prefix("minecraft:").unwrap();
        let [cell_x, cell_z, cell_y] = [voxel % 16 / 4, voxel / 16 % 16 / 4, voxel / 1024];
        let tint = || tint(name, biomes[cell_x + 4 * cell_z + 16 * (4 * y as usize + cell_y)]);
        let look = if is_in_water(name, block) {
            " in water"
        } else {
            variant(block).unwrap_or_else(tint)
        };
        *counts.entry(format!("{name}{look}")).or_default() += 1;
    }
}

fn is_in_water(name: &str, block: &HashMap<String, Value>) -> bool {
    let Some(Value::Compound(properties)) = block.get("Properties") else {
        return matches!(name, "seagrass" | "kelp_plant");
    };
    let is_logged = properties.get("waterlogged").and_then(Value::as_str) == Some("true");
    is_logged || matches!(name, "seagrass" | "tall_seagrass" | "kelp" | "kelp_plant")
}

/// Returns the end of the name of a block's material by its properties.
fn variant(block: &HashMap<String, Value>) -> Option<&'static str> {
    let Some(Value::Compound(properties)) = block.get("Properties") else { return None };
    let property = |name: &str| properties.get(name).and_then(Value::as_str);
    match (property("axis"), property("snowy")) {
        (Some("x"), _) => Some(" along x"),
        (Some("z"), _) => Some(" along z"),
        (_, Some("true")) => Some(" with snow"),
        _ => None,
    }
}

/// Returns the end of the name of a block's material by the number of its biome, for the biomes of
/// the file: rivers (7), frozen rivers (11), and snowy land (12, 13, 30).
fn tint(block: &str, biome: i32) -> &'static str {
    assert!([7, 11, 12, 13, 30].contains(&biome), "{biome}");
    match (block, biome) {
        (_, 7) => "",
        ("water" | "bubble_column", 11) => " in frozen_ocean",
        ("water" | "bubble_column", _) => " in cold_ocean",
        ("grass_block" | "grass" | "tall_grass" | "fern" | "large_fern" | "sugar_cane", _)
        | ("oak_leaves" | "vine", _) => " in snowy_plains",
        _ => "",
    }
}

fn our_counts(path: &Path) -> Counts {
    let source = MinecraftWorld::open(path).unwrap();
    let world = World::load(&source).unwrap();
    assert_eq!(source.faults(), Vec::<String>::new());
    let mut counts = Counts::new();
    for (_, material) in world.voxels() {
        let name = without_state(&world.materials().get(material).unwrap().name);
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn voxel_counts_by_block_equal_an_independent_reading() {
    let Some(folder) = data("voxel_counts_by_block_equal_an_independent_reading") else {
        return;
    };
    let path = folder.join("r.0.0.mca");
    let mut theirs = independent_counts(&std::fs::read(&path).unwrap());
    theirs.retain(|name, _| !matches!(name.as_str(), "air" | "cave_air" | "void_air"));
    let ours = our_counts(&path);
    assert_eq!(ours, theirs);
    assert!(!ours.contains_key(MinecraftWorld::UNKNOWN) && ours.len() > 20);
}

/// In the real file with some changed bytes, each column is present or reported.
#[test]
fn damage_to_a_real_file_is_reported() {
    let Some(folder) = data("damage_to_a_real_file_is_reported") else { return };
    let file = std::fs::read(folder.join("r.0.0.mca")).unwrap();
    let columns = file[..4096].chunks(4).filter(|entry| entry != &[0; 4]).count();
    let mut random = Random::new(3);
    for _ in 0..10 {
        let mut damaged = file.clone();
        for _ in 0..20 {
            let at = 8192 + random.below(file.len() - 8192);
            damaged[at] = damaged[at].wrapping_add(1);
        }
        let source = MinecraftWorld::parse(&damaged, "damaged.mca").unwrap();
        let positions = source.chunk_positions();
        let faults = source.faults();
        assert!((1..=20).contains(&faults.len()) && faults.len() < columns, "{faults:?}");
        assert!(faults.iter().all(|it| it.starts_with("damaged.mca: column ")), "{faults:?}");
        assert!(positions.len() > 60, "{}", positions.len());
    }
}
