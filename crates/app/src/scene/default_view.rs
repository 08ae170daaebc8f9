use std::time::Duration;

use drystone_render::{Atmosphere, Camera, Projection};
use drystone_voxel::{Chunk, ChunkPos, VoxelBox, VoxelPos};
use drystone_world::{LodData, World};
use glam::{DQuat, DVec3};

/// Default camera and atmosphere of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DefaultView {
    /// Camera.
    pub camera: Camera,
    /// Sky and haze, scaled to the scene.
    pub atmosphere: Atmosphere,
}

/// Ratio of width to height from which a scene is a landscape, if it is also …
const LANDSCAPE_FLATNESS: f64 = 2.5;
/// … this wide, in voxels.
const LANDSCAPE_WIDTH: f64 = 128.0;

/// Vertical field of view of a perspective camera, in radians.
pub(crate) const FOV_Y: f32 = 50f32.to_radians();

/// Direction of the camera from the middle of a landscape: low, so that sky is visible.
const OVER_LANDSCAPE: DVec3 = DVec3::new(0.70, 0.42, 0.72);

/// The side from which a whole scene is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The default side, turned around the scene by this many degrees, counterclockwise as seen
    /// from above.
    Around(f64),
    /// Straight above, with north at the top of the picture.
    Top,
}

impl Default for Side {
    fn default() -> Self {
        Self::Around(0.0)
    }
}

/// The box of a scene and the default direction of the view on it: what is needed to fit the
/// scene into a picture, from any side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Framing {
    min: DVec3,
    max: DVec3,
    is_landscape: bool,
}

impl Framing {
    /// The framing of voxels in the box `min` to `max`. A wide and flat box is a landscape: its
    /// view is lower, so that there is sky behind it.
    pub(crate) fn of_voxels((min, max): (DVec3, DVec3)) -> Self {
        let size = max - min;
        let width = size.x.min(size.z);
        let is_landscape = width > LANDSCAPE_FLATNESS * size.y && width > LANDSCAPE_WIDTH;
        Self { min, max, is_landscape }
    }

    /// The framing of a polygon model in the box `min` to `max`.
    pub(crate) const fn of_model((min, max): (DVec3, DVec3)) -> Self {
        Self { min, max, is_landscape: false }
    }

    /// Whether the box is that of a landscape.
    pub(crate) const fn is_landscape(&self) -> bool {
        self.is_landscape
    }

    /// The lowest and the highest corner of the scene, in voxels.
    pub(crate) const fn corners(&self) -> (DVec3, DVec3) {
        (self.min, self.max)
    }

    /// Returns the camera that shows the whole box from `side`, as large as a picture with this
    /// width to height allows. The height of an orthographic `projection` is set to match.
    pub(crate) fn camera(&self, side: Side, projection: Projection, aspect: f32) -> Camera {
        let is_parallel = matches!(projection, Projection::Orthographic { .. });
        let direction = match (side, self.is_landscape && !is_parallel) {
            (Side::Top, _) => DVec3::Y,
            (Side::Around(degrees), is_low) => {
                let direction = if is_low { OVER_LANDSCAPE } else { Camera::FIT_DIRECTION };
                DQuat::from_rotation_y(degrees.to_radians()) * direction.normalize()
            }
        };
        let mut camera = Camera::fit_from(direction, self.min, self.max, projection, aspect);
        reach(&mut camera, self.min, self.max);
        camera
    }

    /// Returns the perspective view of the whole scene from `side`, with haze scaled to it.
    pub(crate) fn default_view(&self, side: Side, aspect: f32) -> DefaultView {
        let perspective = Projection::Perspective { fov_y: FOV_Y };
        let camera = self.camera(side, perspective, aspect);
        let (middle, size) = ((self.min + self.max) / 2.0, self.max - self.min);
        let reach = ((camera.position - middle).length() + size.length() / 2.0) as f32;
        let atmosphere = match self.is_landscape {
            true => Atmosphere::default().with_haze(reach * 0.50, reach * 1.25, 0.75),
            false => Atmosphere::default().with_haze(reach * 0.80, reach * 2.5, 0.6),
        };
        DefaultView { camera, atmosphere }
    }
}

