//! Changes of renderer or meshing while the window keeps drawing.

use std::{
    fmt::Display,
    sync::Arc,
    time::{Duration, Instant},
};

use drystone::scene::{Meshing, RendererKind};
use drystone_render::{RenderError, SlotPolicy};
use winit::event_loop::ActiveEventLoop;

use super::{Viewer, screen::Screen};
use crate::{cli::SceneOptions, output, progress::Progress};

/// Change in progress.
pub(super) struct Change {
    to: ChangeTarget,
    begun: Instant,
    progress: Arc<Progress>,
    /// Whether a progress bar is shown.
    is_shown: bool,
    /// Frames since the start, and the longest of them.
    frames: u32,
    longest: Duration,
}

#[derive(Clone, Copy, PartialEq)]
enum ChangeTarget {
    Renderer(RendererKind),
    /// Whether ambient occlusion is meshed.
    Occlusion(bool),
}

/// Time before a progress bar appears, so that short changes do not flicker.
const BAR_AFTER: Duration = Duration::from_millis(150);

impl Change {
    fn new(to: ChangeTarget) -> Self {
        let what = match to {
            ChangeTarget::Renderer(RendererKind::Pool) => "switching to the pool renderer",
            ChangeTarget::Renderer(RendererKind::Naive) => "switching to the naive renderer",
            ChangeTarget::Renderer(RendererKind::Instanced(_)) => {
                "switching to the instanced renderer"
            }
            ChangeTarget::Occlusion(true) => "meshing with ambient occlusion",
            ChangeTarget::Occlusion(false) => "meshing without ambient occlusion",
        };
        let progress = Arc::new(Progress::new(what));
        let (begun, longest) = (Instant::now(), Duration::ZERO);
        Self { to, begun, progress, is_shown: false, frames: 0, longest }
    }

    /// Returns the log line of a finished change.
    fn took(&self) -> String {
        let (seconds, longest_ms) =
            (self.begun.elapsed().as_secs_f64(), self.longest.as_secs_f64() * 1e3);
        let what = match self.to {
            ChangeTarget::Renderer(RendererKind::Pool) => "switched to the pool renderer",
            ChangeTarget::Renderer(RendererKind::Naive) => "switched to the naive renderer",
            ChangeTarget::Renderer(RendererKind::Instanced(_)) => {
                "switched to the instanced renderer"
            }
            ChangeTarget::Occlusion(true) => "remeshed with ambient occlusion",
            ChangeTarget::Occlusion(false) => "remeshed without ambient occlusion",
        };
        let frames = self.frames;
        format!("{what} in {seconds:.1} s ({frames} frames, longest {longest_ms:.0} ms)")
    }
}

impl Viewer {
    /// Returns the current renderer, or the one that a change leads to.
    pub(super) fn requested_renderer(&self) -> RendererKind {
        match &self.change {
            Some(Change { to: ChangeTarget::Renderer(kind), .. }) => *kind,
            _ => self.options.renderer,
        }
    }

    /// Changes to the next renderer that can draw the content.
    pub(super) fn next_renderer(&mut self, event_loop: &ActiveEventLoop) {
        let next = match self.requested_renderer() {
            RendererKind::Pool => RendererKind::Naive,
            RendererKind::Naive => RendererKind::Instanced(SlotPolicy::Lowest),
            RendererKind::Instanced(_) => RendererKind::Pool,
        };
        match self.cannot_draw(next) {
            Some(problem) => {
                self.notify(problem);
                self.switch_renderer(event_loop, RendererKind::Pool);
            }
            None => self.switch_renderer(event_loop, next),
        }
    }

