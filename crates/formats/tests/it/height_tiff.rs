//! GeoTIFF files made by the crate's own encoder and by hand, and SRTM tiles.

use std::io::Cursor;

use drystone_formats::{HeightMap, HeightMapOptions, Voids};
use tiff::encoder::colortype::{ColorType, Gray8, Gray16, Gray32Float, Gray64Float, GrayI16};
use tiff::encoder::{Compression, TiffEncoder, TiffValue};
use tiff::tags::Tag;

use crate::height_helpers::{error, metre_by_metre, top, world};
use crate::world::World;

const SIZE: [u32; 2] = [40, 7];

/// Creates a file of strips with the given tags.
pub(crate) fn tiff_of<C: ColorType>(
    compression: Compression,
    samples: &[C::Inner],
    geographic: bool,
    nodata: Option<&str>,
) -> Vec<u8>
where
    [C::Inner]: TiffValue,
{
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap().with_compression(compression);
    let mut image = encoder.new_image::<C>(SIZE[0], SIZE[1]).unwrap();
    image.rows_per_strip(3).unwrap();
    let tags = image.encoder();
    let scale = if geographic { [0.001, 0.001, 0.0] } else { [20.0, 10.0, 0.0] };
    tags.write_tag(Tag::ModelPixelScaleTag, &scale[..]).unwrap();
    tags.write_tag(Tag::ModelTiepointTag, &[0.0, 0.0, 0.0, 11.0, 60.0035, 0.0][..]).unwrap();
    let model = if geographic { 2 } else { 1 };
    tags.write_tag(Tag::GeoKeyDirectoryTag, &[1_u16, 1, 0, 1, 1024, 0, 1, model][..]).unwrap();
    if let Some(text) = nodata {
        tags.write_tag(Tag::GdalNodata, text).unwrap();
    }
    image.write_data(samples).unwrap();
    file.into_inner()
}

/// Heights of 10 to 99 m. One of them is -9999 if the type allows it.
fn heights(void: bool) -> Vec<i16> {
    let mut heights: Vec<i16> = (0..280).map(|n| 10 + (n * 37 % 90) as i16).collect();
    if void {
        heights[45] = -9999;
    }
    heights
}

fn check(bytes: &[u8], format: &str, voids: u64) {
    let map = HeightMap::parse(bytes, "a.tif", &metre_by_metre()).unwrap();
    let summary = map.summary();
    assert_eq!((summary.format.as_str(), summary.void_count), (format, Some(voids)));
    assert_eq!(summary.size_samples, [40, 7]);
    let world = World::load(&map).unwrap();
    for (n, height) in heights(voids > 0).into_iter().enumerate() {
        let expected = (height > 0).then_some(height.into());
        assert_eq!(top(&world, n as i32 % 40, n as i32 / 40, -9, 200), expected, "{format} {n}");
    }
}

#[test]
fn every_kind_of_sample_is_read() {
    let deflate = Compression::Deflate(Default::default());
    for packing in [Compression::Uncompressed, Compression::Lzw, deflate, Compression::Packbits] {
        let bytes: Vec<u8> = heights(false).iter().map(|n| *n as u8).collect();
        check(&tiff_of::<Gray8>(packing, &bytes, false, None), "TIFF, 8 bits", 0);
        let words: Vec<u16> = heights(false).iter().map(|n| *n as u16).collect();
        check(&tiff_of::<Gray16>(packing, &words, false, None), "TIFF, 16 bits", 0);
        let void = heights(true);
        let file = tiff_of::<GrayI16>(packing, &void, false, Some("-9999"));
        check(&file, "TIFF, 16 bits with sign", 1);
        // Voids by GDAL's mark, and by NaN.
        let mut floats: Vec<f32> = void.iter().map(|n| f32::from(*n)).collect();
        let file = tiff_of::<Gray32Float>(packing, &floats, false, Some("-9999.0 "));
        check(&file, "TIFF, 32-bit floats", 1);
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            floats[45] = odd;
            check(&tiff_of::<Gray32Float>(packing, &floats, false, None), "TIFF, 32-bit floats", 1);
        }
        let doubles: Vec<f64> = void.iter().map(|n| f64::from(*n)).collect();
        let file = tiff_of::<Gray64Float>(packing, &doubles, false, Some("-9999"));
        check(&file, "TIFF, 64-bit floats", 1);
    }
    // A mark with more digits than its samples.
    let mut floats = vec![5.0_f32; 280];
    floats[0] = -3.402_823_5e38;
    let file =
        tiff_of::<Gray32Float>(Compression::Lzw, &floats, false, Some("-3.4028234663852886e+38"));
    let map = HeightMap::parse(&file, "a.tif", &HeightMapOptions::default()).unwrap();
    assert_eq!((map.summary().void_count, map.summary().range_metres), (Some(1), Some([5.0, 5.0])));
}

