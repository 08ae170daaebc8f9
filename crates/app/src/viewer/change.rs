//! To another renderer, or to other meshes, while the window goes on.

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

/// A change that is not done.
pub(super) struct Change {
    to: To,
    begun: Instant,
    progress: Arc<Progress>,
    /// Whether a bar says how far it is.
    is_told: bool,
    /// Frames since it was begun, and the longest.
    frames: u32,
    longest: Duration,
}

#[derive(Clone, Copy, PartialEq)]
enum To {
    Renderer(RendererKind),
    /// Whether corners are darkened.
    Occlusion(bool),
}

/// A bar that comes and goes sooner than this would only flicker.
const BAR_AFTER: Duration = Duration::from_millis(150);

impl Change {
    fn new(to: To) -> Self {
        let what = match to {
            To::Renderer(RendererKind::Pool) => "handing over to the pool",
            To::Renderer(RendererKind::Naive) => "handing over to the naive renderer",
            To::Renderer(RendererKind::Instanced(_)) => "handing over to instanced cubes",
            To::Occlusion(true) => "meshing with dark corners",
            To::Occlusion(false) => "meshing without dark corners",
        };
        let progress = Arc::new(Progress::new(what));
        let (begun, longest) = (Instant::now(), Duration::ZERO);
        Self { to, begun, progress, is_told: false, frames: 0, longest }
    }

    /// How long it took, in words.
    fn took(&self) -> String {
        let [all, longest] = [self.begun.elapsed(), self.longest].map(|it| it.as_secs_f64() * 1e3);
        let what = match self.to {
            To::Renderer(_) => "another renderer draws",
            To::Occlusion(_) => "all is meshed anew",
        };
        format!(
            "{what} after {all:.0} ms and {} frames of {longest:.0} ms at the most",
            self.frames
        )
    }
}

impl Viewer {
    /// What draws, or is to when it has everything.
    pub(super) fn wanted_renderer(&self) -> RendererKind {
        match &self.change {
            Some(Change { to: To::Renderer(kind), .. }) => *kind,
            _ => self.options.renderer,
        }
    }

    /// Shows the same with the next renderer that can.
    pub(super) fn next_renderer(&mut self, event_loop: &ActiveEventLoop) {
        let next = match self.wanted_renderer() {
            RendererKind::Pool => RendererKind::Naive,
            RendererKind::Naive => RendererKind::Instanced(SlotPolicy::Lowest),
            RendererKind::Instanced(_) => RendererKind::Pool,
        };
        match self.cannot_draw(next) {
            Some(problem) => {
                self.say(problem);
                self.switch_renderer(event_loop, RendererKind::Pool);
            }
            None => self.switch_renderer(event_loop, next),
        }
    }