/// Returns the default view of `world`, for a picture with this width to height. A model fills the
/// picture; a landscape is seen from above one corner, with sky behind it.
pub fn default_view(world: &World, aspect: f32) -> DefaultView {
    Framing::of_voxels(corners(world)).default_view(Side::default(), aspect)
}

/// Returns the default view of a model in the box `min` to `max`, which fills the picture.
pub fn default_view_of_model(corners: (DVec3, DVec3), aspect: f32) -> DefaultView {
    Framing::of_model(corners).default_view(Side::default(), aspect)
}

/// Returns the lowest and the highest corner of the solid voxels of `world`; for an empty world, a
/// box around the origin.
pub fn corners(world: &World) -> (DVec3, DVec3) {
    tight_corners(world.bounds())
}

/// Returns the corners of the box of all voxels; without voxels, a box around the origin.
pub(crate) fn tight_corners(bounds: Option<VoxelBox>) -> (DVec3, DVec3) {
    let corner = |v: VoxelPos| DVec3::from_array(v.to_array().map(f64::from));
    match bounds {
        Some(bounds) => (corner(bounds.min), corner(bounds.max)),
        None => (DVec3::splat(-8.0), DVec3::splat(8.0)),
    }
}

/// Returns the corners of the box of all chunks of a world, in voxels; for an empty world, a box
/// around the origin.
pub fn level_corners(data: &LodData) -> (DVec3, DVec3) {
    let Some(extent) = data.extent() else { return (DVec3::splat(-8.0), DVec3::splat(8.0)) };
    let side = f64::from(Chunk::SIDE);
    let corner = |p: ChunkPos| DVec3::from_array([p.x, p.y, p.z].map(f64::from)) * side;
    (corner(extent.min), corner(extent.max) + side)
}

/// Sets the camera's depth range so that nothing of the box `min` to `max` ahead of it is clipped.
/// Call it after moving or turning the camera.
pub fn reach(camera: &mut Camera, min: DVec3, max: DVec3) {
    /// Smallest near distance, in voxels.
    const NEAR: f64 = 0.1;
    /// Margin before the nearest and behind the farthest corner, against rounding errors.
    const MARGIN: f64 = 1.001;
    let forward = camera.basis()[2].as_dvec3();
    let depths = (0..8).map(|bits: u32| {
        let pick = |bit: u32| if bits >> bit & 1 == 0 { min } else { max };
        (DVec3::new(pick(0).x, pick(1).y, pick(2).z) - camera.position).dot(forward)
    });
    let (nearest, farthest) = depths
        .fold((f64::MAX, 0.0), |(near, far), depth| (f64::min(near, depth), f64::max(far, depth)));
    let near = (nearest / MARGIN - 1.0).max(NEAR);
    let far = (farthest * MARGIN + 1.0).max(2.0 * near);
    camera.depth_range = [near as f32, far as f32];
}

/// Fraction of the haze distance at which the haze begins.
pub(crate) const HAZE_BEGINS: f32 = 0.4;
/// Width from which a land is vast, in voxels: haze hides its edge.
const VAST_WIDTH: f64 = 4096.0;
/// Minimum haze distance, as a fraction of a vast land's width.
const MIN_HAZE_PART: f64 = 0.25;

