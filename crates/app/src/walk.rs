//! Walking: gravity, steps of one voxel, jumps, and walls that stop.

use std::time::Duration;

use drystone_render::Camera;
use drystone_voxel::{Chunk, ChunkPos, MaterialTable, VoxelPos};
use drystone_world::{VoxelBox, Voxels};
use glam::DVec3;

use crate::{Flight, Stride, scene::EditScene};

/// Somebody who walks. The eye is the camera's; the body is a box around and below it.
///
/// ```text
///   ┌───┐ ─ 0.18 above the eye
///   │ • │   eye
///   │   │
///   └───┘ ─ 1.62 below, 0.6 wide
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Walk {
    /// Voxels a second, upwards.
    fall_speed: f64,
    is_on_ground: bool,
}

/// From the eye to each side, down to the soles, and up.
const HALF_WIDTH: f64 = 0.3;
const EYE_HEIGHT: f64 = 1.62;
const ABOVE_EYE: f64 = 0.18;
/// Voxels a second.
const SPEED: f64 = 5.0;
const RUN: f64 = 3.0;
/// Voxels a second each second.
const GRAVITY: f64 = 28.0;
/// Reaches 1.25 voxels high: one is taken, two are not.
const JUMP_SPEED: f64 = 8.4;
/// Nobody falls faster, in voxels a second.
const MAX_FALL: f64 = 60.0;
/// Longest fall at the start of a walk, in voxels: some two seconds.
const MAX_DROP: f64 = 60.0;
/// Farthest that ground is looked for at the start of a walk, in voxels.
const MAX_DEPTH: f64 = 4096.0;
/// Who stands within voxels rises so fast until it is free, and so far at the most: less than
/// the body and a roof of one voxel, so that none is passed.
const RISE: f64 = 12.0;
const MAX_RISE: f64 = 2.0;
/// The longest move between two looks at the voxels: no wall is so thin.
const LONGEST_MOVE: f64 = 0.4;
/// How far a body stays from what it touches, for rounding.
const GAP: f64 = 1e-6;

impl Walk {
    /// Starts a walk of `camera` in a scene that lies within the box `corners`. A camera beside the
    /// box moves to the nearest column of it. A camera that is high above the ground, or above the
    /// box's floor where there is none, is lowered: the fall ends within seconds from anywhere.
    ///
    /// # Cost
    /// O(voxels from the camera down to the ground), and reading the chunks that these are in.
    pub fn start(camera: &mut Camera, scene: &dyn EditScene, corners: (DVec3, DVec3)) -> Self {
        let (voxels, materials) = (scene.voxels(), scene.materials());
        let mut near = Near { voxels, materials, bounds: scene.bounds(), last: None };
        camera.position = lowered(camera.position, corners, &mut |at| near.is_solid(at));
        Self::default()
    }

    /// Whether the ground carries: without a stride nothing moves then.
    pub const fn is_on_ground(&self) -> bool {
        self.is_on_ground
    }

    /// Moves and turns the camera by the keys held for `time`, not below `floor`, where the world
    /// ends.
    ///
    /// # Cost
    /// O(voxels that the body crosses), and reading the chunks that these are in.
    pub fn travel(
        &mut self,
        camera: &mut Camera,
        flight: &Flight,
        scene: &dyn EditScene,
        floor: f64,
        time: Duration,
    ) {
        flight.turn_held(camera, time);
        let (voxels, materials) = (scene.voxels(), scene.materials());
        let mut near = Near { voxels, materials, bounds: scene.bounds(), last: None };
        let (stride, seconds) = (flight.stride(camera), Flight::seconds(time));
        self.step(&mut camera.position, stride, seconds, floor, &mut |at| near.is_solid(at));
    }

    /// Moves the eye for `seconds`, not below `floor`, where the world ends.
    ///
    /// # Cost
    /// O(voxels that the body crosses): a dozen looks a move of 0.4 voxels.
    fn step(
        &mut self,
        eye: &mut DVec3,
        stride: Stride,
        seconds: f64,
        floor: f64,
        is_solid: &mut dyn FnMut(VoxelPos) -> bool,
    ) {
        let speed = SPEED * if stride.runs { RUN } else { 1.0 };
        let way = DVec3::new(stride.way.x, 0.0, stride.way.z).clamp_length_max(1.0) * speed;
        let fastest = speed.max(MAX_FALL).max(RISE);
        let count = (seconds * fastest / LONGEST_MOVE).ceil().max(1.0) as u32;
        let part = seconds / f64::from(count);
        for _ in 0..count {
            if is_stuck(*eye, is_solid) {
                self.rise(eye, RISE * part, is_solid);
                continue;
            }
            if stride.jumps && self.is_on_ground {
                (self.fall_speed, self.is_on_ground) = (JUMP_SPEED, false);
            }
            self.aside(eye, DVec3::X * way.x * part, is_solid);
            self.aside(eye, DVec3::Z * way.z * part, is_solid);
            self.fall(eye, part, floor, is_solid);
        }
    }

