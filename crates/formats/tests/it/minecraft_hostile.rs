//! Damaged and hostile regions: a message that names the position and the undamaged rest, quickly
//! and without much memory.

use std::time::{Duration, Instant};

use drystone_formats::{MinecraftWorld, Source};
use drystone_testing::Random;
use drystone_voxel::{ChunkPos, Material};

use crate::minecraft_bytes::{
    Format, Value, bytes, column, compound, int, list, longs, numbered, region, section, text, tree,
};
use crate::programs;
use crate::world::World;

const NAMES: [&str; 5] =
    ["minecraft:air", "minecraft:stone", "minecraft:water", "other:thing", "minecraft:dirt"];

/// Creates a region with a column of every format and every compression.
fn every_kind() -> Vec<u8> {
    let at = |i: usize| i / 5 % 5;
    let of = |format| {
        column(format, vec![section(format, 1, &NAMES, at), section(format, -3, &NAMES, at)])
    };
    let numbers = column(Format::Numbers, vec![numbered(0, |i| (i as u16 % 300, 3))]);
    region(&[
        ([0, 0], 1, &numbers),
        ([1, 0], 2, &of(Format::Spanning)),
        ([0, 1], 3, &of(Format::Apart)),
        ([9, 9], 4, &of(Format::Flat)),
    ])
}

/// Returns all reported faults. Only one column is damaged.
fn faults(bytes: &[u8]) -> Vec<String> {
    let source = MinecraftWorld::parse(bytes, "test.mca").unwrap();
    World::load(&source).unwrap();
    source.faults()
}

/// Returns the fault of a region whose one column has this data.
fn fault_of(data: &[u8]) -> String {
    let faults = faults(&region(&[([0, 0], 2, data)]));
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults[0].clone()
}

#[test]
fn prefixes_are_read_or_refused() {
    let file = every_kind();
    let whole = MinecraftWorld::parse(&file, "whole.mca").unwrap();
    let solid_count = World::load(&whole).unwrap().solid_count();
    assert!(whole.faults().is_empty() && solid_count > 20_000);
    let mut least = u64::MAX;
    // Sectors are padded with zeros, so some cuts do no harm.
    for end in (0..file.len()).step_by(11) {
        let Ok(source) = MinecraftWorld::parse(&file[..end], "cut.mca") else {
            assert!((1..8192).contains(&end), "{end}");
            continue;
        };
        let world = World::load(&source).unwrap();
        let harmless = world.solid_count() == solid_count;
        assert!(end == 0 || harmless == source.faults().is_empty(), "{end}");
        least = least.min(world.solid_count());
    }
    assert_eq!(least, 0);
}

#[test]
fn prefixes_of_a_columns_data_are_reported() {
    for format in [Format::Spanning, Format::Flat] {
        let data = column(format, vec![section(format, 1, &NAMES, |i| i % 5)]);
        // Every length at both ends, where the names and the ends of the parts are, and some of the numbers
        // between them. The end of the root and everything after it are not needed.
        let is_near_an_end = |end: usize| end < 330 || data.len() - end < 200;
        for end in (0..data.len()).filter(|&end| is_near_an_end(end) || end.is_multiple_of(17)) {
            let message = fault_of(&data[..end]);
            assert!(message.starts_with("test.mca: column 0, 0: "), "{end}: {message}");
        }
    }
}

#[test]
fn thousands_of_flips_of_bits() {
    let file = every_kind();
    let mut random = Random::new(77);
    let mut damaged_count = 0;
    for round in 0..2_000 {
        let mut damaged = file.clone();
        for _ in 0..=random.below(6) {
            // Half of the changes are in the columns' headers and data.
            let at = if random.below(2) == 0 {
                random.below(damaged.len())
            } else {
                8192 + random.below(4096)
            };
            damaged[at] ^= 1 << random.below(8);
        }
        let start = Instant::now();
        programs::minecraft(&damaged);
        damaged_count += usize::from(
            !MinecraftWorld::parse(&damaged, "f").unwrap().chunk_positions().is_empty(),
        );
        assert!(start.elapsed() < Duration::from_secs(5), "round {round} took long");
    }
    assert!(damaged_count > 1_500, "{damaged_count}");
}

/// Uncompressed data has no checksum that would protect its decoder.
#[test]
fn thousands_of_flips_of_a_columns_data() {
    let mut random = Random::new(5);
    let numbers = column(Format::Numbers, vec![numbered(7, |i| (i as u16 % 256, 0))]);
    let flat = column(Format::Flat, vec![section(Format::Flat, 0, &NAMES, |i| i % 5)]);
    let old = column(Format::Spanning, vec![section(Format::Spanning, 0, &NAMES, |i| i % 5)]);
    for data in [numbers, flat, old] {
        for _ in 0..500 {
            let mut damaged = data.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(damaged.len().min(400));
                damaged[at] = random.below(256) as u8;
            }
            programs::region(&damaged);
        }
    }
}

