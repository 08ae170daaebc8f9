//! Walking with gravity, steps of one voxel, jumps and collision with walls.

use std::time::Duration;

use drystone_render::Camera;
use drystone_voxel::{Chunk, ChunkPos, MaterialTable, VoxelBox, VoxelPos};
use drystone_world::VoxelAccess;
use glam::DVec3;

use crate::flight::Stride;
use crate::{Flight, scene::VoxelScene};

/// State of a walker. The camera is its head; the body is a box around and below it.
///
/// ```text
///   ┌───┐ ─ 0.18 above the camera
///   │ • │   camera
///   │   │
///   └───┘ ─ 1.62 below, 0.6 wide
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Walk {
    /// Vertical speed in voxels per second, positive is up.
    fall_speed: f64,
    is_on_ground: bool,
}

/// Extents of the body from the camera: to each side, down and up.
const HALF_WIDTH: f64 = 0.3;
const EYE_HEIGHT: f64 = 1.62;
const ABOVE_EYE: f64 = 0.18;
/// Walking speed in voxels per second.
const SPEED: f64 = 5.0;
const RUN: f64 = 3.0;
/// Acceleration in voxels per second squared.
const GRAVITY: f64 = 28.0;
/// Reaches 1.25 voxels high: clears one voxel, not two.
const JUMP_SPEED: f64 = 8.4;
/// Maximum falling speed, in voxels per second.
const MAX_FALL: f64 = 60.0;
/// Depth of the search for ground at the start of a walk, in voxels.
const MAX_DEPTH: f64 = 4096.0;
/// Speed and maximum height at which a body inside voxels rises until it is free. The height is
/// less than the body plus a roof of one voxel, so that no roof is passed.
const RISE: f64 = 12.0;
const MAX_RISE: f64 = 2.0;
/// Longest move between two collision tests; shorter than any wall is thick.
const MAX_MOVE: f64 = 0.4;
/// Distance that a body keeps from what it touches, against rounding errors.
const GAP: f64 = 1e-6;

impl Walk {
    /// Starts a walk of `camera` in a scene within the box `corners`. A camera outside the box
    /// moves to its nearest column. A camera above the ground, or above the box's floor without
    /// ground, is lowered onto it.
    ///
    /// # Cost
    /// O(voxels from the camera down to the ground), plus reading their chunks.
    pub fn start(camera: &mut Camera, scene: &VoxelScene, corners: (DVec3, DVec3)) -> Self {
        let (voxels, materials) = (scene.data(), scene.data().materials());
        let mut reader = VoxelReader { voxels, materials, bounds: scene.bounds(), last: None };
        camera.position = lowered(camera.position, corners, &mut |at| reader.is_solid(at));
        Self::default()
    }

    /// Whether the walker stands on the ground: without a stride it does not move then.
    pub const fn is_on_ground(&self) -> bool {
        self.is_on_ground
    }

    /// Moves and turns the camera by the keys held for `time`, not below `floor`, where the world
    /// ends.
    ///
    /// # Cost
    /// O(voxels that the body crosses), plus reading their chunks.
    pub fn travel(
        &mut self,
        camera: &mut Camera,
        flight: &Flight,
        scene: &VoxelScene,
        floor: f64,
        time: Duration,
    ) {
        flight.turn_held(camera, time);
        let (voxels, materials) = (scene.data(), scene.data().materials());
        let mut reader = VoxelReader { voxels, materials, bounds: scene.bounds(), last: None };
        let (stride, seconds) = (flight.stride(camera), Flight::seconds(time));
        self.step(&mut camera.position, stride, seconds, floor, &mut |at| reader.is_solid(at));
    }

    /// Moves the camera for `seconds`, not below `floor`, where the world ends.
    ///
    /// # Cost
    /// O(voxels that the body crosses): about a dozen voxel reads per 0.4 voxels of movement.
    fn step(
        &mut self,
        eye: &mut DVec3,
        stride: Stride,
        seconds: f64,
        floor: f64,
        is_solid: &mut dyn FnMut(VoxelPos) -> bool,
    ) {
        let speed = SPEED * if stride.runs { RUN } else { 1.0 };
        let velocity =
            DVec3::new(stride.direction.x, 0.0, stride.direction.z).clamp_length_max(1.0) * speed;
        let fastest = speed.max(MAX_FALL).max(RISE);
        let count = (seconds * fastest / MAX_MOVE).ceil().max(1.0) as u32;
        let part = seconds / f64::from(count);
        for _ in 0..count {
            if overlaps_solid(*eye, is_solid) {
                self.rise(eye, RISE * part, is_solid);
                continue;
            }
            if stride.jumps && self.is_on_ground {
                (self.fall_speed, self.is_on_ground) = (JUMP_SPEED, false);
            }
            self.move_horizontally(eye, DVec3::X * velocity.x * part, is_solid);
            self.move_horizontally(eye, DVec3::Z * velocity.z * part, is_solid);
            self.fall(eye, part, floor, is_solid);
        }
    }

