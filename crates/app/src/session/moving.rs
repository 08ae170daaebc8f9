//! Movements of the camera that depend on the scene.

use glam::DVec3;

use super::{CameraControl, Stage};
use crate::{Action, CameraKind};

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
            Action::Wheel(notches, at) => self.wheel(notches, at, self.zoom_point(stage, at)),
            Action::Zoom(factor, at) => self.zoom(factor, at, self.zoom_point(stage, at)),
            Action::Focus(at) => {
                if let Some(point) = self.point_at(stage, at) {
                    self.focus(point);
                }
            }
            _ => {}
        }
        None
    }

    /// Returns the point of the scene to zoom to, at a place of the picture in pixels. `None` if the camera
    /// does not orbit: only an orbit needs it, and finding it may read chunks.
    fn zoom_point(&self, stage: Option<&mut Stage>, at: [f64; 2]) -> Option<DVec3> {
        if self.kind() == CameraKind::Orbit { self.point_at(stage, at) } else { None }
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
