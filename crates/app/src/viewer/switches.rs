use drystone_render::Cull;
use winit::event_loop::ActiveEventLoop;

use super::Viewer;
use crate::cli::SceneOptions;

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

    /// Darkens corners of voxels, or stops it; for those who can't, it is said why.
    pub(super) fn switch_occlusion(&mut self, event_loop: &ActiveEventLoop) {
        let options = SceneOptions { ao: !self.options.ao, ..self.options.clone() };
        if let Some(problem) = options.misused() {
            return self.say(problem);
        }
        let Some(screen) = &mut self.screen else { return };
        if screen.levels().is_some() {
            return self.say("corners are not darkened in a world at levels of detail");
        }
        match screen.remesh(options.meshing()) {
            // When the device is opened again, it goes on like this.
            Ok(()) => {
                self.view.atmosphere.occlusion = options.occlusion();
                self.settings.darkens_corners = options.ao;
                self.options = options;
            }
            Err(error) => self.recover(event_loop, error),
        }
    }
}