    /// Why a renderer cannot show what is shown.
    fn cannot_draw(&self, renderer: RendererKind) -> Option<&'static str> {
        let options = SceneOptions { renderer, ..self.options.clone() };
        if let Some(problem) = options.conflict() {
            return Some(problem);
        }
        let screen = self.screen.as_ref()?;
        if !matches!(renderer, RendererKind::Instanced(_)) {
            None
        } else if screen.levels().is_some() {
            Some("cubes are not drawn at levels of detail: open it with --levels off")
        } else {
            screen.is_model().then_some("the instanced renderer draws no polygon models")
        }
    }

    /// Begins to show the same with another renderer, or says why that cannot be.
    pub(super) fn switch_renderer(&mut self, event_loop: &ActiveEventLoop, kind: RendererKind) {
        if let Some(problem) = self.cannot_draw(kind) {
            return self.say(problem);
        }
        let shades = matches!(&self.change, Some(Change { to: To::Occlusion(_), .. }));
        if shades || self.is_to_be_another() {
            return self.say(BUSY);
        }
        let Some(screen) = &mut self.screen else { return };
        if kind == self.options.renderer {
            screen.stop_change();
            return self.end_change();
        }
        match screen.change_renderer(kind) {
            Ok(()) => self.begin_change(To::Renderer(kind)),
            Err(error @ RenderError::Lost { .. }) => self.recover(event_loop, error),
            // What draws does so still.
            Err(error) => self.stay(&error),
        }
    }

    /// Whether something that was begun is not done.
    pub(super) fn is_changing(&self) -> bool {
        self.change.is_some() || self.is_to_be_another()
    }

    /// Whether another scene is on its way.
    fn is_to_be_another(&self) -> bool {
        self.is_read_again || self.screen.as_ref().is_some_and(Screen::has_next)
    }

    /// Darkens corners of voxels, or stops it; for those who can't, it is said why.
    pub(super) fn switch_occlusion(&mut self) {
        let ao = match &self.change {
            Some(Change { to: To::Occlusion(ao), .. }) => !ao,
            Some(_) => return self.say(BUSY),
            None if self.is_to_be_another() => return self.say(BUSY),
            None => !self.options.ao,
        };
        let options = SceneOptions { ao, ..self.options.clone() };
        if let Some(problem) = options.conflict() {
            return self.say(problem);
        }
        let Some(screen) = &mut self.screen else { return };
        if screen.levels().is_some() {
            return self.say("corners are not darkened in a world at levels of detail");
        }
        // Meshes of both kinds look alike while shades are not shown.
        self.view.atmosphere.ambient_occlusion = 0.0;
        screen.change_meshing(Meshing { occlusion: ao });
        self.begin_change(To::Occlusion(ao));
    }

    fn begin_change(&mut self, to: To) {
        self.end_change();
        self.change = Some(Change::new(to));
        self.redraw();
    }

    /// Nothing changes any more.
    pub(super) fn end_change(&mut self) {
        if self.change.take().is_some_and(|change| change.is_told) && self.loading.is_none() {
            self.overlay.set_progress(None);
        }
    }

    /// Notes how far the change is; what is `None` is done, and is from now on how it is.
    pub(super) fn go_on(&mut self, part: Option<f32>) -> Result<(), RenderError> {
        let (Some(change), Some(screen)) = (&mut self.change, &mut self.screen) else {
            return Ok(());
        };
        if let Some(part) = part {
            change.progress.set_fraction(part);
            // The last frame: at first it is that before the change.
            if change.frames > 0 {
                change.longest = change.longest.max(self.frame_time);
            }
            change.frames += 1;
            if !change.is_told && self.loading.is_none() && change.begun.elapsed() > BAR_AFTER {
                change.is_told = true;
                self.overlay.set_progress(Some(Arc::clone(&change.progress)));
            }
            return Ok(());
        }
        if self.options.verbose {
            output::note(&change.took());
        }
        match change.to {
            To::Renderer(kind) => {
                (self.options.renderer, self.settings.renderer) = (kind, kind);
                screen.set_cull(self.options.cull)?;
            }
            To::Occlusion(ao) => {
                (self.options.ao, self.settings.darkens_corners) = (ao, ao);
                self.view.atmosphere.ambient_occlusion = self.options.occlusion();
            }
        }
        self.end_change();
        Ok(())
    }

    /// A frame, or what prepared it, failed: a change that is not done is given up, and all stays
    /// as it was; what is not that is the device's.
    pub(super) fn give_up_change(&mut self, event_loop: &ActiveEventLoop, error: RenderError) {
        let is_lost = matches!(error, RenderError::Lost { .. });
        if is_lost || self.screen.is_none() || self.change.is_none() {
            return self.recover(event_loop, error);
        }
        self.stay(&error);
    }

    /// Gives up whatever change there is.
    pub(super) fn stay(&mut self, error: &dyn Display) {
        if let Some(screen) = &mut self.screen {
            screen.stop_change();
        }
        self.end_change();
        self.view.atmosphere.ambient_occlusion = self.options.occlusion();
        self.say(&format!("it stays as it is: {error}"));
        self.redraw();
    }
}

pub(super) const BUSY: &str = "wait until what is begun is done";
