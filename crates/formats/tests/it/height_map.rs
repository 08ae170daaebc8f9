//! Height maps: every column has the height in the file.

use std::path::Path;

use drystone_formats::{HeightMap, HeightMapOptions, Source, Voids};
use drystone_testing::Random;
use drystone_voxel::{Chunk, ChunkPos};
use png::{BitDepth, ColorType};

use crate::data;
use crate::height_helpers::{
    big_endian, error, grey_png, metre_by_metre, name_at, png_of, top, world,
};
use crate::world::World;

#[test]
fn sixteen_bits_are_metres_and_the_first_row_is_the_north() {
    let samples = [100, 101, 102, 100, 700, 90];
    let bytes = grey_png([3, 2], BitDepth::Sixteen, &big_endian(&samples));
    let world = world(&bytes, "a.png", &metre_by_metre());
    for (n, &metres) in samples.iter().enumerate() {
        let (x, z) = (n as i32 % 3, n as i32 / 3);
        assert_eq!(top(&world, x, z, 0, 1000), Some(metres.into()), "{x} {z}");
    }
    // A closed body: solid down to four voxels below the lowest point, with air below.
    assert_eq!(world.bounds().unwrap().size_voxels(), [3, 700 - 86, 2]);
    assert_eq!(world.bounds().unwrap().min.to_array(), [0, 86, 0]);
    let solid: u16 = samples.iter().map(|metres| metres - 86).sum();
    assert_eq!(world.solid_count(), u64::from(solid));
}

#[test]
fn eight_bits_and_transparency_are_read() {
    let bytes = grey_png([2, 1], BitDepth::Eight, &[7, 200]);
    let eight = world(&bytes, "a.png", &metre_by_metre());
    assert_eq!([0, 1].map(|x| top(&eight, x, 0, 0, 300)), [Some(7), Some(200)]);
    let pairs = [0, 40, 255, 255, 0, 50, 0, 0, 0, 60, 0, 1];
    let bytes = png_of([3, 1], ColorType::GrayscaleAlpha, BitDepth::Sixteen, &pairs);
    let map = HeightMap::parse(&bytes, "a.png", &metre_by_metre()).unwrap();
    assert_eq!(
        (map.summary().void_count, map.summary().range_metres),
        (Some(1), Some([40.0, 60.0]))
    );
    let voids = World::load(&map).unwrap();
    assert_eq!([0, 1, 2].map(|x| top(&voids, x, 0, 0, 99)), [Some(40), None, Some(60)]);
    let filled = metre_by_metre().with_voids(Voids::Filled);
    assert_eq!(top(&world(&bytes, "a.png", &filled), 1, 0, 0, 99), Some(50));
}

#[test]
fn other_pictures_are_refused() {
    let color = png_of([1, 1], ColorType::Rgb, BitDepth::Eight, &[1, 2, 3]);
    assert_eq!(
        error(&color, "a.png"),
        "a.png: header: a colour picture, not a height map; save it as one channel of grey, \
         8 or 16 bits per sample"
    );
    let bits = grey_png([8, 1], BitDepth::One, &[0x55]);
    assert!(error(&bits, "a.png").starts_with("a.png: header: 1 bits per sample; "));
}

#[test]
fn scales_set_the_size_of_the_map() {
    let samples = big_endian(&[100, 200, 300, 400]);
    let bytes = grey_png([2, 2], BitDepth::Sixteen, &samples);
    let options = HeightMapOptions::default()
        .with_metres_per_sample(Some([40.0, 20.0]))
        .with_metres_per_voxel(Some(10.0))
        .with_vertical_scale(2.0);
    let fine = world(&bytes, "a.png", &options);
    assert_eq!(fine.bounds().unwrap().size_voxels(), [8, 80 - 16, 4]);
    // The middle of the first column lies an eighth of a sample before the first sample's. That of
    // the fourth is 3/8 of the way to the second.
    let south = |z| top(&fine, 0, z, 0, 99).unwrap();
    assert_eq!([0, 1, 2, 3].map(south), [20, 30, 50, 60]);
    let east = |x| top(&fine, x, 0, 0, 99).unwrap();
    assert_eq!([0, 1, 2, 3, 4, 7].map(east), [20, 20, 23, 28, 33, 40]);
    // One voxel for all samples has their mean.
    let options = options.with_metres_per_voxel(Some(80.0));
    let coarse = world(&bytes, "a.png", &options);
    // The lowest sample is 2.5 voxels high, and the base lies four voxels below its top.
    assert_eq!(coarse.bounds().unwrap().min.to_array(), [0, 3 - 4, 0]);
    assert_eq!(coarse.bounds().unwrap().size_voxels(), [1, 6 + 1, 1]);
    assert_eq!(top(&coarse, 0, 0, -9, 99), Some((250.0 * 2.0 / 80.0_f64).round() as i32));
}

