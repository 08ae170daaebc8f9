//! `boxes`: divides the solid voxels of terrain into boxes, as physics engines need them.

use std::hint::black_box;

use drystone_voxel::{BoxMesher, PaddedChunk, VoxelBox, VoxelPos};

use super::{Input, MIN_MESHES};
use crate::{Contender, Error, Failure, Figure, Run, rounds::timed};

pub(super) fn run(run: &mut Run<'_>, case: &str, inputs: &[Input]) -> Result<(), Error> {
    let (mut mesher, mut boxes) = (BoxMesher::new(), Vec::new());
    run.case(case, || {
        Ok(vec![Contender::new("drystone", || {
            let repeats = MIN_MESHES.div_ceil(inputs.len());
            let mut mesh = |input: &Input, boxes: &mut Vec<VoxelBox>| {
                mesher.mesh(input.padded(), |material| !material.is_air(), boxes);
            };
            let ((), ns) = timed(|| {
                for input in (0..repeats).flat_map(|_| inputs) {
                    mesh(black_box(input), &mut boxes);
                    black_box(&boxes);
                }
            });
            let mut count = 0;
            for input in inputs {
                mesh(input, &mut boxes);
                check(input.padded(), &boxes)?;
                count += boxes.len();
            }
            Ok(vec![
                Figure::new("time", "us/chunk", ns / 1e3 / (repeats * inputs.len()) as f64),
                Figure::new("boxes", "boxes/chunk", count as f64 / inputs.len() as f64),
            ])
        })])
    })
}

/// Checks that each solid voxel is in exactly one box, and no other voxel in any.
fn check(chunk: &PaddedChunk, boxes: &[VoxelBox]) -> Result<(), Failure> {
    let n = chunk.side();
    let mut covered = vec![0_u32; (n * n * n) as usize];
    for each in boxes {
        let [min, max] = [each.min, each.max].map(VoxelPos::to_array);
        for (z, y) in (min[2]..max[2]).flat_map(|z| (min[1]..max[1]).map(move |y| (z, y))) {
            for x in min[0]..max[0] {
                let [x, y, z] = [x, y, z].map(|c| c as u32);
                covered[(x + n * (y + n * z)) as usize] += 1;
            }
        }
    }
    let expected = (0..n * n * n).map(|i| [i % n, i / n % n, i / (n * n)]);
    let expected = expected.map(|at| u32::from(!chunk.get(at.map(|c| c + 1)).is_air()));
    if expected.eq(covered) { Ok(()) } else { Err("the boxes do not cover the voxels".into()) }
}
