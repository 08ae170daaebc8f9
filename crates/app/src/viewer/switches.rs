use std::time::Duration;

use drystone::scene::{self, HAZE_BEGINS};
use drystone_render::Cull;
use winit::event_loop::ActiveEventLoop;

use super::{Viewer, screen::Screen};
use crate::cli::{Haze, Tint};

/// After a rest, haze goes on as if it had been this long.
const LONGEST_STEP: Duration = Duration::from_millis(100);

impl Viewer {
    /// Has the other of GPU and CPU leave out what cannot be seen.
    pub(super) fn switch_cull(&mut self, event_loop: &ActiveEventLoop) {
        let Some(screen) = &mut self.screen else { return };
        let other = match screen.cull() {
            Cull::Cpu => Cull::Gpu,
            Cull::Gpu => Cull::Cpu,
        };
        match screen.set_cull(other) {
            // When the device is opened again, it goes on like this.
            Ok(()) => self.options.cull = screen.cull(),
            Err(error) => self.recover(event_loop, error),
        }
    }

    /// Masks facings that look away, or stops it.
    pub(super) fn switch_mask(&mut self) {
        if self.shows_model() {
            return self.say("polygon models have no facings to mask");
        }
        self.view.mask_facings = !self.view.mask_facings;
    }

    /// Whether it is of polygons.
    fn shows_model(&self) -> bool {
        self.screen.as_ref().is_some_and(Screen::is_model)
    }

    /// Tints levels of detail, or stops it.
    pub(super) fn switch_tint(&mut self) {
        if self.shows_model() {
            return self.say("polygon models have no levels of detail to tint");
        }
        self.view.tint_levels = !self.view.tint_levels;
        self.options.air.tint = self.view.tint_levels.then_some(Tint::Levels);
    }

    /// Draws the edges of quads or triangles, or stops it.
    pub(super) fn switch_wire(&mut self) {
        self.view.wire = !self.view.wire;
        self.options.air.wire = self.view.wire;
    }

    /// Has the sun stand as at this hour.
    pub(super) fn set_hour(&mut self, hour: f32) {
        self.view.atmosphere = self.view.atmosphere.with_hour(hour);
        self.options.air.hour = Some(hour);
    }

    /// Has haze hide what is farther away than this, in voxels.
    pub(super) fn set_haze(&mut self, end: f32) {
        self.view.atmosphere = self.view.atmosphere.with_haze(end * HAZE_BEGINS, end, 1.0);
        self.options.air.haze = Some(Haze::Distance(end));
    }

    /// Has haze hide where a vast world ends, from wherever the eye is, after so long; unless
    /// somebody has chosen another. Whether it is still on the way.
    pub(super) fn follow_haze(&mut self, time: Duration) -> bool {
        let Some(clear) = self.clear_air.filter(|_| self.options.air.haze.is_none()) else {
            return false;
        };
        let now = self.view.atmosphere;
        let goal = scene::edge_haze(clear, &self.view.camera, self.framed.corners());
        self.view.atmosphere = scene::haze_towards(now, &goal, time.min(LONGEST_STEP));
        self.view.atmosphere != now
    }
}
