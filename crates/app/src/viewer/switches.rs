use std::time::Duration;

use drystone::scene::{self, HAZE_BEGINS};
use drystone_render::Cull;
use winit::event_loop::ActiveEventLoop;

use super::{Viewer, screen::Screen};
use crate::cli::{Haze, Tint};

/// Longest time step of the haze, for instance after a pause.
const MAX_STEP: Duration = Duration::from_millis(100);

impl Viewer {
    /// Toggles culling between GPU and CPU.
    pub(super) fn switch_cull(&mut self, event_loop: &ActiveEventLoop) {
        let Some(screen) = &mut self.screen else { return };
        let other = match screen.cull() {
            Cull::Cpu => Cull::Gpu,
            Cull::Gpu => Cull::Cpu,
        };
        match screen.set_cull(other) {
            // A reopened device uses it too.
            Ok(()) => self.options.cull = screen.cull(),
            Err(error) => self.recover(event_loop, error),
        }
    }

    /// Toggles masks of face directions that point away from the camera.
    pub(super) fn switch_mask(&mut self) {
        if self.shows_model() {
            return self.notify("polygon models have no back faces to mask");
        }
        self.view.mask_facings = !self.view.mask_facings;
    }

    /// Whether a polygon model is shown.
    fn shows_model(&self) -> bool {
        self.screen.as_ref().is_some_and(Screen::is_model)
    }

    /// Toggles the tint of levels of detail.
    pub(super) fn switch_tint(&mut self) {
        if self.shows_model() {
            return self.notify("polygon models have no levels of detail to tint");
        }
        self.view.tint_levels = !self.view.tint_levels;
        self.options.air.tint = self.view.tint_levels.then_some(Tint::Levels);
    }

    /// Toggles the wireframe.
    pub(super) fn switch_wire(&mut self) {
        self.view.wire = !self.view.wire;
        self.options.air.wire = self.view.wire;
    }

    /// Sets the sun to an hour of the day.
    pub(super) fn set_hour(&mut self, hour: f32) {
        self.view.atmosphere = self.view.atmosphere.with_hour(hour);
        self.options.air.hour = Some(hour);
    }

    /// Sets the distance at which haze hides everything, in voxels.
    pub(super) fn set_haze(&mut self, end: f32) {
        self.view.atmosphere = self.view.atmosphere.with_haze(end * HAZE_BEGINS, end, 1.0);
        self.options.air.haze = Some(Haze::Distance(end));
    }

    /// Moves the haze towards one that hides the edge of a vast world from the camera, unless the
    /// user chose another. Returns whether it still changes.
    pub(super) fn follow_haze(&mut self, time: Duration) -> bool {
        let Some(clear) = self.clear_air.filter(|_| self.options.air.haze.is_none()) else {
            return false;
        };
        let now = self.view.atmosphere;
        let goal = scene::edge_haze(clear, &self.view.camera, self.framed.corners());
        self.view.atmosphere = scene::haze_towards(now, &goal, time.min(MAX_STEP));
        self.view.atmosphere != now
    }
}
