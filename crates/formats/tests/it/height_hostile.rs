//! Damaged and hostile height maps: an error that names the position, quickly and without much
//! memory.

use std::time::{Duration, Instant};

use drystone_formats::{HeightMap, HeightMapOptions, Source, SourceError};
use drystone_testing::Random;
use png::BitDepth;
use tiff::encoder::Compression;
use tiff::encoder::colortype::{Gray16, Gray32Float};

use crate::height_helpers::{big_endian, error, grey_png, metre_by_metre};
use crate::height_tiff::{tiff_of, tiled};
use crate::programs;
use crate::world::World;

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let samples: Vec<u16> = (0..280).map(|n| n * 37 % 300).collect();
    let floats: Vec<f32> = samples.iter().map(|n| f32::from(*n)).collect();
    vec![
        ("cut.png", grey_png([40, 7], BitDepth::Sixteen, &big_endian(&samples))),
        ("cut.tif", tiff_of::<Gray16>(Compression::Uncompressed, &samples, true, Some("7"))),
        ("lzw.tif", tiff_of::<Gray32Float>(Compression::Lzw, &floats, false, None)),
        ("tiles.tif", tiled([35, 20], &[], 100)),
    ]
}

#[test]
fn every_prefix_is_an_error_or_a_valid_map() {
    for (name, bytes) in files() {
        let mut read = 0;
        for end in 0..bytes.len() {
            match HeightMap::parse(&bytes[..end], name, &metre_by_metre()) {
                // Only data after the samples may be missing.
                Ok(_) => read += 1,
                Err(error) => {
                    let line = error.to_string();
                    assert!(line.starts_with(&format!("{name}: ")), "{end}: {line}");
                    assert!(!line.contains('\n') && line.len() < 400, "{end}: {line}");
                }
            }
        }
        assert!(read <= 12, "{name}: {read} of {} prefixes were read", bytes.len());
        assert!(HeightMap::parse(&bytes, name, &metre_by_metre()).is_ok(), "{name}");
    }
}

#[test]
fn thousands_of_flips_of_bits() {
    for (name, bytes) in files() {
        let mut random = Random::new(bytes.len() as u64);
        let mut read = 0;
        for round in 0..3_000 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(4) {
                // Half of the changes are in the sizes and tags.
                let head = random.below(2) == 0 && name.ends_with("png");
                let at = random.below(if head { 60 } else { bytes.len() });
                damaged[at] ^= 1 << random.below(8);
            }
            let start = Instant::now();
            read += usize::from(programs::height_map(&damaged));
            assert!(start.elapsed() < Duration::from_secs(5), "{name} {round} took long");
        }
        assert!(read < 3_000, "{name}: no flip was seen");
    }
}

/// Creates a PNG whose header claims a size, with valid checksums.
fn lying_png(width: u32, height: u32) -> Vec<u8> {
    let honest = grey_png([2, 1], BitDepth::Eight, &[1, 2]);
    let mut bytes = honest.clone();
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = crc32(&bytes[12..29]).to_be_bytes();
    bytes[29..33].copy_from_slice(&sum);
    // The same checksum rule gives the encoder's value for the original header.
    assert_eq!(crc32(&honest[12..29]).to_be_bytes(), honest[29..33]);
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    })
}

#[test]
fn false_sizes_take_no_memory() {
    let start = Instant::now();
    let huge = error(&lying_png(65_535, 65_535), "a.png");
    assert!(huge.contains("header: 65535 x 65535 samples, at most 134217728 are taken"), "{huge}");
    let large = lying_png(11_585, 11_585);
    let expected = format!("claims 11585 x 11585 samples in {} bytes", large.len());
    assert!(error(&large, "a.png").contains(&expected));
    let more = error(&lying_png(40, 40), "a.png");
    assert!(more.starts_with("a.png: picture: "), "{more}");
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn extreme_heights_and_scales_are_refused() {
    let parse = |bytes: &[u8], name: &str, options: &HeightMapOptions| match HeightMap::parse(
        bytes, name, options,
    ) {
        Ok(_) => panic!("was read"),
        Err(error @ SourceError::Malformed { .. }) => error.to_string(),
        Err(other) => panic!("{other}"),
    };
    let mut floats = [5.0_f32; 280];
    floats[77] = 1e30;
    let far = tiff_of::<Gray32Float>(Compression::Lzw, &floats, false, None);
    let message = parse(&far, "a.tif", &metre_by_metre());
    assert!(message.contains("heights: ") && message.ends_with("use more metres per voxel"));
    let bytes = grey_png([2, 2], BitDepth::Sixteen, &big_endian(&[0, 1, 2, 65_535]));
    let options = |metres_per_voxel: f64| {
        HeightMapOptions::default().with_metres_per_voxel(Some(metres_per_voxel))
    };
    let wide = parse(&bytes, "a.png", &options(1e-6));
    assert!(wide.contains("size: more than 16777216 voxels wide"), "{wide}");
    let many = parse(&bytes, "a.png", &options(0.01));
    assert!(many.contains("size: reaches into ") && many.contains("at most 16777216"), "{many}");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(parse(&bytes, "a.png", &options(bad)).starts_with("a.png: options: "));
        let scaled = metre_by_metre().with_vertical_scale(bad);
        assert!(parse(&bytes, "a.png", &scaled).starts_with("a.png: options: "));
    }
    let snow = metre_by_metre().with_snow_line_metres(0.0);
    assert!(parse(&bytes, "a.png", &snow).contains("a snow line above the sea level"));
}

#[test]
fn a_map_of_voids_is_empty() {
    let floats = [f32::NAN; 280];
    let file = tiff_of::<Gray32Float>(Compression::Lzw, &floats, false, None);
    let map = HeightMap::parse(&file, "a.tif", &metre_by_metre()).unwrap();
    assert_eq!((map.summary().void_count, map.summary().range_metres), (Some(280), None));
    assert!(map.chunk_positions().is_empty() && World::load(&map).unwrap().is_empty());
}

#[test]
fn other_files_are_no_height_maps() {
    let message = match HeightMap::parse(b"VOX 150", "a.vox", &metre_by_metre()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("was read"),
    };
    assert!(message.starts_with("a.vox: not a height map: it begins with \"VOX \"; supported: "));
}
