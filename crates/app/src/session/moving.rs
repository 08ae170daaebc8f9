//! Movements of the camera that depend on the scene.

use std::time::Duration;

use glam::DVec3;

use super::camera::Movement;
use super::{CameraControl, Stage};
use crate::{Action, CameraKind};

/// Part of a scene's size that counts as the distance to the nearest surface where it is unknown.
const UNKNOWN_CLEARANCE: f64 = 0.1;

impl CameraControl {
    /// Executes an action [of the camera](Action::is_of_camera) in a scene within the box `corners`.
    /// Returns why it is not possible.
    pub(super) fn move_in(
        &mut self,
        stage: Option<&mut Stage>,
        corners: (DVec3, DVec3),
        action: Action,
    ) -> Option<&'static str> {
        let walks = self.kind() == CameraKind::Walk;
        match action {
            Action::Walk if walks => self.fly(),
            Action::Walk | Action::Camera(CameraKind::Walk) => {
                match stage.and_then(Stage::voxel_scene) {
                    Some(scene) => self.walk(scene, corners),
                    None => {
                        return Some("walking needs a voxel world; fly around the model instead");
                    }
                }
            }
            Action::Camera(CameraKind::Fly) => self.fly(),
            Action::Camera(CameraKind::Orbit) => {
                self.orbit();
            }
            Action::Wheel(notches, at) => {
                // Only an orbit needs the point, and finding it may read chunks.
                let orbits = self.kind() == CameraKind::Orbit;
                let point = if orbits { self.point_at(stage, at) } else { None };
                self.wheel(notches, at, point);
            }
            Action::Zoom(factor, at) => self.zoom(factor, at, self.point_at(stage, at)),
            Action::Focus(at) => {
                if let Some(point) = self.point_at(stage, at) {
                    self.focus(point);
                }
            }
            _ => {}
        }
        None
    }

    /// Moves the camera by the keys held for `time`, and the haze, in a scene within the box `corners`.
    /// Returns what stopped it.
    pub(super) fn travel(
        &mut self,
        time: Duration,
        stage: Option<&mut Stage>,
        corners: (DVec3, DVec3),
    ) -> Option<&'static str> {
        let mut stopped = None;
        let (flight, camera) = (&mut self.flight, &mut self.view.camera);
        match &mut self.movement {
            Movement::Orbit(orbit) => orbit.travel(camera, flight, time),
            Movement::Fly => {
                let (min, max) = corners;
                let at = camera.position;
                let outside = at - at.max(min).min(max);
                let direction = flight.direction(camera);
                let is_held = direction != DVec3::ZERO;
                let ahead = if is_held { direction } else { camera.basis()[2].as_dvec3() };
                let clearance = stage.and_then(|stage| stage.clearance(at, ahead));
                let unknown = (max - min).max_element() * UNKNOWN_CLEARANCE;
                let clearance = clearance.unwrap_or(unknown.max(outside.length()));
                flight.approach(clearance, outside, time);
                flight.step(camera, time);
            }
            Movement::Walk(walk) => {
                if let Some(scene) = stage.and_then(Stage::voxel_scene)
                    && walk.travel(camera, flight, scene, corners, time)
                {
                    stopped = Some("the world ends here; press F to fly");
                }
            }
        }
        self.follow_haze(time);
        stopped
    }

    /// Returns the point of the scene at a place of the picture, in pixels from the top left.
    ///
    /// # Cost
    /// For voxels, O(voxels that the ray crosses within reach); for a model, O(its triangles).
    fn point_at(&self, stage: Option<&mut Stage>, at: [f64; 2]) -> Option<DVec3> {
        let ray = self.ray(at);
        let distance = stage?.hit(&ray)?;
        let direction = DVec3::from_array(ray.direction).normalize();
        Some(DVec3::from_array(ray.origin) + direction * distance)
    }
}
