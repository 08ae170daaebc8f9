//! Walking: gravity, steps of one voxel, jumps, and walls that stop.

use std::time::Duration;

use drystone_voxel::{Chunk, ChunkPos, MaterialTable, VoxelPos};
use drystone_world::{VoxelBox, Voxels};
use glam::DVec3;

use super::{Viewer, flight::LONGEST_STEP};
use crate::output;

/// Somebody who walks. The eye is the camera's; the body is a box around and below it.
///
/// ```text
///   ┌───┐ ─ 0.18 above the eye
///   │ • │   eye
///   │   │
///   └───┘ ─ 1.62 below, 0.6 wide
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Walk {
    /// Voxels a second, upwards.
    fall_speed: f64,
    is_on_ground: bool,
}

/// What somebody who walks wants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stride {
    /// Where to: of length 1 at the most, Y is left out.
    pub(super) way: DVec3,
    pub(super) jumps: bool,
    /// Whether to run.
    pub(super) runs: bool,
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
const MOST_FALL: f64 = 60.0;
/// Who stands within voxels rises so fast until it is free, and so far at the most: less than
/// the body and a roof of one voxel, so that none is passed.
const RISE: f64 = 12.0;
const MOST_RISE: f64 = 2.0;
/// The longest move between two looks at the voxels: no wall is so thin.
const LONGEST_MOVE: f64 = 0.4;
/// How far a body stays from what it touches, for rounding.
const GAP: f64 = 1e-6;

impl Walk {
    /// Whether the ground carries: without a stride nothing moves then.
    pub(super) const fn is_on_ground(&self) -> bool {
        self.is_on_ground
    }

