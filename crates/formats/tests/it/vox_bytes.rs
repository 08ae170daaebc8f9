//! Writes `.vox` files, also invalid ones, chunk by chunk as in the format's specification.

use std::collections::BTreeMap;
use std::io::Write;

use drystone_formats::{Source, VoxFile};
use drystone_voxel::VoxelPos;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::world::World;

pub(crate) type Dict<'a> = &'a [(&'a str, &'a str)];

/// Creates a chunk without children.
pub(crate) fn chunk(id: &str, content: &[u8]) -> Vec<u8> {
    parent(id, content, &[])
}

pub(crate) fn parent(id: &str, content: &[u8], children: &[u8]) -> Vec<u8> {
    let sizes = words(&[content.len() as u32, children.len() as u32]);
    [id.as_bytes(), &sizes, content, children].concat()
}

/// Creates a file of these chunks.
pub(crate) fn file(chunks: &[Vec<u8>]) -> Vec<u8> {
    [b"VOX ".to_vec(), words(&[200]), parent("MAIN", &[], &chunks.concat())].concat()
}

pub(crate) fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

pub(crate) fn dict(entries: Dict) -> Vec<u8> {
    let text = |s: &str| [&words(&[s.len() as u32]), s.as_bytes()].concat();
    let texts = entries.iter().flat_map(|(key, value)| [text(key), text(value)].concat());
    words(&[entries.len() as u32]).into_iter().chain(texts).collect()
}

/// Creates SIZE and XYZI chunks. A voxel is x, y, z and the colour's index from 1.
pub(crate) fn model(size: [u32; 3], voxels: &[[u8; 4]]) -> Vec<u8> {
    let content = [words(&[voxels.len() as u32]), voxels.concat()].concat();
    [chunk("SIZE", &words(&size)), chunk("XYZI", &content)].concat()
}

/// Creates a packed model of the game Teardown. Its stream has no end marker, as in files of its
/// tools.
pub(crate) fn packed(size: [u32; 3], voxels: &[[u8; 4]]) -> Vec<u8> {
    let [width, depth, height] = size.map(|side| side as usize);
    let mut places = vec![0; width * depth * height];
    for &[x, y, z, color] in voxels {
        let [x, y, z] = [x, y, z].map(usize::from);
        places[x + width * (y + depth * z)] = color;
    }
    let mut stream = ZlibEncoder::new(words(&size), Compression::best());
    stream.write_all(&places).unwrap();
    stream.flush().unwrap();
    chunk("TDCZ", stream.get_ref())
}

pub(crate) const NO_LAYER: u32 = u32::MAX;

pub(crate) fn transform(
    id: u32,
    attributes: Dict,
    child: u32,
    layer: u32,
    frames: &[Dict],
) -> Vec<u8> {
    let mut content = [words(&[id]), dict(attributes), words(&[child, u32::MAX, layer])].concat();
    content.extend(words(&[frames.len() as u32]));
    content.extend(frames.iter().flat_map(|frame| dict(frame)));
    chunk("nTRN", &content)
}

pub(crate) fn group(id: u32, children: &[u32]) -> Vec<u8> {
    let head = [words(&[id]), dict(&[]), words(&[children.len() as u32])].concat();
    chunk("nGRP", &[head, words(children)].concat())
}

pub(crate) fn shape(id: u32, models: &[(u32, Dict)]) -> Vec<u8> {
    let mut content = [words(&[id]), dict(&[]), words(&[models.len() as u32])].concat();
    for (model, attributes) in models {
        content.extend([words(&[*model]), dict(attributes)].concat());
    }
    chunk("nSHP", &content)
}

pub(crate) fn layer(id: u32, attributes: Dict) -> Vec<u8> {
    chunk("LAYR", &[words(&[id]), dict(attributes), words(&[u32::MAX])].concat())
}

pub(crate) fn material(id: u32, properties: Dict) -> Vec<u8> {
    chunk("MATL", &[words(&[id]), dict(properties)].concat())
}

/// Creates a palette whose colour `n` (from 1) is `color(n)`.
pub(crate) fn palette(color: impl Fn(u8) -> [u8; 4]) -> Vec<u8> {
    let colors = (1..=255).chain([0]).flat_map(color);
    chunk("RGBA", &colors.collect::<Vec<u8>>())
}

/// Reads a file of these chunks.
pub(crate) fn open(chunks: &[Vec<u8>]) -> VoxFile {
    VoxFile::parse(&file(chunks), "test.vox").unwrap()
}

/// Returns the error message for a file of these chunks.
pub(crate) fn error(chunks: &[Vec<u8>]) -> String {
    VoxFile::parse(&file(chunks), "test.vox").unwrap_err().to_string()
}

/// Returns every voxel of a source with its colour's index, which is the last word of its
/// material's name.
pub(crate) fn voxels(source: &dyn Source) -> BTreeMap<VoxelPos, u8> {
    let world = World::load(source).unwrap();
    let color = |material| {
        let name = &world.materials().get(material).unwrap().name;
        name.rsplit(' ').next().unwrap().parse().unwrap()
    };
    world.voxels().map(|(at, material)| (at, color(material))).collect()
}
