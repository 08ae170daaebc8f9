//! Compares all 48 rotations and reflections with a reference that moves the centres of voxels by
//! real matrices.

use std::collections::BTreeMap;

use drystone_voxel::VoxelPos;

use crate::vox_bytes::{chunk, file, group, model, open, shape, transform, voxels, words};

type Matrix = [[f64; 3]; 3];

/// Returns every matrix with one entry of ±1 in each row and column, with its byte in the format's
/// specification.
fn rotations() -> Vec<(u8, Matrix)> {
    let mut all = Vec::new();
    for first in 0..3 {
        for second in (0..3).filter(|&c| c != first) {
            let third = 3 - first - second;
            for signs in 0..8_u8 {
                let mut matrix = [[0.0; 3]; 3];
                for (row, column) in [first, second, third].into_iter().enumerate() {
                    matrix[row][column] = if signs >> row & 1 == 0 { 1.0 } else { -1.0 };
                }
                all.push(((first | second << 2) as u8 | signs << 4, matrix));
            }
        }
    }
    assert_eq!(all.len(), 48);
    all
}

fn apply(matrix: &Matrix, p: [f64; 3], t: [i32; 3]) -> [f64; 3] {
    [0, 1, 2].map(|r| (0..3).map(|c| matrix[r][c] * p[c]).sum::<f64>() + f64::from(t[r]))
}

/// A model whose reflections all differ: an L with a foot, with one odd and two even sides.
const SIZE: [u32; 3] = [5, 4, 2];
const VOXELS: [[u8; 4]; 7] = [
    [0, 0, 0, 1],
    [1, 0, 0, 2],
    [2, 0, 0, 3],
    [4, 0, 0, 4],
    [0, 1, 0, 5],
    [0, 3, 0, 6],
    [0, 0, 1, 7],
];

/// Returns the model's voxels in the reference: rotated about the corner at half its size, rounded
/// down.
fn twin(steps: &[(&Matrix, [i32; 3])]) -> BTreeMap<VoxelPos, u8> {
    let place = |voxel: &[u8; 4]| {
        let mut p = [0, 1, 2].map(|i| f64::from(voxel[i]) + 0.5 - f64::from(SIZE[i] / 2));
        for (matrix, t) in steps {
            p = apply(matrix, p, *t);
        }
        // Converts Z up to Y up: x stays, z becomes y, and y becomes -z.
        let [x, y, z] = [p[0], p[2], -p[1]].map(|c| c.floor() as i32);
        (VoxelPos::new(x, y, z), voxel[3])
    };
    VOXELS.iter().map(place).collect()
}

#[test]
fn every_rotation_equals_its_matrix() {
    for (byte, matrix) in rotations() {
        let (r, t) = (byte.to_string(), [3, -40, 31]);
        let found = voxels(&open(&[
            model(SIZE, &VOXELS),
            transform(0, &[], 1, u32::MAX, &[&[("_r", &r), ("_t", "3 -40 31")]]),
            shape(1, &[(0, &[])]),
        ]));
        assert_eq!(found, twin(&[(&matrix, t)]), "byte {byte}");
    }
}

#[test]
fn nested_rotations_equal_their_product() {
    let all = rotations();
    for (inner_byte, inner) in &all {
        let (a, t) = (inner_byte.to_string(), [1, 2, 3]);
        // One group with a transform for each outer rotation, far apart from each other.
        let mut chunks = vec![model(SIZE, &VOXELS)];
        let mut children = Vec::new();
        let mut expected = BTreeMap::new();
        for (i, (outer_byte, outer)) in all.iter().enumerate() {
            let place = [i as i32 * 20 - 480, 7, -9];
            let (b, s) = (outer_byte.to_string(), format!("{} 7 -9", place[0]));
            let id = 10 + 2 * i as u32;
            children.push(id);
            chunks.push(transform(id, &[], id + 1, u32::MAX, &[&[("_r", &b), ("_t", &s)]]));
            chunks.push(group(id + 1, &[2]));
            expected.extend(twin(&[(inner, t), (outer, place)]));
        }
        chunks.push(transform(2, &[], 3, 0, &[&[("_r", &a), ("_t", "1 2 3")]]));
        chunks.push(shape(3, &[(0, &[])]));
        chunks.push(transform(0, &[], 1, u32::MAX, &[&[]]));
        chunks.push(group(1, &children));
        assert_eq!(voxels(&open(&chunks)), expected, "inner byte {inner_byte}");
    }
}

/// Conversion keeps right-handedness: seen from above, the turn from MagicaVoxel's X to Y is
/// counter-clockwise. It must be so in our axes too, where Z points down on the page.
#[test]
fn nothing_is_mirrored() {
    let found = voxels(&open(&[model(
        [3, 3, 3],
        &[[0, 0, 0, 1], [2, 0, 0, 2], [0, 2, 0, 3], [0, 0, 2, 4]],
    )]));
    let at = |color: u8| *found.iter().find(|(_, c)| **c == color).unwrap().0;
    let from_corner = |color: u8| {
        let (a, b) = (at(1), at(color));
        [b.x - a.x, b.y - a.y, b.z - a.z]
    };
    let [x, y, z] = [2, 3, 4].map(from_corner);
    assert_eq!([x, y, z], [[2, 0, 0], [0, 0, -2], [0, 2, 0]]);
    let cross = [y[1] * z[2] - y[2] * z[1], y[2] * z[0] - y[0] * z[2], y[0] * z[1] - y[1] * z[0]];
    let triple: i32 = (0..3).map(|i| x[i] * cross[i]).sum();
    assert!(triple > 0, "a mirror image: {triple}");
}

#[test]
fn invalid_rotations_are_reported() {
    for byte in ["0", "3", "5", "10", "12", "-1", "256", "four", ""] {
        let message = drystone_formats::VoxFile::parse(
            &file(&[
                model(SIZE, &VOXELS),
                transform(0, &[], 7, 0, &[&[("_r", byte)]]),
                shape(7, &[(0, &[])]),
                chunk("NOTE", &words(&[0])),
            ]),
            "r.vox",
        )
        .unwrap_err()
        .to_string();
        assert!(message.starts_with("r.vox: scene node 0: its rotation"), "{message}");
    }
}