/// Returns the atmosphere with haze that hides the edge of a vast land ahead of a camera inside the
/// box `min` to `max`. For smaller worlds and from outside, it is unchanged.
pub(crate) fn edge_haze(
    atmosphere: Atmosphere,
    camera: &Camera,
    (min, max): (DVec3, DVec3),
) -> Atmosphere {
    /// Directions in which the edge is searched, as angles from straight ahead.
    const AHEAD: [f64; 3] = [-0.6, 0.0, 0.6];
    let width = (max - min).x.min((max - min).z);
    let [x, _, z] = [0, 1, 2].map(|axis| (min[axis]..max[axis]).contains(&camera.position[axis]));
    let is_parallel = matches!(camera.projection, Projection::Orthographic { .. });
    if width < VAST_WIDTH || !x || !z || is_parallel {
        return atmosphere;
    }
    let edge = AHEAD.map(|turn| {
        let (sin, cos) = (f64::from(camera.yaw) + turn).sin_cos();
        let direction = [-sin, -cos];
        let to_edge = [0, 2].map(|axis| {
            let direction = direction[axis / 2];
            let end = if direction > 0.0 { max[axis] } else { min[axis] };
            if direction == 0.0 { f64::INFINITY } else { (end - camera.position[axis]) / direction }
        });
        to_edge[0].min(to_edge[1])
    });
    let nearest = edge.into_iter().fold(f64::INFINITY, f64::min);
    let end = nearest.max(width * MIN_HAZE_PART) as f32;
    atmosphere.with_haze(end * HAZE_BEGINS, end, 1.0)
}

