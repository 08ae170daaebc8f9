//! Minecraft worlds of every format, compared voxel by voxel.

use std::path::PathBuf;

use drystone_formats::{Format as FileFormat, Input, MinecraftWorld, Source, SourceError};
use drystone_voxel::{ChunkPos, VoxelPos};

use crate::minecraft_bytes::{Format, column, numbered, pack, region, section};
use crate::world::{World, without_state};

/// Returns the kind of voxel `i` of a section, below `count`.
fn mixed(i: usize, count: usize) -> usize {
    i.wrapping_mul(7919) / 13 % count
}

const NAMES: [&str; 40] = [
    "minecraft:air",
    "minecraft:stone",
    "minecraft:dirt",
    "minecraft:water",
    "minecraft:sand",
    "minecraft:gravel",
    "minecraft:oak_log",
    "minecraft:oak_leaves",
    "minecraft:granite",
    "minecraft:diorite",
    "minecraft:andesite",
    "minecraft:glass",
    "minecraft:clay",
    "minecraft:ice",
    "minecraft:tuff",
    "minecraft:calcite",
    "minecraft:bedrock",
    "minecraft:lava",
    "minecraft:snow",
    "minecraft:cactus",
    "minecraft:melon",
    "minecraft:pumpkin",
    "minecraft:mycelium",
    "minecraft:podzol",
    "minecraft:bricks",
    "minecraft:tnt",
    "minecraft:obsidian",
    "minecraft:torch",
    "minecraft:chest",
    "minecraft:furnace",
    "minecraft:ladder",
    "minecraft:rail",
    "minecraft:lever",
    "minecraft:cake",
    "minecraft:vine",
    "minecraft:beacon",
    "minecraft:hopper",
    "minecraft:target",
    "minecraft:barrel",
    "minecraft:bell",
];

fn load(bytes: &[u8]) -> World {
    let source = MinecraftWorld::parse(bytes, "test.mca").unwrap();
    let world = World::load(&source).unwrap();
    assert_eq!(source.faults(), Vec::<String>::new());
    world
}

/// Returns the name of the block at a position, without the state of shapes, or "air".
fn name(world: &World, [x, y, z]: [i32; 3]) -> String {
    let material = world.get(VoxelPos::new(x, y, z));
    without_state(&world.materials().get(material).unwrap().name)
}

/// Every palette size, in every format that has palettes.
#[test]
fn palettes_of_every_format_are_read_voxel_by_voxel() {
    for format in [Format::Spanning, Format::Apart, Format::Flat] {
        for count in [1, 2, 15, 16, 17, 32, 33, 40] {
            // One section far below and one far above, as in tall worlds.
            let heights: [i8; 3] = [-128, 5, 127];
            let sections = heights.map(|y| {
                section(format, y, &NAMES[..count], |i| mixed(i + usize::from(y as u8), count))
            });
            let world = load(&region(&[([3, 30], 2, &column(format, sections.into()))]));
            let mut solid_count = 0;
            for (y, i) in heights.into_iter().flat_map(|y| (0..4096).map(move |i| (y, i))) {
                let expected = mixed(i + usize::from(y as u8), count);
                let [dx, dz, dy] = [i % 16, i / 16 % 16, i / 256].map(|side| side as i32);
                let at = [3 * 16 + dx, i32::from(y) * 16 + dy, 30 * 16 + dz];
                assert_eq!(
                    format!("minecraft:{}", name(&world, at)),
                    NAMES[expected],
                    "{format:?} {count} {at:?}"
                );
                solid_count += u64::from(expected != 0);
            }
            // Everything else is air.
            assert_eq!(world.solid_count(), solid_count, "{format:?} {count}");
        }
    }
}

#[test]
fn numbers_and_variants_are_read_voxel_by_voxel() {
    let block = |i: usize| ([0, 1, 35, 1000][i % 4], (i / 4 % 16) as u8);
    let world = load(&region(&[([0, 0], 1, &column(Format::Numbers, vec![numbered(2, block)]))]));
    let dyes = ["white", "orange", "magenta", "light_blue"];
    let stones = ["stone", "granite", "polished_granite", "diorite"];
    for i in (0..4096).filter(|i| i / 4 % 16 < 4) {
        let [x, z, y] = [i % 16, i / 16 % 16, i / 256].map(|side| side as i32);
        let found = name(&world, [x, 32 + y, z]);
        match i % 4 {
            0 => assert_eq!(found, "air"),
            1 => assert_eq!(found, stones[i / 4 % 16]),
            2 => assert_eq!(found, format!("{}_wool", dyes[i / 4 % 16])),
            _ => assert_eq!(found, MinecraftWorld::UNKNOWN),
        }
    }
}

/// Adjacent columns with different compression are in the same chunk.
#[test]
fn every_compression_gives_the_same_columns() {
    let data = column(Format::Flat, vec![section(Format::Flat, 0, &NAMES[..20], |i| mixed(i, 20))]);
    let columns = [([0, 0], 1), ([1, 0], 2), ([0, 1], 3), ([1, 1], 4)];
    let columns = columns.map(|(at, method)| (at, method, data.as_slice()));
    let world = load(&region(&columns));
    assert_eq!(world.chunk_count(), 1);
    let solid_count = (0..4096).filter(|i| mixed(*i, 20) != 0).count() as u64;
    assert_eq!(world.solid_count(), 4 * solid_count);
    for at in (0..16).flat_map(|x| (0..16).map(move |z| [x, x, z])) {
        let [x, y, z] = at;
        let [first, others @ ..] = [[x, y, z], [x + 16, y, z], [x, y, z + 16], [x + 16, y, z + 16]]
            .map(|at| name(&world, at));
        assert!(others.iter().all(|other| *other == first), "{at:?}");
    }
}