/// A damaged column does not affect others.
#[test]
fn a_damaged_column_does_not_affect_others() {
    let data = column(Format::Flat, vec![section(Format::Flat, 0, &["minecraft:stone"], |_| 0)]);
    let mut file =
        region(&[([0, 0], 2, &data), ([1, 0], 2, &data), ([0, 1], 2, &data), ([5, 5], 2, &data)]);
    // In the middle of the second column's compressed data.
    file[3 * 4096 + 20] ^= 0xff;
    let source = MinecraftWorld::parse(&file, "part.mca").unwrap();
    let world = World::load(&source).unwrap();
    assert_eq!(world.solid_count(), 3 * 4096);
    let faults = source.faults();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].starts_with("part.mca: column 1, 0: byte 12288 of the file: zlib: "),
        "{faults:?}"
    );
}

#[test]
fn invalid_column_locations_are_reported() {
    let data = column(Format::Flat, vec![section(Format::Flat, 0, &["minecraft:stone"], |_| 0)]);
    let file = region(&[([0, 0], 2, &data)]);
    let changed = |at: usize, to: &[u8]| {
        let mut file = file.clone();
        file[at..at + to.len()].copy_from_slice(to);
        let faults = faults(&file);
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults[0].clone()
    };
    let cases = [
        (
            changed(0, &[0, 0, 1, 1]),
            "its table entry gives sector 1, length 1, in a file of 12288 bytes",
        ),
        (changed(0, &[255; 4]), "its table entry gives sector 16777215, length 255"),
        (changed(0, &[0, 0, 2, 0]), "its table entry gives sector 2, length 0"),
        (
            changed(8192, &[255; 4]),
            "byte 8192 of the file: claims 4294967295 bytes, but 4096 are available",
        ),
        (changed(8192, &[0; 4]), "byte 8192 of the file: claims 0 bytes, but 4096 are available"),
        (changed(8196, &[9]), "compressed with unknown method 9"),
        (changed(8196, &[0x82]), "stored in a file of its own"),
    ];
    for (message, want) in cases {
        assert!(
            message.starts_with("test.mca: column 0, 0: ") && message.contains(want),
            "{message}"
        );
    }
}

/// All 1,024 columns share one sector. It is decompressed once, and the other columns are reported.
#[test]
fn columns_that_share_a_sector_are_decompressed_once() {
    let start = Instant::now();
    let stone = section(Format::Flat, 0, &["minecraft:stone"], |_| 0);
    let padding = bytes(&vec![0; 60 << 20]);
    let sections = list(vec![stone]);
    let mut file =
        region(&[([3, 0], 2, &tree(vec![("padding", padding), ("sections", sections)]))]);
    let place: [u8; 4] = file[12..16].try_into().unwrap();
    file[..4096].copy_from_slice(&place.repeat(1024));
    let source = MinecraftWorld::parse(&file, "shared.mca").unwrap();
    let world = World::load(&source).unwrap();
    assert_eq!(world.solid_count(), 4096);
    let faults = source.faults();
    assert_eq!(faults.len(), 1023, "{}", faults[0]);
    let expected = "column 31, 31: its table entry gives sector 2, like that of column 0, 0";
    assert!(faults.iter().any(|fault| fault.contains(expected)), "{faults:?}");
    assert!(start.elapsed() < Duration::from_secs(30));
}

/// Each column of a row of stacks has its own sectors, and decompresses to 60 MiB.
#[test]
fn the_decompressed_size_of_a_row_of_columns_is_bounded() {
    let padding = || ("padding", bytes(&vec![0; 60 << 20]));
    let stone = section(Format::Flat, 0, &["minecraft:stone"], |_| 0);
    let data = tree(vec![padding(), ("sections", list(vec![stone]))]);
    let columns: Vec<_> = (0..6).map(|z| ([0, z], 2, &data[..])).collect();
    let source = MinecraftWorld::parse(&region(&columns), "row.mca").unwrap();
    assert_eq!(source.chunk_positions().len(), 2);
    let faults = source.faults();
    assert_eq!(faults.len(), 2, "{faults:?}");
    let expected = "more than 268435456 bytes decompressed in this row of columns";
    assert!(faults[0].starts_with("row.mca: column 0, 4: ") && faults[0].contains(expected));
    assert!(faults[1].starts_with("row.mca: column 0, 5: ") && faults[1].contains(expected));
    // The four columns of a stack are always decompressed.
    let chunk = source.chunk(ChunkPos::new(0, 0, 1)).unwrap();
    assert_eq!(chunk.iter().filter(|&(_, material)| material != Material::AIR).count(), 2 * 4096);
}

