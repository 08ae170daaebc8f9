//! Walking instead of flying.

use std::time::Duration;

use drystone::Walk;

use super::Viewer;

impl Viewer {
    /// Walks, or flies again.
    pub(super) fn switch_walking(&mut self) {
        let has_voxels = self.screen.as_mut().is_some_and(|it| it.edit_scene().is_some());
        if !has_voxels {
            return self.say("nobody walks on polygon models");
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
        walk.travel(camera, &self.flight, scene, self.corners.0.y, time);
    }

    /// Whether the eye moves by itself.
    pub(super) fn is_falling(&self) -> bool {
        self.walk.is_some_and(|walk| !walk.is_on_ground())
    }
}