    /// Raises a body inside voxels by up to `max_rise` to the next free height; without one, it
    /// stays.
    fn rise(&mut self, eye: &mut DVec3, max_rise: f64, is_solid: &mut dyn FnMut(VoxelPos) -> bool) {
        let soles = eye.y - EYE_HEIGHT;
        let free = (1..=MAX_RISE as u32 + 1)
            .map(|voxels| soles.floor() + f64::from(voxels) + GAP)
            .filter(|to| to - soles <= MAX_RISE + GAP)
            .map(|to| to + EYE_HEIGHT)
            .find(|&to| !overlaps_solid(DVec3::new(eye.x, to, eye.z), is_solid));
        // A body that stays does not fall.
        (self.fall_speed, self.is_on_ground) = (0.0, free.is_none());
        if let Some(to) = free {
            eye.y = to.min(eye.y + max_rise);
        }
    }

    /// Moves along one axis, climbing a step if one is in the way, or not at all.
    fn move_horizontally(
        &self,
        eye: &mut DVec3,
        by: DVec3,
        is_solid: &mut dyn FnMut(VoxelPos) -> bool,
    ) {
        let to = *eye + by;
        if !overlaps_solid(to, is_solid) {
            *eye = to;
            return;
        }
        let step = DVec3::Y * (1.0 + GAP);
        let is_free =
            !overlaps_solid(*eye + step, is_solid) && !overlaps_solid(to + step, is_solid);
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
        } else if !overlaps_solid(to, is_solid) {
            *eye = to;
        } else if self.fall_speed < 0.0 {
            // On top of the obstructing voxel.
            let soles = (to.y - EYE_HEIGHT).floor() + 1.0 + GAP;
            (eye.y, self.fall_speed, self.is_on_ground) = (soles + EYE_HEIGHT, 0.0, true);
        } else {
            self.fall_speed = 0.0;
        }
    }
}

/// Returns the start of a walk from `eye`, in a scene within the box `min` to `max`.
fn lowered(
    eye: DVec3,
    (min, max): (DVec3, DVec3),
    is_solid: &mut dyn FnMut(VoxelPos) -> bool,
) -> DVec3 {
    let nearest = |axis: usize| eye[axis].floor().min(max[axis] - 1.0).max(min[axis]);
    let [x, z] = [nearest(0), nearest(2)];
    let is_outside = x != eye.x.floor() || z != eye.z.floor();
    // There is no ground above the box; outside its columns, `eye` may be below their ground.
    let top = if is_outside { max.y } else { max.y.min(eye.y - EYE_HEIGHT) };
    let lowest = min.y.max(top - MAX_DEPTH);
    let ground = (lowest as i32..=top.floor() as i32)
        .rev()
        .find(|&y| is_solid(VoxelPos::new(x as i32, y, z as i32)))
        .map_or(lowest, |y| f64::from(y) + 1.0);
    let standing = ground + EYE_HEIGHT + GAP;
    if !is_outside && eye.y <= standing {
        return eye;
    }
    // In the middle of the column, which is free down to the ground.
    DVec3::new(x + 0.5, standing, z + 0.5)
}

/// Whether the body overlaps any solid voxel.
fn overlaps_solid(eye: DVec3, is_solid: &mut dyn FnMut(VoxelPos) -> bool) -> bool {
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

/// Reader of voxels that caches the last chunk.
struct VoxelReader<'a> {
    voxels: &'a dyn VoxelAccess,
    materials: &'a MaterialTable,
    /// Known bounds of the world; everything outside is air.
    bounds: Option<VoxelBox>,
    last: Option<(ChunkPos, Option<Chunk>)>,
}

impl VoxelReader<'_> {
    /// Whether a voxel is solid: anything but air and liquids. Unreadable voxels within the bounds
    /// are solid, too.
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
