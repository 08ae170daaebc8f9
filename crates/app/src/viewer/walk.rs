//! Walking instead of flying.

use std::time::Duration;

use drystone::Walk;

use super::Viewer;

impl Viewer {
    /// Toggles between walking and flying.
    pub(super) fn switch_walking(&mut self) {
        if self.walk.take().is_some() {
            return;
        }
        match self.screen.as_mut().and_then(|screen| screen.edit_scene()) {
            Some(scene) => {
                let corners = self.editing.grown(self.framed.corners());
                self.walk = Some(Walk::start(&mut self.view.camera, scene, corners));
            }
            None => self.notify("walking needs a voxel world; fly around the model instead"),
        }
    }

    /// Moves the camera by the keys held for `time`.
    pub(super) fn travel(&mut self, time: Duration) {
        let camera = &mut self.view.camera;
        let (Some(walk), Some(screen)) = (&mut self.walk, &mut self.screen) else {
            return self.flight.step(camera, time);
        };
        let Some(scene) = screen.edit_scene() else { return };
        walk.travel(camera, &self.flight, scene, self.framed.corners().0.y, time);
    }

    /// Whether the camera moves without a key.
    pub(super) fn is_falling(&self) -> bool {
        self.walk.is_some_and(|walk| !walk.is_on_ground())
    }
}
