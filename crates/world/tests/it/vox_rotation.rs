//! All 48 rotations and reflections against a twin that moves the middles of voxels by
//! matrices of real numbers.

use std::collections::BTreeMap;

use drystone_voxel::VoxelPos;

use crate::vox_bytes::{chunk, file, group, model, open, shape, transform, voxels, words};

type Matrix = [[f64; 3]; 3];

/// Every matrix of one entry of ±1 in each row and column, with the byte that the format's
/// text gives it.
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

/// A model whose every reflection differs: an L with a foot, in an odd and two even sides.
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

/// Where the twin puts the model: turned about the corner at half its size, rounded down.
fn twin(steps: &[(&Matrix, [i32; 3])]) -> BTreeMap<VoxelPos, u8> {
    let place = |voxel: &[u8; 4]| {
        let mut p = [0, 1, 2].map(|i| f64::from(voxel[i]) + 0.5 - f64::from(SIZE[i] / 2));
        for (matrix, t) in steps {
            p = apply(matrix, p, *t);
        }
        // Z up to Y up: x stays, z becomes up, y runs against our z.
        let [x, y, z] = [p[0], p[2], -p[1]].map(|c| c.floor() as i32);
        (VoxelPos::new(x, y, z), voxel[3])
    };
    VOXELS.iter().map(place).collect()
}

#[test]
fn every_rotation_is_the_matrix_it_stands_for() {
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
fn every_rotation_within_every_rotation() {
    let all = rotations();
    for (inner_byte, inner) in &all {
        let (a, t) = (inner_byte.to_string(), [1, 2, 3]);
        // Under one group, a transform for each outer rotation, far enough from the next.
        let mut chunks = vec![model(SIZE, &VOXELS)];
        let mut children = Vec::new();
        let mut want = BTreeMap::new();
        for (i, (outer_byte, outer)) in all.iter().enumerate() {
            let place = [i as i32 * 20 - 480, 7, -9];
            let (b, s) = (outer_byte.to_string(), format!("{} 7 -9", place[0]));
            let id = 10 + 2 * i as u32;
            children.push(id);
            chunks.push(transform(id, &[], id + 1, u32::MAX, &[&[("_r", &b), ("_t", &s)]]));
            chunks.push(group(id + 1, &[2]));
            want.extend(twin(&[(inner, t), (outer, place)]));
        }
        chunks.push(transform(2, &[], 3, 0, &[&[("_r", &a), ("_t", "1 2 3")]]));
        chunks.push(shape(3, &[(0, &[])]));
        chunks.push(transform(0, &[], 1, u32::MAX, &[&[]]));
        chunks.push(group(1, &children));
        assert_eq!(voxels(&open(&chunks)), want, "inner byte {inner_byte}");
    }
}

/// The identity must keep right-handedness: seen from above (our Y), MagicaVoxel's X to Y
/// turns counter-clockwise; so it must in our picture, where Z runs down the page.
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
fn bytes_that_are_no_rotation_are_named() {
    for byte in ["0", "3", "5", "10", "12", "-1", "256", "four", ""] {
        let message = drystone_world::VoxFile::parse(
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
