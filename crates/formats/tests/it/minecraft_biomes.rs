//! Grass, leaves and water have the colours of their biome, in every format of the game.

use drystone_formats::{MinecraftWorld, Source};
use drystone_voxel::VoxelPos;

use crate::minecraft_bytes::{
    Format, Value, apart, byte, bytes, column, compound, ints, list, longs, numbered, region,
    section, text, tree,
};
use crate::world::World;

/// Biomes: their name, their number until 1.17, and the end of the names of materials there.
const BIOMES: [(&str, i32, [&str; 3]); 6] = [
    ("plains", 1, ["", "", ""]),
    ("swamp", 6, [" in swamp"; 3]),
    ("jungle", 21, [" in jungle", " in jungle", ""]),
    ("desert", 2, [" in savanna", " in savanna", ""]),
    ("warm_ocean", 44, ["", "", " in warm_ocean"]),
    ("deep_frozen_ocean", 50, [" in snowy_plains", " in snowy_plains", " in frozen_ocean"]),
];
/// Blocks of each voxel in turn, with the index of their colour in a biome. Stone and birch leaves
/// have none.
const BLOCKS: [(&str, Option<usize>); 6] = [
    ("minecraft:grass_block", Some(0)),
    ("minecraft:oak_leaves", Some(1)),
    ("minecraft:water", Some(2)),
    ("minecraft:stone", None),
    ("minecraft:birch_leaves", None),
    ("minecraft:sugar_cane", Some(0)),
];
/// Block numbers of the first four.
const NUMBERS: [u16; 4] = [2, 18, 9, 1];

/// Returns some biome for a cell or column.
fn mixed(at: usize) -> usize {
    at.wrapping_mul(40_503) / 7 % BIOMES.len()
}

/// Heights of the sections of a column.
const HEIGHTS: [i8; 3] = [-2, 3, 15];

/// Creates a section of the blocks, with entries of its own.
fn blocks(format: Format, y: i8, own: Vec<(&str, Value)>) -> Value {
    let names = BLOCKS.map(|(name, _)| name);
    let mut made = match format {
        Format::Numbers => numbered(y, |i| (NUMBERS[i % 4], 0)),
        _ => section(format, y, &names, |i| i % 6),
    };
    // The section's entries, after the biomes and without the end of the biomes' compound.
    let mut entries = compound(own).1;
    entries.pop();
    made.1.splice(0..0, entries);
    made
}

/// Creates a column with biomes for all sections.
fn with_column_biomes(format: Format, biomes: Value) -> Vec<u8> {
    let sections = list(HEIGHTS.map(|y| blocks(format, y, Vec::new())).into());
    tree(vec![("Level", compound(vec![("Biomes", biomes), ("Sections", sections)]))])
}

/// Compares each voxel with the biome that `biome` returns for its coordinates.
fn expect_tints(data: &[u8], period: usize, biome: impl Fn([i32; 3]) -> usize) {
    let source = MinecraftWorld::parse(&region(&[([1, 2], 2, data)]), "biomes.mca").unwrap();
    let world = World::load(&source).unwrap();
    assert_eq!(source.faults(), Vec::<String>::new());
    for (section_y, i) in HEIGHTS.into_iter().flat_map(|y| (0..4096).map(move |i| (y, i))) {
        let [x, z, y] = [i % 16, i / 16 % 16, i / 256].map(|side| side as i32);
        let y = 16 * i32::from(section_y) + y;
        let material = world.get(VoxelPos::new(16 + x, y, 32 + z));
        let (block, color) = BLOCKS[i % period];
        let end = color.map_or("", |color| BIOMES[biome([x, y, z])].2[color]);
        let expected = format!("{}{end}", block.strip_prefix("minecraft:").unwrap());
        let kind = world.materials().get(material).unwrap();
        assert_eq!(kind.name, expected, "{x} {y} {z}");
    }
}

#[test]
fn biomes_by_column_are_read_voxel_by_voxel() {
    let numbers: Vec<i32> = (0..256).map(|at| BIOMES[mixed(at)].1).collect();
    let biome = |[x, _, z]: [i32; 3]| mixed((x + 16 * z) as usize);
    let small: Vec<u8> = numbers.iter().map(|number| *number as u8).collect();
    expect_tints(&with_column_biomes(Format::Numbers, bytes(&small)), 4, biome);
    expect_tints(&with_column_biomes(Format::Numbers, ints(&numbers)), 4, biome);
    expect_tints(&with_column_biomes(Format::Spanning, ints(&numbers)), 6, biome);
    // Before they are determined, biomes are those of plains.
    expect_tints(&with_column_biomes(Format::Numbers, bytes(&[255; 256])), 4, |_| 0);
    for unset in [ints(&[]), bytes(&[])] {
        expect_tints(&with_column_biomes(Format::Spanning, unset), 6, |_| 0);
    }
}

/// Sections above and below the biomes have those of the nearest cells.
#[test]
fn biomes_by_cell_of_a_column_are_read_voxel_by_voxel() {
    for (cells, lowest) in [(16, 0), (24, -4)].map(|(sections, y)| (sections * 64, 4 * y)) {
        let numbers: Vec<i32> = (0..cells).map(|at| BIOMES[mixed(at)].1).collect();
        for format in [Format::Spanning, Format::Apart] {
            expect_tints(&with_column_biomes(format, ints(&numbers)), 6, |[x, y, z]| {
                let cell_y = (y.div_euclid(4) - lowest).clamp(0, cells as i32 / 16 - 1);
                mixed((x / 4 + 4 * (z / 4) + 16 * cell_y) as usize)
            });
        }
    }
}