fn folder(test: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("drystone-minecraft-{test}-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("region")).unwrap();
    folder
}

/// A save with regions on both sides of the origin, and one column in a separate file.
#[test]
fn a_save_folder_is_one_world() {
    let folder = folder("save");
    let file =
        |name: &str, bytes: &[u8]| std::fs::write(folder.join("region").join(name), bytes).unwrap();
    let of = |block| column(Format::Flat, vec![section(Format::Flat, 0, &[block], |_| 0)]);
    file("r.0.0.mca", &region(&[([0, 0], 2, &of("minecraft:stone"))]));
    file("r.-1.-2.mca", &region(&[([31, 31], 0x82, &[])]));
    file("c.-1.-33.mcc", &pack(2, &of("minecraft:dirt")));
    // Empty files left by the game, and files that are no regions.
    file("r.5.5.mca", b"");
    file("r.x.0.mca", b"no region");
    for path in [folder.clone(), folder.join("region")] {
        assert_eq!(FileFormat::of(Input::from(&path)), Some(FileFormat::Minecraft));
        let source = MinecraftWorld::open(&path).unwrap();
        let world = World::load(&source).unwrap();
        assert_eq!(source.faults(), Vec::<String>::new());
        assert_eq!(world.solid_count(), 2 * 4096);
        assert_eq!(name(&world, [15, 15, 15]), "stone");
        assert_eq!(name(&world, [-1, 0, -513]), "dirt");
        assert_eq!(name(&world, [-16, 0, -528]), "dirt");
    }
    // A single file is at the position in its name.
    let source = MinecraftWorld::open(&folder.join("region/r.-1.-2.mca")).unwrap();
    let world = World::load(&source).unwrap();
    assert_eq!((world.solid_count(), name(&world, [-1, 15, -513])), (4096, "dirt".into()));
    // Without its separate file, the column is reported.
    std::fs::remove_file(folder.join("region/c.-1.-33.mcc")).unwrap();
    let source = MinecraftWorld::open(&folder).unwrap();
    assert_eq!(World::load(&source).unwrap().solid_count(), 4096);
    let faults = source.faults();
    assert!(
        faults.len() == 1 && faults[0].contains("column -1, -33: c.-1.-33.mcc: cannot be read"),
        "{faults:?}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A region that the system cannot read is an error, not air, and is read once that has passed.
#[test]
fn an_unreadable_region_is_an_error() {
    let folder = folder("unreadable");
    let [here, away] = ["region/r.0.0.mca", "away"].map(|name| folder.join(name));
    let stone = column(Format::Flat, vec![section(Format::Flat, 0, &["minecraft:stone"], |_| 0)]);
    std::fs::write(&here, region(&[([0, 0], 2, &stone), ([31, 31], 2, &stone)])).unwrap();
    let source = MinecraftWorld::open(&folder).unwrap();
    let tiles = source.tiles().unwrap();
    let at = ChunkPos::new(0, 0, 0);
    let is_unreadable = |error: &SourceError| matches!(error, SourceError::Unreadable { path, .. } if path.ends_with("r.0.0.mca"));
    std::fs::rename(&here, &away).unwrap();
    assert!(is_unreadable(&source.chunk(at).unwrap_err()));
    assert!(is_unreadable(&tiles.chunk_positions_in([0, 0]).unwrap_err()));
    assert!(source.chunk_positions().is_empty());
    assert_eq!(source.faults().len(), 1, "{:?}", source.faults());
    std::fs::rename(&away, &here).unwrap();
    assert!(!source.chunk(at).unwrap().is_empty());
    assert_eq!(tiles.chunk_positions_in([0, 0]).unwrap(), [at, ChunkPos::new(15, 0, 15)]);
    assert_eq!(tiles.chunk_positions_in([1, 0]).unwrap(), []);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Chunks are equal in any order, and after they were evicted and read again.
#[test]
fn order_does_not_matter() {
    let columns: Vec<_> = (0..64)
        .map(|i| {
            let data = column(
                Format::Flat,
                vec![section(Format::Flat, 3, &NAMES, |at| mixed(at + i, 40))],
            );
            ([i % 8, i / 8], data)
        })
        .collect();
    let columns: Vec<_> = columns.iter().map(|(at, data)| (*at, 2, data.as_slice())).collect();
    let source = MinecraftWorld::parse(&region(&columns), "order.mca").unwrap();
    let positions = source.chunk_positions();
    assert_eq!(positions.len(), 16);
    assert!(positions.is_sorted());
    let voxels = |at: usize| {
        let chunk = source.chunk(positions[at]).unwrap();
        chunk.iter_solid().collect::<Vec<_>>()
    };
    let forwards: Vec<_> = (0..16).map(voxels).collect();
    let backwards: Vec<_> = (0..16).rev().map(voxels).collect();
    assert!(forwards.iter().eq(backwards.iter().rev()));
    assert!(forwards.iter().all(|voxels| !voxels.is_empty()));
}