#[test]
fn the_files_scale_counts_unless_another_is_given() {
    let words = [3; 280];
    let scale = |geographic, options: &HeightMapOptions| {
        let file = tiff_of::<Gray16>(Compression::Lzw, &words, geographic, None);
        HeightMap::parse(&file, "a.tif", options).unwrap().summary().metres_per_sample
    };
    assert_eq!(scale(false, &HeightMapOptions::default()), [20.0, 10.0]);
    assert_eq!(scale(false, &metre_by_metre()), [1.0, 1.0]);
    // At 60° north, a degree of longitude is half as long as at the equator.
    let [east, south] = scale(true, &HeightMapOptions::default());
    assert!((east - 55.66).abs() < 0.01 && (south - 111.132).abs() < 0.01, "{east} {south}");
}

/// Creates a big-endian file of tiles of 16 x 16 samples, word by word.
pub(crate) fn tiled(size: [u32; 2], entries: &[(u16, u16, Vec<u32>)], height: i16) -> Vec<u8> {
    let tiles = size[0].div_ceil(16) * size[1].div_ceil(16);
    let mut all = vec![
        (256, 4, vec![size[0]]),
        (257, 4, vec![size[1]]),
        (258, 3, vec![16]),
        (259, 3, vec![1]),
        (262, 3, vec![1]),
        (277, 3, vec![1]),
        (322, 3, vec![16]),
        (323, 3, vec![16]),
        (324, 4, (0..tiles).map(|n| 8 + n * 512).collect()),
        (325, 4, vec![512; tiles as usize]),
        (339, 3, vec![2]),
    ];
    for entry in entries {
        all.retain(|(tag, ..)| *tag != entry.0);
        all.push(entry.clone());
    }
    all.sort();
    let data: Vec<u8> = (0..tiles * 256)
        .flat_map(|n| (height + (n / 256 * 20 + n % 16) as i16).to_be_bytes())
        .collect();
    let mut file = [&b"MM\0*"[..], &(8 + data.len() as u32).to_be_bytes(), &data].concat();
    let mut beside = file.len() + 2 + all.len() * 12 + 4;
    let mut values = Vec::new();
    file.extend((all.len() as u16).to_be_bytes());
    for (tag, kind, numbers) in all {
        file.extend(tag.to_be_bytes());
        file.extend(kind.to_be_bytes());
        file.extend((numbers.len() as u32).to_be_bytes());
        let mut bytes: Vec<u8> = numbers
            .iter()
            .flat_map(|n| {
                if kind == 3 {
                    (*n as u16).to_be_bytes().to_vec()
                } else {
                    n.to_be_bytes().to_vec()
                }
            })
            .collect();
        bytes.resize(bytes.len().max(4), 0);
        if bytes.len() == 4 {
            file.extend(bytes);
        } else {
            file.extend((beside as u32).to_be_bytes());
            beside += bytes.len();
            values.extend(bytes);
        }
    }
    [file, vec![0; 4], values].concat()
}

#[test]
fn tiles_are_placed_in_the_image() {
    let world = world(&tiled([35, 20], &[], 100), "a.tif", &metre_by_metre());
    for (x, z) in (0..35 * 20).map(|n| (n % 35, n / 35)) {
        let tile = x / 16 + z / 16 * 3;
        assert_eq!(top(&world, x, z, 0, 400), Some(100 + tile * 20 + x % 16), "{x} {z}");
    }
}

