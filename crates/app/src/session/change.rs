//! Changes of renderer, meshing and culling while the session keeps drawing.

use std::{sync::Arc, time::Duration};

use drystone_render::{Cull, RenderError, SlotPolicy};
use drystone_world::World;
use web_time::Instant;

use super::{Session, Stage};
use crate::keys::Host;
use crate::scene::{Meshing, RendererKind};
use crate::{LodLimits, Progress};

/// Change in progress.
pub(super) struct Change {
    pub(super) to: ChangeTarget,
    begun: Instant,
    progress: Arc<Progress>,
    /// Frames since the start, and the longest of them.
    frames: u32,
    longest: Duration,
}

/// Goal of a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChangeTarget {
    /// The renderer.
    Renderer(RendererKind),
    /// Meshes with or without ambient occlusion.
    Occlusion(bool),
    /// Levels of detail, or full detail.
    Levels(bool),
}

/// A change that is complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// Goal of the change.
    pub to: ChangeTarget,
    /// Line for the log.
    pub report: String,
}

/// Time before a progress bar appears, so that short changes do not flicker.
pub(super) const BAR_AFTER: Duration = Duration::from_millis(150);
const NO_AO_ON_CUBES: &str =
    "the instanced renderer stores no ambient occlusion; use the pool or the naive renderer";

impl Change {
    fn new(to: ChangeTarget) -> Self {
        let what = match to {
            ChangeTarget::Renderer(kind) => format!("switching to the {} renderer", name(kind)),
            ChangeTarget::Occlusion(true) => "meshing with ambient occlusion".into(),
            ChangeTarget::Occlusion(false) => "meshing without ambient occlusion".into(),
            ChangeTarget::Levels(true) => "preparing levels of detail".into(),
            ChangeTarget::Levels(false) => "preparing full detail".into(),
        };
        let progress = Arc::new(Progress::new(what));
        Self { to, begun: Instant::now(), progress, frames: 0, longest: Duration::ZERO }
    }

    /// Records the finished fraction after a frame.
    fn advance(&mut self, part: f32, frame_time: Duration) {
        self.progress.set_fraction(part);
        // The first frame began before the change.
        if self.frames > 0 {
            self.longest = self.longest.max(frame_time);
        }
        self.frames += 1;
    }

    /// Returns the progress of a change that takes long enough to be shown.
    pub(super) fn visible_progress(&self) -> Option<&Arc<Progress>> {
        (self.frames > 0 && self.begun.elapsed() > BAR_AFTER).then_some(&self.progress)
    }

    /// Returns the log line of a finished change.
    fn report(&self) -> String {
        let (seconds, longest_ms) =
            (self.begun.elapsed().as_secs_f64(), self.longest.as_secs_f64() * 1e3);
        let what = match self.to {
            ChangeTarget::Renderer(kind) => format!("switched to the {} renderer", name(kind)),
            ChangeTarget::Occlusion(true) => "remeshed with ambient occlusion".into(),
            ChangeTarget::Occlusion(false) => "remeshed without ambient occlusion".into(),
            ChangeTarget::Levels(true) => "switched to levels of detail".into(),
            ChangeTarget::Levels(false) => "switched to full detail".into(),
        };
        let frames = self.frames;
        format!("{what} in {seconds:.1} s ({frames} frames, longest {longest_ms:.0} ms)")
    }
}

/// Returns a renderer's name, without the policy of cubes.
const fn name(kind: RendererKind) -> &'static str {
    match kind {
        RendererKind::Pool => "pool",
        RendererKind::Naive => "naive",
        RendererKind::Instanced(_) => "instanced",
    }
}

impl Session {
    /// Changes to the next renderer that can draw the content.
    pub(super) fn next_renderer(&mut self) -> Result<(), RenderError> {
        let next = match (self.requested_renderer(), self.host) {
            (RendererKind::Pool, _) => RendererKind::Naive,
            (RendererKind::Naive, Host::Window) => RendererKind::Instanced(SlotPolicy::Lowest),
            (RendererKind::Naive, Host::Page) | (RendererKind::Instanced(_), _) => {
                RendererKind::Pool
            }
        };
        match self.cannot_draw(next) {
            Some(problem) => {
                self.say(problem);
                self.switch_renderer(RendererKind::Pool)
            }
            None => self.switch_renderer(next),
        }
    }