    /// Moves the eye for `seconds`, not below `floor`, where the world ends.
    ///
    /// # Cost
    /// O(voxels that the body crosses): a dozen looks a move of 0.4 voxels.
    pub(super) fn step(
        &mut self,
        eye: &mut DVec3,
        stride: Stride,
        seconds: f64,
        floor: f64,
        is_solid: &mut dyn FnMut(VoxelPos) -> bool,
    ) {
        let speed = SPEED * if stride.runs { RUN } else { 1.0 };
        let way = DVec3::new(stride.way.x, 0.0, stride.way.z).clamp_length_max(1.0) * speed;
        let fastest = speed.max(MOST_FALL).max(RISE);
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
        let free = (1..=MOST_RISE as u32 + 1)
            .map(|voxels| soles.floor() + f64::from(voxels) + GAP)
            .filter(|to| to - soles <= MOST_RISE + GAP)
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
        self.fall_speed = (self.fall_speed - GRAVITY * seconds).max(-MOST_FALL);
        let to = *eye + DVec3::Y * (self.fall_speed * seconds);
        let lowest = floor + EYE_HEIGHT;
        self.is_on_ground = false;
        if to.y < lowest {
            (eye.y, self.fall_speed, self.is_on_ground) = (eye.y.max(lowest), 0.0, true);
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

impl Viewer {
    /// Walks, or flies again.
    pub(super) fn switch_walking(&mut self) {
        let has_voxels = self.screen.as_mut().is_some_and(|it| it.edit_scene().is_some());
        if !has_voxels {
            return output::note("nobody walks on polygon models");
        }
        self.walk = match self.walk {
            Some(_) => None,
            None => Some(Walk::default()),
        };
    }

    /// Moves the eye by the keys held for `time`.
    pub(super) fn travel(&mut self, time: Duration) {
        let camera = &mut self.view.camera;
        let (Some(walk), Some(screen)) = (&mut self.walk, &mut self.screen) else {
            return self.flight.step(camera, time);
        };
        let Some(scene) = screen.edit_scene() else { return };
        let seconds = time.as_secs_f64().min(LONGEST_STEP);
        self.flight.turn_held(camera, seconds);
        let (voxels, materials) = (scene.voxels(), scene.materials());
        let mut near = Near { voxels, materials, bounds: scene.bounds(), last: None };
        let (stride, floor) = (self.flight.stride(camera), self.corners.0.y);
        walk.step(&mut camera.eye, stride, seconds, floor, &mut |at| near.is_solid(at));
    }

    /// Whether the eye moves by itself.
    pub(super) fn is_falling(&self) -> bool {
        self.walk.is_some_and(|walk| !walk.is_on_ground())
    }
}

#[cfg(test)]
mod tests {
    use drystone_voxel::{Material, MaterialTable};
    use drystone_world::World;

    use super::*;

    /// Ground up to 0, a step of one voxel from x = 4 on, a wall of two from x = 8 on, and a
    /// roof over z = 20 on.
    fn world() -> World {
        let mut world = World::new("steps", MaterialTable::new());
        for (x, z) in (-4..12).flat_map(|x| (-4..30).map(move |z| (x, z))) {
            let top = i32::from(x >= 4) + 2 * i32::from(x >= 8);
            for y in -2..top {
                world.set(VoxelPos::new(x, y, z), Material(1));
            }
            if z >= 20 {
                world.set(VoxelPos::new(x, top + 2, z), Material(1));
            }
        }
        world
    }

    fn walk(eye: DVec3, way: DVec3, jumps: bool, seconds: f64) -> (DVec3, Walk, f64) {
        let world = world();
        let (mut eye, mut walk, mut highest) = (eye, Walk::default(), eye.y);
        let stride = Stride { way, jumps, runs: false };
        let mut is_solid = |at: VoxelPos| !world.get(at).is_air();
        for _ in 0..(seconds / 0.02) as u32 {
            walk.step(&mut eye, stride, 0.02, -2.0, &mut is_solid);
            assert!(!is_stuck(eye, &mut is_solid), "{eye:?}");
            highest = highest.max(eye.y);
        }
        (eye, walk, highest)
    }

    const STANDING: DVec3 = DVec3::new(0.5, EYE_HEIGHT + GAP, 0.5);

    #[test]
    fn who_falls_comes_to_rest_on_the_ground() {
        for height in [0.5, 7.3, 120.0] {
            let (eye, walk, _) = walk(STANDING + DVec3::Y * height, DVec3::ZERO, false, 8.0);
            assert!((eye - STANDING).length() < 1e-5, "{eye:?}");
            assert!(walk.is_on_ground());
        }
        // Outside of the world there is the floor.
        let far = DVec3::new(99.0, 50.0, 0.0);
        let (eye, walk, _) = walk(far, DVec3::ZERO, false, 8.0);
        assert!((eye.y - (EYE_HEIGHT - 2.0)).abs() < 0.5 && walk.is_on_ground(), "{eye:?}");
    }

    #[test]
    fn one_voxel_is_stepped_on_and_two_are_a_wall() {
        let (eye, _, _) = walk(STANDING, DVec3::X, false, 4.0);
        assert!((eye.y - STANDING.y - 1.0).abs() < 1e-4, "{eye:?}");
        assert!(eye.x > 7.2 && eye.x <= 8.0 - HALF_WIDTH, "{eye:?}");
        // A jump does not take it either, and along the wall goes on.
        let (eye, _, highest) = walk(STANDING, DVec3::X, true, 4.0);
        assert!(eye.x <= 8.0 - HALF_WIDTH && highest < STANDING.y + 1.0 + 1.5, "{eye:?}");
        let (eye, _, _) = walk(STANDING, DVec3::new(1.0, 0.0, 1.0), false, 4.0);
        assert!(eye.x <= 8.0 - HALF_WIDTH && eye.z > 10.0, "{eye:?}");
    }

    #[test]
    fn jumps_are_one_voxel_high_and_end_at_a_roof() {
        let (_, _, highest) = walk(STANDING, DVec3::ZERO, true, 2.0);
        assert!((1.05..1.5).contains(&(highest - STANDING.y)), "{highest}");
        let (_, _, highest) = walk(STANDING + DVec3::Z * 22.0, DVec3::ZERO, true, 2.0);
        assert!(highest - STANDING.y < 2.0 - EYE_HEIGHT - ABOVE_EYE + 1e-6, "{highest}");
    }

    /// A voxel that is placed within the body lifts it where there is room, and through no roof.
    #[test]
    fn who_is_within_a_voxel_rises_two_or_stays() {
        let roofed = STANDING + DVec3::Z * 22.0;
        let cases = [
            (STANDING, vec![0], Some(1.0)),
            (STANDING, vec![1], Some(2.0)),
            (STANDING, vec![0, 1, 2], None),
            (roofed, vec![0], None),
            (roofed, vec![1], None),
        ];
        for (start, placed, rise) in cases {
            let mut world = world();
            let [x, _, z] = start.floor().as_ivec3().to_array();
            for &y in &placed {
                world.set(VoxelPos::new(x, y, z), Material(1));
            }
            for seconds in [0.003, 0.02, 0.1] {
                let (mut eye, mut walk) = (start, Walk::default());
                let mut is_solid = |at: VoxelPos| !world.get(at).is_air();
                for _ in 0..(2.0 / seconds) as u32 {
                    walk.step(&mut eye, Stride::default(), seconds, -2.0, &mut is_solid);
                }
                let expected = start + DVec3::Y * rise.unwrap_or(0.0);
                assert!((eye - expected).length() < 1e-5, "{placed:?}: {start:?} to {eye:?}");
                assert_eq!(is_stuck(eye, &mut is_solid), rise.is_none(), "{placed:?}");
                assert!(walk.is_on_ground(), "{placed:?}: it moves by itself");
            }
        }
    }

    /// Nothing in it can be read.
    struct Damaged;

    impl Voxels for Damaged {
        fn side(&self) -> u32 {
            Chunk::SIDE
        }

        fn chunk_at(&self, _: ChunkPos) -> Option<Chunk> {
            None
        }
    }

    #[test]
    fn nobody_falls_through_what_cannot_be_read() {
        let materials = MaterialTable::new();
        let side = Chunk::SIDE as i32;
        let [min, max] = [VoxelPos::new(0, -side, 0), VoxelPos::new(side, 0, side)];
        for (bounds, rests_at) in [(Some(VoxelBox { min, max }), 0.0), (None, 8.0)] {
            let (voxels, materials) = (&Damaged, &materials);
            let mut near = Near { voxels, materials, bounds, last: None };
            let (mut eye, mut walk) = (STANDING + DVec3::Y * 8.0, Walk::default());
            for _ in 0..200 {
                let floor = -f64::from(side);
                walk.step(&mut eye, Stride::default(), 0.02, floor, &mut |at| near.is_solid(at));
            }
            assert!((eye - STANDING - DVec3::Y * rests_at).length() < 1e-5, "{eye:?}");
        }
    }

    /// However long a frame took, no wall and no ground is passed.
    #[test]
    fn long_frames_pass_no_wall() {
        let world = world();
        let mut is_solid = |at: VoxelPos| !world.get(at).is_air();
        let stride = Stride { way: DVec3::X, jumps: false, runs: true };
        for seconds in [0.001, 0.1, 1.0] {
            let (mut eye, mut walk) = (STANDING, Walk::default());
            for _ in 0..(5.0 / seconds) as u32 {
                walk.step(&mut eye, stride, seconds, -2.0, &mut is_solid);
            }
            assert!(eye.x <= 8.0 - HALF_WIDTH && eye.x > 7.0, "{seconds}: {eye:?}");
            assert!((eye.y - STANDING.y - 1.0).abs() < 1e-4, "{seconds}: {eye:?}");
        }
    }

    #[test]
    fn who_begins_within_the_ground_comes_out() {
        let world = world();
        let mut is_solid = |at: VoxelPos| !world.get(at).is_air();
        let (mut eye, mut walk) = (STANDING - DVec3::Y * 1.5, Walk::default());
        for _ in 0..200 {
            walk.step(&mut eye, Stride::default(), 0.02, -2.0, &mut is_solid);
        }
        assert!((eye - STANDING).length() < 1e-5, "{eye:?}");
    }
}
