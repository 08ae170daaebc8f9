//! Handmade height maps and their expected results.

use drystone_formats::{HeightMap, HeightMapOptions};
use drystone_voxel::VoxelPos;

use crate::world::World;

/// Creates a greyscale PNG from rows of big-endian samples.
pub(crate) fn grey_png(size: [u32; 2], depth: png::BitDepth, samples: &[u8]) -> Vec<u8> {
    png_of(size, png::ColorType::Grayscale, depth, samples)
}

pub(crate) fn png_of(
    [width, height]: [u32; 2],
    color: png::ColorType,
    depth: png::BitDepth,
    samples: &[u8],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(samples).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Converts 16-bit samples to the byte order of a PNG.
pub(crate) fn big_endian(samples: &[u16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_be_bytes()).collect()
}

/// Options for one voxel per sample and metre.
pub(crate) fn metre_by_metre() -> HeightMapOptions {
    HeightMapOptions::default().with_metres_per_sample(Some([1.0; 2]))
}

pub(crate) fn world(bytes: &[u8], name: &str, options: &HeightMapOptions) -> World {
    World::load(&HeightMap::parse(bytes, name, options).unwrap()).unwrap()
}

pub(crate) fn error(bytes: &[u8], name: &str) -> String {
    match HeightMap::parse(bytes, name, &HeightMapOptions::default()) {
        Ok(_) => panic!("{name} was read"),
        Err(error) => error.to_string(),
    }
}

/// Returns the first air voxel above the ground of a column, with the ground from `low` to `high`.
/// `None` if all of these voxels are air.
pub(crate) fn top(world: &World, x: i32, z: i32, low: i32, high: i32) -> Option<i32> {
    let solid = |y: &i32| !world.get(VoxelPos::new(x, *y, z)).is_air();
    (low..high).rev().find(solid).map(|y| y + 1)
}

/// Returns the name of a voxel's material, or an empty string for air.
pub(crate) fn name_at(world: &World, x: i32, y: i32, z: i32) -> String {
    let material = world.get(VoxelPos::new(x, y, z));
    let kind = world.materials().get(material).unwrap();
    if material.is_air() { String::new() } else { kind.name.clone() }
}
