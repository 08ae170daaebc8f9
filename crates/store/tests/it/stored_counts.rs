//! Content of imports, compared with readers of the files that share no code with the crate.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use drystone_formats::{HeightMap, HeightMapOptions, MinecraftWorld, Source};
use drystone_store::{ImportOptions, StoreOptions, StoredWorld, import};
use drystone_voxel::{Chunk, VoxelPos};
use drystone_world::World;

use crate::stored_child::{Folder, data};

fn imported(source: &dyn Source, path: &Path) -> StoredWorld {
    let (world, progress) = import(source, path, &ImportOptions::default(), &mut |_| {}).unwrap();
    assert_eq!((progress.done, progress.lost), (progress.total, 0));
    world.close().unwrap();
    StoredWorld::open(path, &StoreOptions::read_only()).unwrap()
}

/// The kinds of NBT tags that are needed to count blocks.
enum Tag {
    Number(i64),
    Text(String),
    List(Vec<Tag>),
    Compound(BTreeMap<String, Tag>),
    Longs(Vec<u64>),
}

impl Tag {
    fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Compound(tags) => tags.get(name),
            _ => None,
        }
    }

    fn list(&self) -> &[Self] {
        match self {
            Self::List(tags) => tags,
            _ => &[],
        }
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

fn number(bytes: &mut &[u8], count: usize) -> i64 {
    let shift = 64 - 8 * count as u32;
    let word = take(bytes, count).iter().fold(0_u64, |word, &byte| word << 8 | u64::from(byte));
    (word << shift) as i64 >> shift
}

fn text(bytes: &mut &[u8]) -> String {
    let len = number(bytes, 2) as usize;
    String::from_utf8(take(bytes, len).to_vec()).unwrap()
}

/// Reads the content of a tag of this kind, in big-endian order. In a compound, each tag has its
/// kind, the length of its name and its name before its content.
fn tag(kind: u8, bytes: &mut &[u8]) -> Tag {
    match kind {
        1..=4 => Tag::Number(number(bytes, 1 << (kind - 1))),
        5 | 6 => Tag::Number(number(bytes, if kind == 5 { 4 } else { 8 })),
        7 | 11 | 12 => {
            let side = [(7, 1), (11, 4), (12, 8)].into_iter().find(|it| it.0 == kind).unwrap().1;
            let len = number(bytes, 4);
            Tag::Longs((0..len).map(|_| number(bytes, side) as u64).collect())
        }
        8 => Tag::Text(text(bytes)),
        9 => {
            let kind = number(bytes, 1) as u8;
            let len = number(bytes, 4);
            Tag::List((0..len).map(|_| tag(kind, bytes)).collect())
        }
        10 => {
            let mut tags = BTreeMap::new();
            loop {
                match number(bytes, 1) as u8 {
                    0 => return Tag::Compound(tags),
                    kind => {
                        let name = text(bytes);
                        tags.insert(name, tag(kind, bytes));
                    }
                }
            }
        }
        _ => panic!("kind {kind}"),
    }
}

/// Returns every column of a region: 1,024 entries of three bytes, in pages of 4 KiB.
fn columns(file: &[u8]) -> Vec<Tag> {
    let entries = file[..4096].chunks(4).map(|it| u32::from_be_bytes([0, it[0], it[1], it[2]]));
    let starts = entries.filter(|&place| place > 0).map(|place| place as usize * 4096);
    let unpacked = starts.map(|start| {
        let mut head = &file[start..];
        let len = number(&mut head, 4) as usize;
        assert_eq!(number(&mut head, 1), 2, "packed by zlib");
        let mut bytes = Vec::new();
        flate2::read::ZlibDecoder::new(&head[..len - 1]).read_to_end(&mut bytes).unwrap();
        let mut rest = &bytes[..];
        assert_eq!(number(&mut rest, 1), 10);
        text(&mut rest);
        let root = tag(10, &mut rest);
        assert!(rest.is_empty());
        root
    });
    unpacked.collect()
}

/// Counts blocks by name. Each number has as many bits as the palette needs, at least four. Before
/// snapshot 20w17a, a number may span two words.
fn count_blocks(column: &Tag, counts: &mut BTreeMap<String, u64>) {
    let Some(Tag::Number(version)) = column.get("DataVersion") else { panic!("no version") };
    assert!((1451..2529).contains(version), "{version}");
    for section in column.get("Level").unwrap().get("Sections").unwrap().list() {
        let (Some(palette), Some(Tag::Longs(words))) =
            (section.get("Palette"), section.get("BlockStates"))
        else {
            continue;
        };
        let palette = palette.list();
        let bits = (usize::BITS - (palette.len() - 1).leading_zeros()).max(4) as usize;
        assert_eq!(words.len() * 64, 4096 * bits);
        for voxel in 0..4096 {
            let bit = |at: usize| words[at / 64] >> (at % 64) & 1;
            let number = (0..bits).map(|n| bit(voxel * bits + n) << n).sum::<u64>();
            let Some(Tag::Text(name)) = palette[number as usize].get("Name") else { panic!() };
            *counts.entry(name.clone()).or_default() += 1;
        }
    }
}

#[test]
fn an_imported_region_has_the_blocks_of_the_file() {
    let test = "an_imported_region_has_the_blocks_of_the_file";
    let Some(folder) = data(test) else { return };
    let path = folder.join("r.0.0.mca");
    let mut blocks = BTreeMap::new();
    let columns = columns(&std::fs::read(&path).unwrap());
    columns.iter().for_each(|column| count_blocks(column, &mut blocks));

    let folder = Folder::new();
    let world = imported(&MinecraftWorld::open(&path).unwrap(), &folder.file("w.drystone"));
    // Air is no material, and each other block has its own materials.
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in blocks {
        let name = name.strip_prefix("minecraft:").unwrap().to_owned();
        if !matches!(name.as_str(), "air" | "cave_air" | "void_air") {
            *expected.entry(name).or_default() += count;
        }
    }
    let counts = world.summary().unwrap().voxels.into_iter();
    let name = |material| world.materials().get(material).unwrap().name.clone();
    // Blocks with snow on them, or that lie along an axis, are materials of their own.
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for (material, count) in counts {
        let name = name(material);
        let block = name.split_once(' ').map_or(name.as_str(), |(block, _)| block);
        *found.entry(block.to_owned()).or_default() += count;
    }
    assert_eq!(found, expected);
    assert!(columns.len() > 10 && found.len() > 20, "{} {}", columns.len(), found.len());
}

/// Returns the samples of a 16-bit PNG, row by row, and the number of samples per row.
fn samples(path: &Path) -> (Vec<u16>, usize) {
    let decoder = png::Decoder::new(BufReader::new(File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(
        (frame.color_type, frame.bit_depth),
        (png::ColorType::Grayscale, png::BitDepth::Sixteen)
    );
    let words = bytes[..frame.buffer_size()].as_chunks().0;
    (words.iter().map(|&word| u16::from_be_bytes(word)).collect(), frame.width as usize)
}

/// Returns the first air voxel above each column. X changes fastest.
fn tops(world: &World, [width, depth]: [usize; 2]) -> Vec<i32> {
    let mut tops = vec![i32::MIN; width * depth];
    for (at, chunk) in world.iter() {
        let side = Chunk::SIDE as i32;
        for (local, _) in chunk.iter_solid() {
            let [x, y, z] = [(at.x, local.x), (at.y, local.y), (at.z, local.z)]
                .map(|(chunk, local)| chunk * side + i32::from(local));
            let top = &mut tops[x as usize + z as usize * width];
            *top = (*top).max(y + 1);
        }
    }
    tops
}

#[test]
fn an_imported_elevation_model_has_the_heights_of_the_file() {
    let test = "an_imported_elevation_model_has_the_heights_of_the_file";
    let Some(data) = data(test) else { return };
    let path = data.join("jacksboro-dem-16bit.png");
    let (metres, width) = samples(&path);
    let depth = metres.len() / width;
    let folder = Folder::new();
    for (n, (side, scale)) in [(75.0, 1.0), (75.0, 4.0), (30.0, 0.5)].into_iter().enumerate() {
        let options = HeightMapOptions::default()
            .with_metres_per_sample(Some([side; 2]))
            .with_vertical_scale(scale);
        let map = HeightMap::open(&path, &options).unwrap();
        let world = imported(&map, &folder.file(&format!("{n}.drystone")));
        let found = tops(&World::load(&world).unwrap(), [width, depth]);
        let expected = metres.iter().map(|&it| (f64::from(it) * scale / side).round() as i32);
        assert!(found.iter().copied().eq(expected), "{side} m a sample, {scale} times as high");
    }
}

/// If rows are farther apart than columns, each column lies between the samples around it.
#[test]
fn an_imported_elevation_model_is_to_scale() {
    let Some(data) = data("an_imported_elevation_model_is_to_scale") else { return };
    let path = data.join("jacksboro-dem-16bit.png");
    let (metres, width) = samples(&path);
    let rows = metres.len() / width;
    let options = HeightMapOptions::default().with_metres_per_sample(Some([75.0, 93.0]));
    let folder = Folder::new();
    let map = HeightMap::open(&path, &options).unwrap();
    let world = World::load(&imported(&map, &folder.file("w.drystone"))).unwrap();
    // The map's depth in metres, in voxels of 75 m.
    let depth = (rows as f64 * 93.0 / 75.0).round() as usize;
    let size = world.bounds().unwrap().size_voxels();
    assert_eq!((size[0] as usize, size[2] as usize), (width, depth));
    let found = tops(&world, [width, depth]);
    for z in 0..depth {
        let south = [z as f64, z as f64 + 1.0].map(|it| it * 75.0 / 93.0);
        let first = (south[0] - 0.5).floor().max(0.0) as usize;
        let last = ((south[1] + 0.5).ceil() as usize).min(rows - 1);
        for x in 0..width {
            let around = (first..=last).map(|row| f64::from(metres[x + row * width]) / 75.0);
            let low = around.clone().fold(f64::MAX, f64::min).round() as i32;
            let high = around.fold(0.0, f64::max).round() as i32;
            let top = found[x + z * width];
            assert!((low..=high).contains(&top), "{x},{z}: {top}, {low} to {high}");
        }
    }
    let top = VoxelPos::new(200, found[200 + 200 * width] - 1, 200);
    assert!(!world.get(top).is_air() && world.get(VoxelPos { y: top.y + 1, ..top }).is_air());
}