    /// Returns why a renderer cannot draw the content.
    fn cannot_draw(&self, renderer: RendererKind) -> Option<&'static str> {
        let options = SceneOptions { renderer, ..self.options.clone() };
        if let Some(problem) = options.conflict() {
            return Some(problem);
        }
        let screen = self.screen.as_ref()?;
        if !matches!(renderer, RendererKind::Instanced(_)) {
            None
        } else if screen.levels().is_some() {
            Some("the instanced renderer has no levels of detail; open the world with --levels off")
        } else {
            screen.is_model().then_some("the instanced renderer does not draw polygon models")
        }
    }

    /// Begins a change of renderer, or reports why it is not possible.
    pub(super) fn switch_renderer(&mut self, event_loop: &ActiveEventLoop, kind: RendererKind) {
        if let Some(problem) = self.cannot_draw(kind) {
            return self.notify(problem);
        }
        let is_meshing =
            matches!(&self.change, Some(Change { to: ChangeTarget::Occlusion(_), .. }));
        if is_meshing || self.is_scene_changing() {
            return self.notify(BUSY);
        }
        let Some(screen) = &mut self.screen else { return };
        if kind == self.options.renderer {
            screen.stop_change();
            return self.end_change();
        }
        match screen.change_renderer(kind) {
            Ok(()) => self.begin_change(ChangeTarget::Renderer(kind)),
            Err(error @ RenderError::Lost { .. }) => self.recover(event_loop, error),
            // The old renderer keeps drawing.
            Err(error) => self.cancel_change(&error),
        }
    }

    /// Whether any change is in progress.
    pub(super) fn is_changing(&self) -> bool {
        self.change.is_some() || self.is_scene_changing()
    }

    /// Whether another scene is being prepared.
    fn is_scene_changing(&self) -> bool {
        self.is_reread || self.screen.as_ref().is_some_and(Screen::has_next)
    }

    /// Toggles ambient occlusion, or reports why it is not possible.
    pub(super) fn switch_occlusion(&mut self) {
        let ao = match &self.change {
            Some(Change { to: ChangeTarget::Occlusion(ao), .. }) => !ao,
            Some(_) => return self.notify(BUSY),
            None if self.is_scene_changing() => return self.notify(BUSY),
            None => !self.options.ao,
        };
        let options = SceneOptions { ao, ..self.options.clone() };
        if let Some(problem) = options.conflict() {
            return self.notify(problem);
        }
        let Some(screen) = &mut self.screen else { return };
        if screen.levels().is_some() {
            return self
                .notify("ambient occlusion is not available at levels of detail; press L first");
        }
        // Without the effect, old and new meshes look the same.
        self.view.atmosphere.ambient_occlusion = 0.0;
        screen.change_meshing(Meshing { occlusion: ao });
        self.begin_change(ChangeTarget::Occlusion(ao));
    }

    fn begin_change(&mut self, to: ChangeTarget) {
        self.end_change();
        self.change = Some(Change::new(to));
        self.redraw();
    }

    /// Ends the change and hides its progress bar.
    pub(super) fn end_change(&mut self) {
        if self.change.take().is_some_and(|change| change.is_shown) && self.loading.is_none() {
            self.overlay.set_progress(None);
        }
    }

    /// Continues a change: `part` is the finished fraction, `None` once complete.
    pub(super) fn continue_change(&mut self, part: Option<f32>) -> Result<(), RenderError> {
        let (Some(change), Some(screen)) = (&mut self.change, &mut self.screen) else {
            return Ok(());
        };
        if let Some(part) = part {
            change.progress.set_fraction(part);
            // The time of the last frame; the first one began before the change.
            if change.frames > 0 {
                change.longest = change.longest.max(self.frame_time);
            }
            change.frames += 1;
            if !change.is_shown && self.loading.is_none() && change.begun.elapsed() > BAR_AFTER {
                change.is_shown = true;
                self.overlay.set_progress(Some(Arc::clone(&change.progress)));
            }
            return Ok(());
        }
        if self.options.verbose {
            output::note(&change.took());
        }
        match change.to {
            ChangeTarget::Renderer(kind) => {
                (self.options.renderer, self.settings.renderer) = (kind, kind);
                screen.set_cull(self.options.cull)?;
            }
            ChangeTarget::Occlusion(ao) => {
                (self.options.ao, self.settings.darkens_corners) = (ao, ao);
                self.view.atmosphere.ambient_occlusion = self.options.occlusion();
            }
        }
        self.end_change();
        Ok(())
    }

    /// Handles a failed frame. A change in progress is cancelled; without one, the device is
    /// recovered.
    pub(super) fn abort_change(&mut self, event_loop: &ActiveEventLoop, error: RenderError) {
        let is_lost = matches!(error, RenderError::Lost { .. });
        if is_lost || self.screen.is_none() || self.change.is_none() {
            return self.recover(event_loop, error);
        }
        self.cancel_change(&error);
    }

    /// Cancels any change and reports the error.
    pub(super) fn cancel_change(&mut self, error: &dyn Display) {
        if let Some(screen) = &mut self.screen {
            screen.stop_change();
        }
        self.end_change();
        self.view.atmosphere.ambient_occlusion = self.options.occlusion();
        self.notify(&format!("nothing was changed: {error}"));
        self.redraw();
    }
}

pub(super) const BUSY: &str = "wait until the current change is done";