#[test]
fn invalid_tiffs_are_reported() {
    let message = |entries: &[(u16, u16, Vec<u32>)]| error(&tiled([35, 20], entries, 5), "a.tif");
    // One tile that is as large as the picture.
    let one = |side: u32| {
        let sides = [256, 257, 322, 323].map(|tag| (tag, 4, vec![side]));
        let place = [(324, 4, vec![8]), (325, 4, vec![512])];
        message(&[sides.to_vec(), place.to_vec()].concat())
    };
    assert_eq!(
        one(8_000),
        "a.tif: header: claims 8000 x 8000 samples in 3218 bytes; the file is incomplete \
         or damaged: copy or download it again"
    );
    let wide = one(u32::MAX - 15);
    assert!(
        wide.contains("4294967280 x 4294967280 samples, at most 134217728 are taken"),
        "{wide}"
    );
    let few = message(&[(256, 4, vec![20_000])]);
    assert!(few.contains("inconsistent sizes"), "{few}");
    for entries in [
        vec![(259, 3, vec![8]), (256, 4, vec![2_000])],
        vec![(324, 4, vec![u32::MAX; 6])],
        vec![(325, 4, vec![u32::MAX; 6])],
        vec![(324, 4, vec![8])],
        vec![(322, 3, vec![0])],
        vec![(323, 3, vec![0])],
        vec![(322, 4, vec![u32::MAX]), (323, 4, vec![u32::MAX])],
        vec![(258, 3, vec![12])],
        vec![(277, 3, vec![3]), (258, 3, vec![8, 8, 8]), (262, 3, vec![2])],
        vec![(339, 3, vec![6])],
        vec![(259, 3, vec![34_712])],
        vec![(257, 4, vec![0])],
    ] {
        let message = message(&entries);
        assert!(message.starts_with("a.tif: ") && message.len() < 400, "{entries:?}: {message}");
    }
}

/// A tile of 3 arc seconds: a slope from west to east, one height in the first row, and voids.
pub(crate) fn hgt() -> Vec<u8> {
    let mut heights: Vec<i16> = (0..1201 * 1201).map(|n| (n % 1201) as i16 - 100).collect();
    heights[1200] = 4000;
    for void in [1201 * 5 + 7, 1201 * 600 + 600, 1201 * 600 + 601] {
        heights[void] = i16::MIN;
    }
    heights.iter().flat_map(|height| height.to_be_bytes()).collect()
}

#[test]
fn srtm_tiles_are_read_with_their_voids() {
    let options = HeightMapOptions::default().with_metres_per_voxel(Some(200.0));
    let map = HeightMap::parse(&hgt(), "x/S30W071.hgt", &options).unwrap();
    let summary = map.summary();
    assert_eq!((summary.size_samples, summary.void_count), ([1201; 2], Some(3)));
    assert_eq!(summary.range_metres, Some([-100.0, 4000.0]));
    // 111.32 km per degree of longitude at the equator, times the cosine of 29.5°.
    let [east, south] = summary.metres_per_sample;
    assert!((east - 92.767 * 0.870_356).abs() < 0.01 && (south - 92.61).abs() < 0.01);
    let columns = World::load(&map).unwrap().bounds().unwrap().size_voxels();
    assert_eq!([columns[0], columns[2]], [(1201.0 * east / 200.0).ceil() as u32, 557]);
    // Voxels as large as samples: voids are holes, or are filled from their neighbours.
    for voids in [Voids::Holes, Voids::Filled] {
        let coarse =
            HeightMapOptions::default().with_metres_per_sample(Some([50.0; 2])).with_voids(voids);
        let map = HeightMap::parse(&hgt(), "x.hgt", &coarse).unwrap();
        assert_eq!((map.summary().void_count, map.summary().voids), (Some(3), voids));
        let world = World::load(&map).unwrap();
        let expected = (voids == Voids::Filled).then_some(10);
        assert_eq!([600, 601].map(|x| top(&world, x, 600, -9, 90)), [expected; 2]);
        assert_eq!(top(&world, 1200, 0, -9, 90), Some(80));
        assert_eq!(top(&world, 599, 600, -9, 90), Some(10));
    }
    let cut = error(&hgt()[1..], "N47E011.hgt");
    assert!(
        cut.starts_with("N47E011.hgt: file: 2884801 bytes, not the size of a tile: 1201"),
        "{cut}"
    );
}