/// The biomes of a section, as the game writes them.
fn palette(count: usize, cells: &[u64]) -> Value {
    let bits = (0..).find(|&bits| count <= 1 << bits).unwrap();
    let names = (0..count).map(|at| text(&format!("minecraft:{}", BIOMES[at % 6].0)));
    let names = ("palette", list(names.collect()));
    let data = (bits > 0).then(|| ("data", longs(&apart(cells, bits))));
    compound(data.into_iter().chain([names]).collect())
}

#[test]
fn biomes_of_sections_are_read_voxel_by_voxel() {
    for count in [1, 2, 3, 4, 5, 8, 9, 33, 64] {
        let cell = |at: usize, y: i32| (at * 5 + y.unsigned_abs() as usize) % count;
        let of_section = |y: i8| {
            let cells: Vec<u64> = (0..64).map(|at| cell(at, y.into()) as u64).collect();
            blocks(Format::Flat, y, vec![("biomes", palette(count, &cells))])
        };
        let flat = column(Format::Flat, HEIGHTS.map(of_section).into());
        // Snapshots of 1.18 have an array for the column too, which is not used.
        let level = compound(vec![
            ("Sections", list(HEIGHTS.map(of_section).into())),
            ("Biomes", ints(&[6; 1024])),
        ]);
        for data in [flat, tree(vec![("Level", level)])] {
            expect_tints(&data, 6, |[x, y, z]| {
                let [cell_x, cell_y, cell_z] = [x / 4, y.rem_euclid(16) / 4, z / 4];
                cell((cell_x + 4 * cell_z + 16 * cell_y) as usize, y.div_euclid(16)) % 6
            });
        }
    }
}

/// Reads a region of two equal columns. Expects that all blocks have the colours of plains, and
/// returns the messages.
fn messages(data: &[u8]) -> Vec<String> {
    let columns = [([0, 0], 2, data), ([9, 9], 2, data)];
    let source = MinecraftWorld::parse(&region(&columns), "biomes.mca").unwrap();
    let world = World::load(&source).unwrap();
    assert_eq!(world.solid_count(), 2 * 3 * 4096);
    let names = |material| world.materials().get(material).unwrap().name.clone();
    assert!(world.voxels().all(|(_, material)| !names(material).contains(' ')));
    source.faults()
}

/// The blocks are shown in the colours of plains, and the columns are counted.
#[test]
fn damaged_biomes_are_counted_and_the_blocks_are_shown() {
    let of_section = |own: &dyn Fn() -> Value| {
        column(
            Format::Flat,
            HEIGHTS.map(|y| blocks(Format::Flat, y, vec![("biomes", own())])).into(),
        )
    };
    let of_names = |names: &'static [&'static str], data: &'static [u64]| {
        of_section(&|| {
            let names = list(names.iter().copied().map(text).collect());
            compound(vec![("palette", names), ("data", longs(data))])
        })
    };
    let of_column = |biomes| with_column_biomes(Format::Spanning, biomes);
    let long = ["x"; 300].concat();
    for (data, problem) in [
        (of_column(ints(&[1; 255])), "255 biomes, not 256 or 1024"),
        (of_column(bytes(&[1; 257])), "257 biomes, not 256 or 1024"),
        (of_column(ints(&[1; 64])), "64 biomes, not 256 or 1024"),
        (of_column(text("plains")), "biomes of tag 8"),
        (of_column(ints(&[77; 256])), "the unknown biome 77"),
        (of_column(ints(&[-1; 1024])), "the unknown biome -1"),
        (
            of_names(&["swamp", "jungle"], &[]),
            "a section with the wrong number of words for its biomes",
        ),
        (
            of_names(&["swamp", "jungle"], &[0, 0]),
            "a section with the wrong number of words for its biomes",
        ),
        (
            of_names(&["swamp", "jungle", "desert"], &[0, u64::MAX]),
            "a section with an index beyond its palette of biomes",
        ),
        (of_names(&[], &[]), "a section with an empty palette of biomes"),
        (of_names(&["swamp"; 65], &[0; 8]), "a section with more than 64 biomes"),
        (of_names(&["other:swamp"], &[]), "the unknown biome \"other:swamp\""),
        (
            of_section(&|| compound(vec![("palette", list(vec![byte(1)]))])),
            "a biome without a name",
        ),
        (
            of_section(&|| compound(vec![("palette", list(vec![text(&format!("a\n{long}"))]))])),
            "the unknown biome \"a\\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"",
        ),
    ] {
        let expected =
            format!("biomes.mca: 2 columns with {problem}, shown in the colours of plains");
        assert_eq!(messages(&data), [expected]);
    }
    // One message for each of 16 unknown biomes of a column.
    let numbers: Vec<i32> = (0..256).map(|number| 1000 + number).collect();
    assert_eq!(messages(&of_column(ints(&numbers))).len(), 16);
}

/// Biomes of columns without blocks have no effect.
#[test]
fn biomes_of_air_are_not_reported() {
    let air = section(Format::Flat, 0, &["minecraft:air"], |_| 0);
    let level = compound(vec![("Biomes", ints(&[77; 256])), ("Sections", list(vec![air]))]);
    let file = region(&[([0, 0], 2, &tree(vec![("Level", level)]))]);
    let source = MinecraftWorld::parse(&file, "air.mca").unwrap();
    assert!(source.chunk_positions().is_empty() && source.faults().is_empty());
}
