//! A camera that moves around a point, for models and single objects.

use std::f32::consts::{FRAC_PI_2, PI, TAU};
use std::time::Duration;

use drystone_render::{Camera, Projection};
use glam::{DVec3, Vec3};

use crate::Flight;
use crate::scene::{FOV_Y, ViewSide};

/// Movement of a camera around a target: the point in the middle of the picture at a distance.
///
/// # Examples
/// ```
/// use drystone::Orbit;
/// use drystone_render::Camera;
/// use glam::DVec3;
///
/// let mut camera = Camera::look_at(DVec3::new(0.0, 0.0, 10.0), DVec3::ZERO);
/// let orbit = Orbit::new(10.0);
/// orbit.look(&mut camera, 90f32.to_radians(), 0.0);
/// assert!((camera.position - DVec3::new(10.0, 0.0, 0.0)).length() < 1e-5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Distance from the camera to the target, in voxels.
    distance: f64,
}

/// Minimum and maximum distance to the target, in voxels.
const DISTANCES: [f64; 2] = [0.05, 1e6];
/// Radians that a movement over the picture's height turns.
const TURN: f64 = PI as f64;
/// Radians that a [step](Orbit::step) turns.
const STEP: f32 = 15f32.to_radians();

impl Orbit {
    /// Creates an orbit whose target lies `distance` voxels before the camera.
    pub fn new(distance: f64) -> Self {
        let [min, max] = DISTANCES;
        // A distance that is not a number becomes the minimum.
        Self { distance: distance.max(min).min(max) }
    }

    /// Returns the target of `camera`, in voxels.
    pub fn target(&self, camera: &Camera) -> DVec3 {
        camera.position + camera.basis()[2].as_dvec3() * self.distance
    }

    /// Moves `camera` to `yaw` and `pitch`, in radians, around its target.
    pub fn look(&self, camera: &mut Camera, yaw: f32, pitch: f32) {
        let target = self.target(camera);
        camera.yaw = yaw % TAU;
        camera.pitch = pitch.clamp(-FRAC_PI_2, FRAC_PI_2);
        camera.position = target - camera.basis()[2].as_dvec3() * self.distance;
    }

    /// Looks at the target from a side.
    pub fn look_from(&self, camera: &mut Camera, side: ViewSide) {
        let [yaw, pitch] = side.angles();
        self.look(camera, yaw, pitch);
    }

    /// Turns as if the scene were dragged, in parts of the picture's height.
    pub fn turn(&self, camera: &mut Camera, [x, y]: [f64; 2]) {
        let [left, up] = [x, y].map(|by| (-by * TURN) as f32);
        self.look(camera, camera.yaw + left, camera.pitch + up);
    }

    /// Turns by steps of 15° to the left and up.
    pub fn step(&self, camera: &mut Camera, [left, up]: [i8; 2]) {
        let [left, up] = [left, up].map(|steps| f32::from(steps) * STEP);
        self.look(camera, camera.yaw + left, camera.pitch + up);
    }

    /// Moves the camera as if the scene were dragged in the plane of the target, in parts of the
    /// picture's height.
    pub fn pan(&self, camera: &mut Camera, [x, y]: [f64; 2]) {
        let height = self.height(camera);
        let [right, up, _] = camera.basis().map(Vec3::as_dvec3);
        camera.position += (up * y - right * x) * height;
    }

    /// Moves closer by `factor`, or away if it is less than 1, so that `point` stays at its place in
    /// the picture. The distance to the target stays within 0.05 to 1,000,000 voxels.
    pub fn zoom(&mut self, camera: &mut Camera, factor: f64, point: DVec3) {
        if !(factor.is_finite() && factor > 0.0) {
            return;
        }
        let closer = Self::new(self.distance / factor);
        let scale = closer.distance / self.distance;
        camera.position = point + (camera.position - point) * scale;
        if let Projection::Orthographic { height_voxels } = &mut camera.projection {
            *height_voxels = (f64::from(*height_voxels) * scale) as f32;
        }
        *self = closer;
    }

    /// Changes between perspective and parallel projection. The target keeps its size.
    pub fn change_projection(&mut self, camera: &mut Camera) {
        let target = self.target(camera);
        let height_voxels = self.height(camera);
        match camera.projection {
            Projection::Perspective { .. } => {
                let height_voxels = height_voxels as f32;
                camera.projection = Projection::Orthographic { height_voxels };
            }
            Projection::Orthographic { .. } => {
                camera.projection = Projection::Perspective { fov_y: FOV_Y };
                *self = Self::new(self.distance * height_voxels / self.height(camera));
                camera.position = target - camera.basis()[2].as_dvec3() * self.distance;
            }
        }
    }

    /// Returns the height of the picture in the plane of the target, in voxels.
    fn height(&self, camera: &Camera) -> f64 {
        match camera.projection {
            Projection::Perspective { .. } => {
                2.0 * f64::from(camera.half_extents(1.0)[1]) * self.distance
            }
            Projection::Orthographic { height_voxels } => f64::from(height_voxels),
        }
    }

    /// Makes `point` the target without turning. A point before the camera keeps its size in the
    /// picture.
    pub fn focus(&mut self, camera: &mut Camera, point: DVec3) {
        let forward = camera.basis()[2].as_dvec3();
        let depth = (point - camera.position).dot(forward);
        if depth > 0.0 {
            *self = Self::new(depth);
        }
        camera.position = point - forward * self.distance;
    }

    /// Moves camera and target, and turns around the target, by the keys of `flight`, held for
    /// `time`. The speed follows the distance to the target.
    pub(crate) fn travel(&self, camera: &mut Camera, flight: &mut Flight, time: Duration) {
        let mut moved = *camera;
        flight.approach(self.distance, DVec3::ZERO, time);
        flight.step(&mut moved, time);
        let by = moved.position - camera.position;
        self.look(camera, moved.yaw, moved.pitch);
        camera.position += by;
    }
}

#[cfg(test)]
mod tests;
