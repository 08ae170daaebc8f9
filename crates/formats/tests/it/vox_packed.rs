//! Models in the packed format of the game Teardown.

use std::io::Write;
use std::time::{Duration, Instant};

use drystone_formats::VoxFile;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::programs;
use crate::vox_bytes::{
    NO_LAYER, chunk, error, file, group, model, open, packed, palette, shape, transform, voxels,
    words,
};
use crate::vox_hostile::flip_bits;
use crate::world::World;

/// Sorted as in a packed model, so that a plain model lists the same voxels.
const VOXELS: [[u8; 4]; 5] =
    [[0, 0, 0, 1], [4, 0, 0, 255], [1, 2, 0, 7], [0, 0, 6, 1], [4, 2, 6, 254]];
const SIZE: [u32; 3] = [5, 3, 7];

/// Creates a scene of three models. `make` makes the first and the last one.
fn scene(make: impl Fn([u32; 3], &[[u8; 4]]) -> Vec<u8>) -> Vec<Vec<u8>> {
    vec![
        make(SIZE, &VOXELS),
        model([2, 1, 1], &[[1, 0, 0, 9]]),
        make([1, 1, 2], &[[0, 0, 1, 40]]),
        transform(0, &[], 1, NO_LAYER, &[&[]]),
        group(1, &[2, 4, 6]),
        transform(2, &[("_name", "wall")], 3, NO_LAYER, &[&[("_r", "17"), ("_t", "-20 3 9")]]),
        shape(3, &[(0, &[])]),
        transform(4, &[], 5, NO_LAYER, &[&[("_t", "7 0 0")]]),
        shape(5, &[(1, &[])]),
        transform(6, &[], 7, NO_LAYER, &[&[("_t", "0 40 0")]]),
        shape(7, &[(2, &[])]),
        palette(|n| [n, n, n, 255]),
    ]
}

#[test]
fn packed_models_equal_plain_ones() {
    let (plain, unpacked) = (open(&scene(model)), open(&scene(packed)));
    assert_eq!(voxels(&unpacked), voxels(&plain));
    assert_eq!(unpacked.summary(), plain.summary());
    assert_eq!(World::load(&unpacked).unwrap().solid_count(), 7);
    // Also with the size in a separate chunk, as the tools write it, and without a scene.
    let sized = [[chunk("SIZE", &words(&SIZE)), packed(SIZE, &VOXELS)].concat()];
    assert_eq!(voxels(&open(&sized)), voxels(&open(&[model(SIZE, &VOXELS)])));
}

#[test]
fn a_stream_may_have_an_end_marker() {
    let mut content = ZlibEncoder::new(words(&[3, 1, 1]), Compression::fast());
    content.write_all(&[5, 0, 6]).unwrap();
    let ended = chunk("TDCZ", &content.finish().unwrap());
    let expected = model([3, 1, 1], &[[0, 0, 0, 5], [2, 0, 0, 6]]);
    assert_eq!(voxels(&open(&[ended])), voxels(&open(&[expected])));
    // A model without voxels.
    let none = open(&[packed([0, 4, 4], &[]), packed(SIZE, &VOXELS)]);
    assert_eq!((none.summary().model_count, voxels(&none).len()), (2, 5));
}

#[test]
fn damaged_packed_models_are_reported() {
    let whole = packed(SIZE, &VOXELS);
    let content = &whole[12..];
    let with = |size: [u32; 3], rest: &[u8]| chunk("TDCZ", &[&words(&size), rest].concat());
    for (bad, problem) in [
        (chunk("TDCZ", &content[..11]), "11 bytes are too few for its size"),
        (with([257, 1, 1], &content[12..]), "a model of 257 x 1 x 1 voxels"),
        (with(SIZE, &[]), "its compressed voxels are damaged, 105 voxels are missing"),
        (with(SIZE, b"not zlib"), "its compressed voxels are damaged, 105 voxels are missing"),
        (with(SIZE, &content[12..20]), "its compressed voxels are damaged"),
        (
            with([6, 3, 7], &content[12..]),
            "its compressed voxels are damaged, 21 voxels are missing",
        ),
    ] {
        let message = error(&[model([1, 1, 1], &[[0, 0, 0, 1]]), bad]);
        let expected = format!("test.vox: chunk TDCZ at byte 64: {problem}");
        assert!(message.starts_with(&expected), "{message}");
    }
    let bytes = file(&scene(packed));
    for end in 20..bytes.len() {
        let mut cut = bytes[..end].to_vec();
        cut[16..20].copy_from_slice(&(end as u32 - 20).to_le_bytes());
        programs::vox(&cut);
    }
    let read = flip_bits(&bytes, 2_000, |_| true);
    assert!((100..1_900).contains(&read), "{read}");
}

/// A few hundred kilobytes that claim to be gigabytes of voxels.
#[test]
fn packed_models_are_bounded() {
    let start = Instant::now();
    let fill = |color: u8| {
        let mut content = ZlibEncoder::new(words(&[256; 3]), Compression::fast());
        content.write_all(&vec![color; 1 << 24]).unwrap();
        chunk("TDCZ", &content.finish().unwrap())
    };
    let (empty, full) = (fill(0), fill(1));
    assert!(full.len() < 200_000);
    let message = error(&vec![empty.clone(); 65]);
    assert!(message.contains("packed models of more than 1073741824 voxels"), "{message}");
    let message = error(&vec![full; 5]);
    assert!(message.contains("more than 67108864 voxels in packed models"), "{message}");
    let file = VoxFile::parse(&file(&[empty, packed(SIZE, &VOXELS)]), "empty.vox").unwrap();
    assert_eq!(World::load(&file).unwrap().solid_count(), 5);
    assert!(start.elapsed() < Duration::from_secs(20));
}
