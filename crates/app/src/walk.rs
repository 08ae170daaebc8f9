//! Walking with gravity, steps of one voxel, jumps, and collision with walls and the world's edge.

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
    /// Height of the head above the camera, in voxels: the camera follows a step up smoothly.
    lag: f64,
    /// Whether the body was placed on the ground.
    is_placed: bool,
    /// Whether the edge of the world stopped the body in the last frame.
    is_at_edge: bool,
}

/// Extents of the body from the camera: to each side, down and up.
const HALF_WIDTH: f64 = 0.3;
const EYE_HEIGHT: f64 = 1.62;
const ABOVE_EYE: f64 = 0.18;
/// Walking speed in voxels per second.
const SPEED: f64 = 5.0;
/// Maximum factor of the speed: that of running.
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
/// Time in which the camera rises by 63 % of a step, and the maximum height that it has left to rise,
/// in voxels. It stays within the body.
const STEP_SECONDS: f64 = 0.08;
const MAX_LAG: f64 = 1.2;
/// Height left to rise that ends a step, in voxels.
const END_LAG: f64 = 0.002;
/// Distance that a body keeps from what it touches, against rounding errors.
const GAP: f64 = 1e-6;

impl Walk {
    /// Starts a walk of `camera` in a scene within the box `corners`. A camera outside the box
    /// moves to its nearest column. A camera above the ground, or above the box's floor without
    /// ground, is lowered onto it. One within the ground is raised out of it.
    ///
    /// # Cost
    /// O(voxels from the camera down to the ground), plus reading their chunks.
    pub fn start(camera: &mut Camera, scene: &VoxelScene, corners: (DVec3, DVec3)) -> Self {
        let (voxels, materials) = (scene.data(), scene.data().materials());
        let mut reader = VoxelReader { voxels, materials, bounds: scene.bounds(), last: None };
        camera.position = lowered(camera.position, corners, &mut |at| reader.is_solid(at));
        Self { is_placed: true, ..Self::default() }
    }

    /// Whether the walker stands on the ground: without a stride the body does not move then.
    pub const fn is_on_ground(&self) -> bool {
        self.is_on_ground
    }

    /// Whether the camera does not move without a stride.
    pub(crate) const fn is_at_rest(&self) -> bool {
        self.is_on_ground && self.lag == 0.0
    }

    /// Moves and turns the camera by the keys held for `time`, within the box `corners` of the world: its
    /// floor carries the body, and its sides stop it. A new walk [starts](Self::start) first. Returns
    /// whether a side has begun to stop the body.
    ///
    /// # Cost
    /// O(voxels that the body crosses), plus reading their chunks.
    pub fn travel(
        &mut self,
        camera: &mut Camera,
        flight: &Flight,
        scene: &VoxelScene,
        corners: (DVec3, DVec3),
        time: Duration,
    ) -> bool {
        if !self.is_placed {
            *self = Self::start(camera, scene, corners);
        }
        flight.turn_held(camera, time);
        let (voxels, materials) = (scene.data(), scene.data().materials());
        let mut reader = VoxelReader { voxels, materials, bounds: scene.bounds(), last: None };
        let (stride, seconds) = (flight.stride(camera), Flight::seconds(time));
        let was_at_edge = self.is_at_edge;
        let mut eye = camera.position + DVec3::Y * self.lag;
        self.step(&mut eye, stride, seconds, corners, &mut |at| reader.is_solid(at));
        camera.position = eye - DVec3::Y * self.lag;
        self.is_at_edge && !was_at_edge
    }

    /// Moves the body's eye for `seconds` within the box `corners`.
    ///
    /// # Cost
    /// O(voxels that the body crosses): about a dozen voxel reads per 0.4 voxels of movement.
    fn step(
        &mut self,
        eye: &mut DVec3,
        stride: Stride,
        seconds: f64,
        corners: (DVec3, DVec3),
        is_solid: &mut dyn FnMut(VoxelPos) -> bool,
    ) {
        let speed = SPEED * stride.boost.min(RUN);
        let velocity =
            DVec3::new(stride.direction.x, 0.0, stride.direction.z).clamp_length_max(1.0) * speed;
        let fastest = speed.max(MAX_FALL).max(RISE);
        let count = (seconds * fastest / MAX_MOVE).ceil().max(1.0) as u32;
        let part = seconds / f64::from(count);
        self.is_at_edge = false;
        for _ in 0..count {
            self.stay_inside(eye, corners);
            if overlaps_solid(*eye, is_solid) {
                self.rise(eye, RISE * part, is_solid);
                continue;
            }
            if stride.jumps && self.is_on_ground {
                (self.fall_speed, self.is_on_ground) = (JUMP_SPEED, false);
            }
            self.move_horizontally(eye, 0, velocity.x * part, is_solid);
            self.move_horizontally(eye, 2, velocity.z * part, is_solid);
            self.stay_inside(eye, corners);
            self.fall(eye, part, corners.0.y, is_solid);
        }
        self.lag *= (-seconds / STEP_SECONDS).exp();
        if self.lag < END_LAG {
            self.lag = 0.0;
        }
    }

    /// Moves a body beyond the sides of the box back to them.
    fn stay_inside(&mut self, eye: &mut DVec3, (min, max): (DVec3, DVec3)) {
        for axis in [0, 2] {
            let [low, high] = [min[axis] + HALF_WIDTH + GAP, max[axis] - HALF_WIDTH - GAP];
            let inside = eye[axis].min(high).max(low);
            self.is_at_edge |= inside != eye[axis];
            eye[axis] = inside;
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

    /// Moves along one axis. A step in the way is climbed; a wall is touched.
    fn move_horizontally(
        &mut self,
        eye: &mut DVec3,
        axis: usize,
        by: f64,
        is_solid: &mut dyn FnMut(VoxelPos) -> bool,
    ) {
        let mut to = *eye;
        to[axis] += by;
        if !overlaps_solid(to, is_solid) {
            *eye = to;
            return;
        }
        let step = DVec3::Y * (1.0 + GAP);
        let is_free =
            !overlaps_solid(*eye + step, is_solid) && !overlaps_solid(to + step, is_solid);
        if self.is_on_ground && is_free {
            *eye = to + step;
            self.lag = (self.lag + step.y).min(MAX_LAG);
            return;
        }
        // The voxels in the way begin at the border that the body crossed.
        eye[axis] = match by > 0.0 {
            true => ((to[axis] + HALF_WIDTH).floor() - HALF_WIDTH - GAP).max(eye[axis]),
            false => ((to[axis] - HALF_WIDTH).floor() + 1.0 + HALF_WIDTH + GAP).min(eye[axis]),
        };
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
        return raised(eye, max.y, is_solid).unwrap_or(eye);
    }
    // In the middle of the column, which is free down to the ground.
    DVec3::new(x + 0.5, standing, z + 0.5)
}

/// Returns the lowest gap for a body above an eye within a solid voxel, below the height `top` or on it.
fn raised(eye: DVec3, top: f64, is_solid: &mut dyn FnMut(VoxelPos) -> bool) -> Option<DVec3> {
    let [x, y, z] = eye.floor().as_ivec3().to_array();
    let mut is_free = |y: i32| !is_solid(VoxelPos::new(x, y, z));
    if is_free(y) {
        return None;
    }
    let gap = (y..=top as i32).find(|&y| is_free(y) && is_free(y + 1))?;
    let soles = DVec3::new(f64::from(x) + 0.5, f64::from(gap), f64::from(z) + 0.5);
    Some(soles + DVec3::Y * (EYE_HEIGHT + GAP))
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