    /// Returns why a renderer cannot draw the content.
    pub(super) fn cannot_draw(&self, renderer: RendererKind) -> Option<&'static str> {
        if !matches!(renderer, RendererKind::Instanced(_)) {
            return None;
        }
        let stage = self.stage.as_ref()?;
        if stage.has_levels() {
            Some("the instanced renderer has no levels of detail; press L first")
        } else {
            stage.is_model().then_some("the instanced renderer does not draw polygon models")
        }
    }

    /// Begins a change of renderer, or says why it is not possible.
    pub(super) fn switch_renderer(&mut self, kind: RendererKind) -> Result<(), RenderError> {
        if let Some(problem) = self.cannot_draw(kind) {
            self.say(problem);
            return Ok(());
        }
        let to = self.change.as_ref().map(|change| change.to);
        if matches!(to, Some(ChangeTarget::Occlusion(_) | ChangeTarget::Levels(_))) {
            self.say(Self::BUSY);
            return Ok(());
        }
        let meshing = self.meshing_for(kind);
        let Some(stage) = &mut self.stage else { return Ok(()) };
        if kind == self.renderer {
            stage.stop_change();
            self.change = None;
            return Ok(());
        }
        match stage.change_renderer(kind, meshing) {
            Ok(()) => self.change = Some(Change::new(ChangeTarget::Renderer(kind))),
            Err(error @ RenderError::Lost { .. }) => return Err(error),
            // The old renderer keeps drawing.
            Err(error) => self.cancel_change(&error),
        }
        Ok(())
    }

    /// Toggles ambient occlusion, or says why it is not possible.
    pub(super) fn switch_occlusion(&mut self) {
        let occlusion = match &self.change {
            Some(Change { to: ChangeTarget::Occlusion(occlusion), .. }) => !occlusion,
            Some(_) => return self.say(Self::BUSY),
            None => !self.camera.look().occlusion,
        };
        let Some(stage) = &mut self.stage else { return };
        if stage.is_model() {
            return self.say("ambient occlusion is not available for polygon models");
        }
        if !self.renderer.has_occlusion() {
            return self.say(NO_AO_ON_CUBES);
        }
        // Without the effect, old and new meshes look the same.
        self.camera.view.atmosphere.ambient_occlusion = 0.0;
        stage.change_meshing(Meshing { occlusion });
        self.change = Some(Change::new(ChangeTarget::Occlusion(occlusion)));
    }

    /// Toggles levels of detail, or says why it is not possible. The current scene is drawn until the
    /// other one is complete; until then, the change can be cancelled by toggling again.
    pub(super) fn switch_levels(&mut self) -> Result<(), RenderError> {
        match (self.change.as_ref().map(|change| change.to), &mut self.stage) {
            (Some(ChangeTarget::Levels(on)), Some(stage)) => {
                stage.stop_change();
                self.change = None;
                self.camera.set_edge_haze(!on);
                self.set_message(format!(
                    "levels of detail stay {}",
                    if on { "off" } else { "on" }
                ));
                return Ok(());
            }
            (Some(_), _) => {
                self.say(Self::BUSY);
                return Ok(());
            }
            (None, _) => {}
        }
        let has_levels = !self.has_levels();
        if let Some(problem) = self.cannot_show(has_levels) {
            self.say(problem);
            return Ok(());
        }
        let failed = self.finish_editing();
        let Some(stage) = &mut self.stage else { return Ok(()) };
        let limits = if has_levels { LodLimits::all_levels } else { LodLimits::full_detail };
        match stage.change_limits(limits, self.renderer) {
            Ok(()) => self.change = Some(Change::new(ChangeTarget::Levels(has_levels))),
            Err(error @ RenderError::Lost { .. }) => return Err(error),
            Err(error) => {
                self.say(format!("nothing was changed: {error}"));
                return Ok(());
            }
        }
        self.camera.set_edge_haze(has_levels);
        let words = if has_levels { "levels of detail on" } else { "levels of detail off" };
        self.set_message(failed.map_or(words.into(), |error| format!("{words}; {error}")));
        Ok(())
    }

    /// Shows the content at levels of detail after it did not fit into memory in full detail.
    ///
    /// # Errors
    /// The error itself, if the content or the renderer has no levels of detail.
    pub(super) fn show_levels_instead(&mut self, error: RenderError) -> Result<(), RenderError> {
        let is_full = self.stage.as_ref().is_some_and(Stage::is_full);
        if !is_full || self.has_levels() || self.cannot_show(true).is_some() {
            return Err(error);
        }
        self.switch_levels()?;
        if !self.is_changing() {
            return Err(error);
        }
        self.say("levels of detail on: the renderer has no memory for full detail");
        Ok(())
    }

    /// Returns why the content cannot be shown with or without levels of detail.
    fn cannot_show(&self, has_levels: bool) -> Option<String> {
        const MAX_CHUNKS: u64 = World::MAX_CHUNKS as u64;
        if self.is_model() {
            return Some("polygon models have no levels of detail".into());
        }
        let chunks = self.stage.as_ref()?.data()?.source().chunk_count();
        if has_levels && matches!(self.renderer, RendererKind::Instanced(_)) {
            return Some("the instanced renderer has no levels of detail; press R first".into());
        }
        (!has_levels && chunks > MAX_CHUNKS).then(|| {
            format!(
                "{chunks} chunks are too many for full detail, which shows at most {MAX_CHUNKS}"
            )
        })
    }

    /// Toggles culling between GPU and CPU.
    pub(super) fn switch_cull(&mut self) -> Result<(), RenderError> {
        if self.host == Host::Page {
            self.say("GPU culling is not available in browsers: they have no multi-draw");
            return Ok(());
        }
        let Some(stage) = &mut self.stage else { return Ok(()) };
        let other = match stage.renderer().cull() {
            Cull::Cpu => Cull::Gpu,
            Cull::Gpu => Cull::Cpu,
        };
        let refused = stage.set_cull(other)?;
        // A reopened device uses it too.
        self.cull = stage.renderer().cull();
        self.note(refused);
        Ok(())
    }

    /// Continues a change. `part` is the finished fraction,
    /// from 0 to 1, or `None` if all work is finished. Returns the change once it is complete.
    pub(super) fn continue_change(
        &mut self,
        part: Option<f32>,
    ) -> Result<Option<Changed>, RenderError> {
        let (Some(change), Some(stage)) = (&mut self.change, &mut self.stage) else {
            return Ok(None);
        };
        if let Some(part) = part {
            change.advance(part, self.pace.frame_time);
            return Ok(None);
        }
        let changed = Changed { to: change.to, report: change.report() };
        match changed.to {
            ChangeTarget::Renderer(kind) => self.renderer = kind,
            ChangeTarget::Occlusion(occlusion) => self.camera.options.look.occlusion = occlusion,
            ChangeTarget::Levels(_) => {}
        }
        self.change = None;
        if let ChangeTarget::Renderer(_) | ChangeTarget::Levels(_) = changed.to {
            // The renderer is new.
            let refused = stage.set_cull(self.cull)?;
            self.note(refused);
        }
        self.show_occlusion();
        Ok(Some(changed))
    }

    /// Returns the options of the mesher for a renderer: without ambient occlusion if it has none.
    pub(super) const fn meshing_for(&self, renderer: RendererKind) -> Meshing {
        Meshing { occlusion: renderer.has_occlusion() && self.camera.look().occlusion }
    }

    /// Sets the strength of ambient occlusion in pictures, 0 if the renderer has none.
    pub(super) const fn show_occlusion(&mut self) {
        let has_occlusion = self.renderer.has_occlusion();
        let strength = if has_occlusion { self.camera.look().strength() } else { 0.0 };
        self.camera.view.atmosphere.ambient_occlusion = strength;
    }

    /// Cancels any change and says why.
    pub(super) fn cancel_change(&mut self, error: &dyn std::fmt::Display) {
        if let Some(stage) = &mut self.stage {
            stage.stop_change();
        }
        self.change = None;
        self.show_occlusion();
        let has_levels = self.has_levels();
        self.camera.set_edge_haze(has_levels);
        self.say(format!("nothing was changed: {error}"));
    }
}