    /// Who is within voxels rises by `most` to the next place that is free, or stays where none
    /// is near above.
    fn rise(&mut self, eye: &mut DVec3, most: f64, is_solid: &mut dyn FnMut(VoxelPos) -> bool) {
        let soles = eye.y - EYE_HEIGHT;
        let free = (1..=MAX_RISE as u32 + 1)
            .map(|voxels| soles.floor() + f64::from(voxels) + GAP)
            .filter(|to| to - soles <= MAX_RISE + GAP)
            .map(|to| to + EYE_HEIGHT)
            .find(|&to| !is_stuck(DVec3::new(eye.x, to, eye.z), is_solid));
        // Who stays does not move by itself.
        (self.fall_speed, self.is_on_ground) = (0.0, free.is_none());
        if let Some(to) = free {
            eye.y = to.min(eye.y + most);
        }
    }

    /// Moves along one axis, up a step if one is in the way, or not at all.
    fn aside(&self, eye: &mut DVec3, by: DVec3, is_solid: &mut dyn FnMut(VoxelPos) -> bool) {
        let to = *eye + by;
        if !is_stuck(to, is_solid) {
            *eye = to;
            return;
        }
        let step = DVec3::Y * (1.0 + GAP);
        let is_free = !is_stuck(*eye + step, is_solid) && !is_stuck(to + step, is_solid);
        if self.is_on_ground && is_free {
            *eye = to + step;
        }
    }

    fn fall(
        &mut self,
        eye: &mut DVec3,
        seconds: f64,
        floor: f64,
        is_solid: &mut dyn FnMut(VoxelPos) -> bool,
    ) {
        self.fall_speed = (self.fall_speed - GRAVITY * seconds).max(-MAX_FALL);
        let to = *eye + DVec3::Y * (self.fall_speed * seconds);
        let lowest = floor + EYE_HEIGHT;
        self.is_on_ground = false;
        if to.y < lowest {
            (eye.y, self.fall_speed, self.is_on_ground) = (lowest, 0.0, true);
        } else if !is_stuck(to, is_solid) {
            *eye = to;
        } else if self.fall_speed < 0.0 {
            // On top of the voxel that is in the way.
            let soles = (to.y - EYE_HEIGHT).floor() + 1.0 + GAP;
            (eye.y, self.fall_speed, self.is_on_ground) = (soles + EYE_HEIGHT, 0.0, true);
        } else {
            self.fall_speed = 0.0;
        }
    }
}

/// Where a walk from `eye` starts, in a scene within the box `min` to `max`.
fn lowered(
    eye: DVec3,
    (min, max): (DVec3, DVec3),
    is_solid: &mut dyn FnMut(VoxelPos) -> bool,
) -> DVec3 {
    let nearest = |axis: usize| eye[axis].floor().min(max[axis] - 1.0).max(min[axis]);
    let [x, z] = [nearest(0), nearest(2)];
    let is_beside = x != eye.x.floor() || z != eye.z.floor();
    // Above the box there is nothing, and beside it the eye may be below the column's ground.
    let top = if is_beside { max.y } else { max.y.min(eye.y - EYE_HEIGHT) };
    let lowest = min.y.max(top - MAX_DEPTH);
    let ground = (lowest as i32..=top.floor() as i32)
        .rev()
        .find(|&y| is_solid(VoxelPos::new(x as i32, y, z as i32)))
        .map_or(lowest, |y| f64::from(y) + 1.0);
    let highest = ground + EYE_HEIGHT + MAX_DROP;
    if !is_beside && eye.y <= highest {
        return eye;
    }
    // In the middle of the column, which is free down to the ground.
    DVec3::new(x + 0.5, eye.y.max(ground + EYE_HEIGHT + GAP).min(highest), z + 0.5)
}

/// Whether the body is within any voxel.
fn is_stuck(eye: DVec3, is_solid: &mut dyn FnMut(VoxelPos) -> bool) -> bool {
    let low = eye - DVec3::new(HALF_WIDTH, EYE_HEIGHT, HALF_WIDTH);
    let high = eye + DVec3::new(HALF_WIDTH, ABOVE_EYE, HALF_WIDTH);
    let [low, high] = [low, high].map(|corner| corner.floor().as_ivec3());
    for y in low.y..=high.y {
        for z in low.z..=high.z {
            for x in low.x..=high.x {
                if is_solid(VoxelPos::new(x, y, z)) {
                    return true;
                }
            }
        }
    }
    false
}

/// Looks at voxels that are near each other.
struct Near<'a> {
    voxels: &'a dyn Voxels,
    materials: &'a MaterialTable,
    /// Outside there is nothing, where that is known.
    bounds: Option<VoxelBox>,
    last: Option<(ChunkPos, Option<Chunk>)>,
}

impl Near<'_> {
    /// Whether a voxel carries and stops: all but air and liquids do, and what cannot be read.
    /// There is nothing outside of the world.
    fn is_solid(&mut self, at: VoxelPos) -> bool {
        let (position, local) = at.split(self.voxels.side());
        if self.last.as_ref().is_none_or(|(last, _)| *last != position) {
            self.last = Some((position, self.voxels.chunk_at(position)));
        }
        let Some((_, Some(chunk))) = &self.last else {
            return self.bounds.is_none_or(|bounds| bounds.contains(at));
        };
        let material = chunk.get(local);
        let is_liquid = |name: &str| ["water", "lava"].iter().any(|liquid| name.contains(liquid));
        !material.is_air() && !self.materials.get(material).is_some_and(|it| is_liquid(&it.name))
    }
}

#[cfg(test)]
mod tests;