fn sections(sections: Vec<Value>) -> Vec<u8> {
    column(Format::Flat, sections)
}

#[test]
fn false_lengths_are_reported() {
    let huge = i32::MAX.to_be_bytes();
    let lie = |kind: u8, start: &[u8]| tree(vec![("x", Value(kind, [start, &huge].concat()))]);
    for (data, want) in [
        (lie(7, &[]), "byte 11 of its data: needs 2147483647 bytes, but 1 remain"),
        (lie(11, &[]), "needs 8589934588 bytes"),
        (lie(12, &[]), "needs 17179869176 bytes"),
        (lie(9, &[6]), "needs 17179869176 bytes"),
        (lie(9, &[0]), "a list of 2147483647 elements without a kind"),
        (lie(9, &[10]), "needs 1 bytes, but 0 remain"),
        (tree(vec![("x", Value(7, (-1_i32).to_be_bytes().into()))]), "an array of -1 elements"),
        (tree(vec![("x", Value(13, vec![]))]), "unknown tag 13"),
        (vec![8, 0, 0], "begins with tag 8, not with a compound"),
    ] {
        let message = fault_of(&data);
        assert!(message.contains(want), "{message}");
    }
}

#[test]
fn invalid_sections_are_reported() {
    let name = |name| compound(vec![("Name", text(name))]);
    let states = |palette: Vec<Value>, count: usize, y: Value| {
        let states =
            compound(vec![("palette", list(palette)), ("data", longs(&vec![u64::MAX; count]))]);
        sections(vec![compound(vec![("block_states", states), ("Y", y)])])
    };
    let stone = || name("minecraft:stone");
    for (data, want) in [
        (
            states(vec![stone(), stone()], 256, int(2)),
            "section at height 2: an index beyond its palette of 2 blocks",
        ),
        (
            states(vec![stone(), stone()], 255, int(2)),
            "255 words for indices of 4 bits, not 256 or 256",
        ),
        (states(vec![stone(), stone()], 0, int(2)), "0 words for indices of 4 bits"),
        (states(vec![stone()], 256, int(128)), "a section at height 128, not -128 to 127"),
        (states(vec![stone()], 256, text("up")), "a section without a height"),
        (states(vec![compound(vec![])], 256, int(2)), "a block without a name"),
        (states(vec![int(3)], 256, int(2)), "a palette of tag 3, not of compounds"),
        (states((0..4097).map(|_| stone()).collect(), 256, int(2)), "a palette of 4097 blocks"),
        (
            sections(vec![compound(vec![("Y", int(0)), ("Blocks", bytes(&[1; 9]))])]),
            "section at height 0: 9 numbers",
        ),
        (
            sections(
                (0..513).map(|_| section(Format::Flat, 0, &["minecraft:stone"], |_| 0)).collect(),
            ),
            "more than 512 sections",
        ),
    ] {
        let message = fault_of(&data);
        assert!(message.contains(want), "{want}: {message}");
    }
}

/// Nested lists, deep enough to overflow the stack of a recursive reader.
#[test]
fn nesting_is_bounded() {
    let mut lists = vec![10, 0, 0, 9, 0, 1, b'x'];
    let mut compounds = vec![10, 0, 0];
    for _ in 0..1_000_000 {
        lists.extend([9, 0, 0, 0, 1]);
        compounds.extend([10, 0, 0]);
    }
    for data in [lists, compounds] {
        let message = fault_of(&data);
        assert!(message.contains("nested more than 512 deep"), "{message}");
    }
}

/// A few kilobytes that decompress to hundreds of megabytes, with every method.
#[test]
fn decompression_bombs_are_bounded() {
    let zeros = vec![0; 80 << 20];
    for method in [1, 2] {
        let faults = faults(&region(&[([0, 0], method, &zeros)]));
        assert!(faults[0].contains("decompresses to more than 67108864 bytes"), "{faults:?}");
    }
    // One LZ4 block that claims the maximum length, and one that claims more than it could contain.
    let block = |length: u32| {
        let header =
            [&b"LZ4Block\x2f"[..], &4_u32.to_le_bytes(), &length.to_le_bytes(), &[0; 8]].concat();
        let mut file = region(&[([0, 0], 3, &header)]);
        file[8196] = 4;
        faults(&file)[0].clone()
    };
    assert!(block(u32::MAX).contains("LZ4: 4 bytes claim to be 4294967295"));
    assert!(block(1021).contains("LZ4: 4 bytes claim to be 1021"));
    assert!(block(16).contains("LZ4: "));
}