/// Returns the atmosphere with its haze moved towards that of `goal`, smoothly in time. It arrives
/// within some seconds.
pub(crate) fn haze_towards(
    atmosphere: Atmosphere,
    goal: &Atmosphere,
    time: Duration,
) -> Atmosphere {
    /// Time constant of the approach, in seconds.
    const PACE: f32 = 0.6;
    /// Distance at which the goal is reached: a fraction of the goal, and in voxels.
    const NEAR: [f32; 2] = [0.005, 0.001];
    let haze = |air: &Atmosphere| [air.haze_start, air.haze_end, air.haze_density];
    let (now, goal) = (haze(&atmosphere), haze(goal));
    let step = 1.0 - (-time.as_secs_f32() / PACE).exp();
    let next: [f32; 3] = std::array::from_fn(|i| now[i] + (goal[i] - now[i]) * step);
    let is_near = (0..3).all(|i| (next[i] - goal[i]).abs() <= NEAR[1].max(goal[i].abs() * NEAR[0]));
    let [start, end, density] = if is_near { goal } else { next };
    atmosphere.with_haze(start, end, density)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every side shows the whole scene, as large as the picture allows.
    #[test]
    fn scenes_of_any_shape_fit_into_pictures_from_every_side() {
        let boxes = [
            [300.0, 40.0, 300.0],
            [2_048.0, 96.0, 640.0],
            [40.0, 400.0, 30.0],
            [500.0, 12.0, 9.0],
            [20.0; 3],
            [16_000.0, 512.0, 16_000.0],
            [3.0, 1.0, 90.0],
        ];
        let around = (0..24).map(|step| Side::Around(f64::from(step) * 15.0 - 90.0));
        let sides: Vec<Side> = around.chain([Side::Top]).collect();
        let parallel = Projection::Orthographic { height_voxels: 1.0 };
        for size in boxes.map(DVec3::from) {
            let corners = (DVec3::splat(-7.5), DVec3::splat(-7.5) + size);
            let of = [Framing::of_voxels(corners), Framing::of_model(corners)];
            for (framing, aspect) in of.into_iter().flat_map(|it| [(it, 0.4), (it, 1.0), (it, 2.4)])
            {
                assert_eq!(framing.default_view(Side::Around(0.0), aspect).camera, {
                    framing.default_view(Side::default(), aspect).camera
                });
                for &side in &sides {
                    let DefaultView { camera, .. } = framing.default_view(side, aspect);
                    for camera in [camera, framing.camera(side, parallel, aspect)] {
                        check_fits(&camera, corners, aspect, &format!("{size} {side:?} {aspect}"));
                    }
                }
            }
        }
    }

    /// Checks that all corners are in the picture, centred and up to its edges.
    fn check_fits(camera: &Camera, (min, max): (DVec3, DVec3), aspect: f32, what: &str) {
        let matrix = camera.clip_from_relative(aspect);
        let (mut low, mut high) = (glam::Vec3::INFINITY, glam::Vec3::NEG_INFINITY);
        for bits in 0..8 {
            let pick = |bit: u32| if bits >> bit & 1 == 0 { min } else { max };
            let corner = DVec3::new(pick(0).x, pick(1).y, pick(2).z);
            let clip = matrix * (corner - camera.position).as_vec3().extend(1.0);
            let at = clip.truncate() / clip.w;
            (low, high) = (low.min(at), high.max(at));
        }
        let all = (low.x >= -1.0, low.y >= -1.0, high.x <= 1.0, high.y <= 1.0);
        assert_eq!(all, (true, true, true, true), "{what}: {low} to {high}");
        assert!(low.z >= 0.0 && high.z <= 1.0, "{what}: depths {low} to {high}");
        let filled = (high - low).truncate().max_element() / 2.0;
        assert!(filled > 0.9, "{what}: fills {filled} of the picture");
    }

    #[test]
    fn haze_arrives_without_a_jump_however_long_frames_are() {
        let goal = Atmosphere::default().with_haze(400.0, 1_000.0, 1.0);
        for far in [goal.with_haze(3_000.0, 9_000.0, 0.75), goal.with_haze(0.0, 0.0, 0.0)] {
            let after = |seconds: f32, frames: u16| {
                let time = Duration::from_secs_f32(seconds / f32::from(frames));
                (0..frames).fold(far, |air, _| haze_towards(air, &goal, time))
            };
            assert_eq!(haze_towards(far, &goal, Duration::ZERO), far);
            let (few, many) = (after(0.5, 5), after(0.5, 500));
            assert!((few.haze_end - many.haze_end).abs() < 1.0, "{few:?} {many:?}");
            let part = (many.haze_end - goal.haze_end) / (far.haze_end - goal.haze_end);
            assert!((0.3..0.6).contains(&part), "{part}");
            assert_eq!(after(6.0, 360), goal);
        }
    }

    /// Inside a vast land, everything at its edge is hidden by haze.
    #[test]
    fn the_end_of_a_vast_land_is_hidden() {
        let air = Atmosphere::default();
        let corners = (DVec3::ZERO, DVec3::new(16_000.0, 512.0, 12_000.0));
        for (at, to) in [([8e3, 6e3], [9e3, 6e3]), ([2e3, 3e3], [8e3, 9e3]), ([1e4, 4e3], [0.0; 2])]
        {
            let [eye, look] = [at, to].map(|[x, z]| DVec3::new(x, 300.0, z));
            let hazy = edge_haze(air, &Camera::look_at(eye, look), corners);
            assert_eq!(hazy.haze_density, 1.0);
            // Points at the edge are at least as far as the haze distance.
            let direction = (look - eye).normalize();
            let steps = (1..).map(|step| eye + direction * f64::from(step));
            let edge = steps.take_while(|at| at.min(corners.1) == *at && at.min_element() >= 0.0);
            assert!(f64::from(hazy.haze_end) <= edge.count() as f64 + 2.0, "{eye}");
            assert!(hazy.haze_end >= 3_000.0 && hazy.haze_start < hazy.haze_end);
        }
        let outside = Camera::look_at(DVec3::new(-1.0, 300.0, 5.0), DVec3::new(9e3, 0.0, 9e3));
        assert_eq!(edge_haze(air, &outside, corners), air);
        let small = (DVec3::ZERO, DVec3::splat(2_048.0));
        let within = Camera::look_at(DVec3::splat(1_000.0), DVec3::new(9e3, 0.0, 9e3));
        assert_eq!(edge_haze(air, &within, small), air);
    }
}
