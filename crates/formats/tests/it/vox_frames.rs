//! Frames of animated files.

use drystone_formats::{Source, VoxFile, VoxOptions};
use drystone_voxel::VoxelPos;

use crate::vox_bytes::{
    NO_LAYER, chunk, error, file, group, model, open, shape, transform, voxels, words,
};

/// Creates a model of one voxel of this colour.
fn dot(color: u8) -> Vec<u8> {
    model([1, 1, 1], &[[0, 0, 0, color]])
}

fn at_frame(chunks: &[Vec<u8>], frame: u32) -> VoxFile {
    let options = VoxOptions::default().with_frame(frame);
    VoxFile::parse_with(&file(chunks), "test.vox", &options).unwrap()
}

/// Returns the only voxel of a frame: its X and its colour.
fn seen(chunks: &[Vec<u8>], frame: u32) -> (i32, u8) {
    let file = at_frame(chunks, frame);
    assert_eq!(file.summary().frame, frame);
    let voxels: Vec<_> = voxels(&file).into_iter().collect();
    assert_eq!(voxels.len(), 1, "{voxels:?}");
    (voxels[0].0.x, voxels[0].1)
}

/// A dot that moves, in three colours.
fn moving(attributes: &[(&str, &str)]) -> Vec<Vec<u8>> {
    vec![
        dot(1),
        dot(2),
        dot(3),
        transform(
            0,
            attributes,
            1,
            0,
            // In any order. Of two keys with one number, the first one counts.
            &[
                &[("_f", "9"), ("_t", "50 0 0")],
                &[("_f", "2"), ("_t", "10 0 0")],
                &[("_f", "2"), ("_t", "99 0 0")],
                &[("_f", "5"), ("_t", "20 0 0")],
            ],
        ),
        shape(1, &[(0, &[]), (1, &[("_f", "4")]), (2, &[("_f", "11")])]),
    ]
}

#[test]
fn a_key_counts_until_the_next_one() {
    let chunks = moving(&[]);
    assert_eq!(open(&chunks).summary().frame_count, 12);
    let expected = [(0, (10, 1)), (2, (10, 1)), (3, (10, 1)), (4, (10, 2)), (5, (20, 2))];
    for (frame, it) in expected.into_iter().chain([(9, (50, 2)), (10, (50, 2)), (11, (50, 3))]) {
        assert_eq!(seen(&chunks, frame), it, "frame {frame}");
    }
    let identities = [0, 3, 4].map(|frame| at_frame(&chunks, frame).identity());
    assert_eq!(identities[0], open(&chunks).identity());
    assert!(identities[1] != identities[0] && identities[1] != identities[2]);
}

/// The keys of frames 2 to 9 repeat from frame 10 on.
#[test]
fn keys_of_a_loop_repeat() {
    let chunks = moving(&[("_loop", "1")]);
    assert_eq!(seen(&chunks, 9), (50, 2));
    assert_eq!(seen(&chunks, 10), (10, 2));
    assert_eq!(seen(&chunks, 11), (10, 3));
}

/// The models of an old file with a PACK chunk are frames, each at the origin.
#[test]
fn packed_models_are_frames() {
    let chunks = [
        chunk("PACK", &words(&[2])),
        model([2, 3, 4], &[[0, 0, 0, 1], [1, 2, 3, 2]]),
        model([1, 1, 1], &[[0, 0, 0, 3]]),
    ];
    let first = [(VoxelPos::new(0, 0, 2), 1), (VoxelPos::new(1, 3, 0), 2)];
    assert_eq!(voxels(&open(&chunks)).into_iter().collect::<Vec<_>>(), first);
    assert_eq!(seen(&chunks, 1), (0, 3));
    let summary = open(&chunks).summary().clone();
    assert_eq!((summary.frame_count, summary.instance_count, summary.model_count), (2, 1, 2));
    // In a file with a scene, the chunk says nothing.
    let scene = [transform(0, &[], 1, NO_LAYER, &[&[]]), group(1, &[2, 3])];
    let shapes = [shape(2, &[(0, &[])]), shape(3, &[(1, &[])])];
    let both = open(&[chunks.to_vec(), scene.to_vec(), shapes.to_vec()].concat());
    assert_eq!((both.summary().frame_count, both.summary().instance_count), (1, 2));
}

#[test]
fn frames_that_a_file_does_not_have_are_reported() {
    let message = |chunks: &[Vec<u8>], frame| {
        let options = VoxOptions::default().with_frame(frame);
        VoxFile::parse_with(&file(chunks), "test.vox", &options).unwrap_err().to_string()
    };
    let of_scene = message(&moving(&[]), 12);
    assert!(
        of_scene.starts_with("test.vox: frame 12: the file has 12 frames, 0 to 11;"),
        "{of_scene}"
    );
    let packed = [chunk("PACK", &words(&[2])), dot(1), dot(2)];
    assert!(message(&packed, 2).contains("frame 2: the file has 2 frames, 0 to 1;"));
    for still in [vec![dot(1)], vec![dot(1), transform(0, &[], 1, 0, &[]), shape(1, &[(0, &[])])]] {
        assert!(message(&still, 1).contains("frame 1: the file is not animated"));
        assert!(message(&still, u32::MAX).contains("it has only frame 0"));
    }
}

#[test]
fn invalid_keys_are_reported() {
    for number in ["-1", "x", "", "65536", "99999999999999999999", "1.5"] {
        let expected = format!("test.vox: scene node 0: its frame {number:?} is not a number from");
        let root = transform(0, &[], 1, 0, &[&[("_f", number)]]);
        let message = error(&[dot(1), root, group(1, &[])]);
        assert!(message.starts_with(&expected), "{message}");
        let shape = shape(1, &[(0, &[("_f", number)])]);
        let message = error(&[dot(1), transform(0, &[], 1, 0, &[&[]]), shape]);
        assert!(message.contains("scene node 1: its frame "), "{message}");
    }
    // The last frame is far away. Nothing is allocated for those before.
    let last = [dot(1), transform(0, &[], 1, 0, &[&[("_f", " 65535 ")]]), shape(1, &[(0, &[])])];
    assert_eq!(open(&last).summary().frame_count, 65_536);
}