#[test]
fn ground_at_sea_level_is_water() {
    let bytes = grey_png([4, 1], BitDepth::Eight, &[0, 2, 7, 100]);
    let sea = metre_by_metre().with_sea_level_metres(2.0);
    let world = world(&bytes, "a.png", &sea);
    let column = |x: i32| (-1..3).map(|y| name_at(&world, x, y, 0)).collect::<Vec<_>>();
    assert_eq!(column(0), ["rock", "water", "water", ""]);
    assert_eq!(column(1)[2..], ["water", ""]);
    assert_eq!(name_at(&world, 3, 99, 0), "rock");
    assert_eq!(top(&world, 2, 0, -9, 120), Some(7));
    // At height zero too. On flat ground there is sand below.
    let flat = grey_png([3, 3], BitDepth::Eight, &[0; 9]);
    let flat = crate::height_helpers::world(&flat, "a.png", &metre_by_metre());
    assert_eq!([-2, -1, 0].map(|y| name_at(&flat, 1, y, 1)), ["sand", "water", ""]);
}

/// A slow reference that computes each column from the whole map.
#[test]
fn chunks_equal_columns_made_one_by_one() {
    let [width, height] = [70_u32, 40];
    let mut random = Random::new(5);
    let samples: Vec<u16> = (0..width * height).map(|_| 60 + random.below(90) as u16).collect();
    let bytes = grey_png([width, height], BitDepth::Sixteen, &big_endian(&samples));
    let map = HeightMap::parse(&bytes, "a.png", &metre_by_metre()).unwrap();
    let loaded = World::load(&map).unwrap();
    let positions = map.chunk_positions();
    assert!(positions.is_sorted());
    let lowest = i32::from(*samples.iter().min().unwrap()) - 4;
    for (n, &metres) in samples.iter().enumerate() {
        let (x, z) = ((n as u32 % width) as i32, (n as u32 / width) as i32);
        for y in 40..160 {
            let solid = (lowest..i32::from(metres)).contains(&y);
            assert_eq!(!name_at(&loaded, x, y, z).is_empty(), solid, "{x} {y} {z}");
        }
    }
    // Chunks that are not listed are air, next to the map and far away.
    for far in [[-1, 2, 0], [3, 2, 0], [0, 2, 2], [0, 0, 0], [0, 9, 0], [0, i32::MAX, 0]] {
        let position = ChunkPos::new(far[0], far[1], far[2]);
        assert!(!positions.contains(&position));
        assert!(map.chunk(position).unwrap().is_empty(), "{far:?}");
    }
    assert_eq!(map.chunk(positions[0]).unwrap().side(), Chunk::SIDE);
}

/// An independent reader: it uses a library to inflate, but reads rows, bytes and metres without
/// the crate's code.
fn rows_of(path: &Path) -> Vec<Vec<u16>> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut rows = Vec::new();
    while let Some(row) = reader.next_row().unwrap() {
        rows.push(row.data().chunks(2).map(|b| u16::from(b[0]) * 256 + u16::from(b[1])).collect());
    }
    rows
}

#[test]
fn the_real_elevation_model_is_to_scale() {
    let Some(folder) = data("the_real_elevation_model_is_to_scale") else { return };
    let path = folder.join("jacksboro-dem-16bit.png");
    let rows = rows_of(&path);
    let options = HeightMapOptions::default().with_metres_per_sample(Some([75.0, 93.0]));
    let map = HeightMap::open(&path, &options).unwrap();
    assert_eq!(map.summary().size_samples, [403, 344]);
    assert_eq!(map.summary().range_metres, Some([236.0, 1076.0]));
    assert_eq!((map.summary().void_count, map.summary().metres_per_voxel), (Some(0), 75.0));
    let shown = World::load(&map).unwrap();
    let sample = |row: usize, x: usize| f64::from(rows[row][x]);
    // 344 samples of 93 m in voxels of 75 m.
    let [x, _, z] = shown.bounds().unwrap().size_voxels();
    assert_eq!((x, z), (403, 427));
    for column in 0..427_i32 {
        // Position of the column's middle between the middles of two samples.
        let at = ((f64::from(column) + 0.5) * 75.0 / 93.0 - 0.5).clamp(0.0, 343.0);
        let (before, part) = (at.floor() as usize, at.fract());
        let after = (before + 1).min(343);
        for x in 0..403 {
            let metres = sample(before, x) * (1.0 - part) + sample(after, x) * part;
            let top = top(&shown, x as i32, column, 0, 40).unwrap();
            assert!((f64::from(top) * 75.0 - metres).abs() < 37.5 + 1e-6, "{x} {column}");
        }
    }
    // One metre per voxel and sample: every height equals that in the file.
    let exact = HeightMap::open(&path, &metre_by_metre()).unwrap();
    for (cx, cz) in [(0, 0), (5, 7), (12, 10)] {
        for cy in 0..34 {
            let chunk = exact.chunk(ChunkPos::new(cx, cy, cz)).unwrap();
            for local in (0..32 * 32).map(|n| [n % 32, n / 32]) {
                let [x, z] = [cx as usize * 32 + local[0], cz as usize * 32 + local[1]];
                let Some(&metres) = rows.get(z).and_then(|row| row.get(x)) else { continue };
                let solid = (0..32).filter(|y| {
                    let at = drystone_voxel::LocalPos::new(local[0] as u8, *y, local[1] as u8);
                    !chunk.get(at).is_air()
                });
                let in_chunk = |y: i32| (y - cy * 32).clamp(0, 32);
                let expected = in_chunk(metres.into()) - in_chunk(236 - 4);
                assert_eq!(solid.count() as i32, expected, "{x} {z}");
            }
        }
    }
    assert_eq!(
        HeightMap::open(&path, &HeightMapOptions::default()).unwrap().name(),
        path.display().to_string()
    );
}
