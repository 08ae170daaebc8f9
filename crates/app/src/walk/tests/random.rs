//! Walks in random worlds.

use std::collections::HashSet;

use drystone_testing::Random;

use super::*;

/// Side of the random worlds, in voxels, and their highest voxel.
const SIDE: i32 = 12;
const TOP: i32 = 7;
const BOX: (DVec3, DVec3) = (DVec3::ZERO, DVec3::new(12.0, 8.0, 12.0));

type Solid = HashSet<VoxelPos>;

/// Hills with steps of up to three voxels, holes down to the floor of the world, and loose voxels.
fn random_world(random: &mut Random, loose: u32) -> Solid {
    let mut solid = Solid::new();
    for (x, z) in (0..SIDE).flat_map(|x| (0..SIDE).map(move |z| (x, z))) {
        let height = random.below(4_i32);
        solid.extend((0..height).map(|y| VoxelPos::new(x, y, z)));
    }
    for _ in 0..loose {
        let [x, y, z] = [SIDE, TOP, SIDE].map(|side| random.below(side));
        solid.insert(VoxelPos::new(x, y, z));
    }
    solid
}

/// Whether the body overlaps a voxel, from the distances of their middles.
fn is_inside(eye: DVec3, solid: &Solid) -> bool {
    let middle = eye + DVec3::Y * (ABOVE_EYE - EYE_HEIGHT) / 2.0;
    let half = DVec3::new(HALF_WIDTH, (ABOVE_EYE + EYE_HEIGHT) / 2.0, HALF_WIDTH);
    solid.iter().any(|voxel| {
        let voxel = DVec3::from_array(voxel.to_array().map(f64::from)) + 0.5;
        (middle - voxel).abs().cmplt(half + 0.5 - GAP / 2.0).all()
    })
}

/// Whether the body would overlap a voxel, or leave the world, a little lower.
fn is_supported(eye: DVec3, solid: &Solid) -> bool {
    eye.y - EYE_HEIGHT < 0.01 || is_inside(eye - DVec3::Y * 0.01, solid)
}

fn random_stride(random: &mut Random) -> Stride {
    let angle = random.unit() * std::f64::consts::TAU;
    let direction = match random.below(4_u32) {
        0 => DVec3::ZERO,
        _ => DVec3::new(angle.cos(), 0.0, angle.sin()),
    };
    let boost = [1.0, RUN, 0.25][random.below(3_usize)];
    Stride { direction, jumps: random.below(2_u32) == 0, boost }
}

/// In any world, with any keys and frames: the body is never inside a voxel and never outside the
/// world, and without keys it comes to rest on something.
#[test]
fn walkers_are_never_inside_voxels_or_stuck_in_the_air() {
    let mut random = Random::new(11);
    for round in 0..60 {
        let solid = random_world(&mut random, 40 * (round % 4));
        let mut is_solid = |at: VoxelPos| solid.contains(&at);
        let mut eye = lowered(DVec3::new(5.5, 99.0, 5.5), BOX, &mut is_solid);
        let mut walk = Walk::default();
        for _ in 0..40 {
            let stride = random_stride(&mut random);
            let seconds = [0.002, 0.016, 0.05, 0.1][random.below(4_usize)];
            for _ in 0..(0.4 / seconds) as u32 {
                walk.step(&mut eye, stride, seconds, BOX, &mut is_solid);
                assert!(!is_inside(eye, &solid), "{round}: {eye}");
                let low = eye - DVec3::new(HALF_WIDTH, EYE_HEIGHT, HALF_WIDTH);
                let high = eye + DVec3::new(HALF_WIDTH, 0.0, HALF_WIDTH);
                assert!(low.min_element() >= 0.0, "{round}: {eye}");
                assert!(high.x <= BOX.1.x && high.z <= BOX.1.z, "{round}: {eye}");
                assert!((0.0..=MAX_LAG).contains(&walk.lag), "{round}: {walk:?}");
            }
        }
        for _ in 0..150 {
            walk.step(&mut eye, STILL, 0.02, BOX, &mut is_solid);
        }
        assert!(walk.is_at_rest() && is_supported(eye, &solid), "{round}: {eye} {walk:?}");
        // The walker is not caught: where a neighbour column is free at its height, it gets there.
        let rest = eye;
        walk.step(&mut eye, STILL, 0.1, BOX, &mut is_solid);
        assert_eq!(eye, rest, "{round}: moves without a stride");
    }
}

/// Walks along X by tiny steps: the body moves if it is free, else up a voxel if it stands, and falls.
fn twin(mut eye: DVec3, along: f64, seconds: f64, solid: &Solid) -> Vec<DVec3> {
    const STEP: f64 = 2e-4;
    let (mut fall_speed, mut way) = (0.0, Vec::new());
    for step in 1..=(seconds / STEP).round() as u32 {
        let stands = is_supported_closely(eye, solid);
        let to = eye + DVec3::X * (along * STEP);
        let up = DVec3::Y * (1.0 + GAP);
        let is_within = to.x > HALF_WIDTH && to.x < BOX.1.x - HALF_WIDTH;
        if is_within && !is_inside(to, solid) {
            eye = to;
        } else if is_within && stands && !is_inside(eye + up, solid) && !is_inside(to + up, solid) {
            eye = to + up;
        }
        fall_speed =
            if is_supported_closely(eye, solid) { 0.0 } else { fall_speed + GRAVITY * STEP };
        if fall_speed > 0.0 {
            let soles = (eye.y - EYE_HEIGHT).floor();
            eye.y -= fall_speed * STEP;
            if is_inside(eye, solid) || eye.y < EYE_HEIGHT {
                eye.y = soles + EYE_HEIGHT + GAP;
            }
        }
        if step % 500 == 0 {
            way.push(eye);
        }
    }
    way
}

/// Whether the soles touch a voxel or the floor of the world.
fn is_supported_closely(eye: DVec3, solid: &Solid) -> bool {
    eye.y - EYE_HEIGHT < 2.0 * GAP || is_inside(eye - DVec3::Y * (3.0 * GAP), solid)
}

/// Frames of any length lead a walker along the way of the twin.
#[test]
fn walks_are_those_of_tiny_steps() {
    let mut random = Random::new(12);
    let mut climbed = 0;
    for round in 0..25 {
        let solid = random_world(&mut random, 20 * (round % 3));
        let mut is_solid = |at: VoxelPos| solid.contains(&at);
        let z = 0.5 + f64::from(random.below(SIDE));
        let start = lowered(DVec3::new(5.5, 99.0, z), BOX, &mut is_solid);
        for direction in [DVec3::X, DVec3::NEG_X] {
            let expected = twin(start, direction.x * SPEED, 2.0, &solid);
            climbed += u32::from(expected.iter().any(|at| at.y > start.y + 0.9));
            for frames in [1, 5, 12] {
                let (mut eye, mut walk) = (start, Walk::default());
                let stride = Stride { direction, ..STILL };
                for at in &expected {
                    for _ in 0..frames {
                        let seconds = 0.1 / f64::from(frames);
                        walk.step(&mut eye, stride, seconds, BOX, &mut is_solid);
                    }
                    let off = (eye - *at).abs();
                    assert!(off.x < 0.15 && off.z < 1e-9, "{round} {frames}: {eye}, not {at}");
                }
                let end = expected[expected.len() - 1];
                assert!((eye - end).length() < 0.15, "{round} {frames}: {eye}, not {end}");
            }
        }
    }
    assert!(climbed > 5, "{climbed} of 50 walks climbed");
}
