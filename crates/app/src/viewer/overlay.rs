//! The panels over the scene: statistics, switches, help. Hidden, they cost nothing.
//!
//! ```text
//!  window events ─► egui input ─┐
//!  Facts of the viewer ─────────┴► panels ─► Actions ─► executed by the viewer
//!                                    └► triangles ─► Output::set_overlay
//! ```
//! Panels are rebuilt on input, when egui requests it, and a few times a second while frames are
//! drawn. In between, the same triangles are drawn again.

mod frame_times;
mod help;
mod mesh;
mod panels;
mod pool_map;
mod progress;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drystone::Action;
use drystone_render::Overlay as Triangles;
use egui::{CursorIcon, epaint::ClippedShape};
use egui_winit::State;
use winit::{
    dpi::PhysicalPosition,
    event::{ElementState, WindowEvent},
    window::Window,
};

use drystone::Progress;
pub(super) use frame_times::{FrameTimes, Percentiles};
pub(crate) use mesh::Textures;
use panels::Panels;
pub(super) use panels::{EditFacts, Facts};

/// Panels over the scene.
pub(super) struct Overlay {
    /// Created when panels are first shown.
    egui: Option<State>,
    panels: Panels,
    textures: Textures,
    pub(super) times: FrameTimes,
    /// Recent times of building the panels.
    build_times: FrameTimes,
    /// Time of the last build, until it is taken.
    last_build_time: Option<Duration>,
    shows_panels: bool,
    shows_help: bool,
    /// Current long operation, and its start.
    progress: Option<(Arc<Progress>, Instant)>,
    /// Whether the renderer has an overlay to draw.
    is_drawn: bool,
    /// Whether there was input since the panels were built.
    has_input: bool,
    is_pointed_at: bool,
    /// Last position of the pointer, in pixels.
    pointer: PhysicalPosition<f64>,
    made: Option<Instant>,
    /// Finished layout that the next frame tessellates.
    laid_out: Option<LaidOut>,
    /// Time of the repaint that egui requested.
    repaint_at: Option<Instant>,
    /// Time to refresh statistics that are behind the last frames.
    refresh_at: Option<Instant>,
    /// Whether the next frame is drawn only for that refresh.
    is_refreshing: bool,
    /// Text on edits that the panels show.
    edits_text: String,
}

/// Interval of panel rebuilds while frames are drawn; short enough to read along.
const REFRESH: Duration = Duration::from_millis(100);

/// Panels as shapes.
struct LaidOut {
    shapes: Vec<ClippedShape>,
    pixels_per_point: f32,
    /// Textures that are unused after these shapes.
    freed: Vec<u64>,
}

/// Result of passing an event to the panels.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventResult {
    /// Whether the event belongs to the panels alone.
    pub(super) is_taken: bool,
    /// Whether the panels have to be repainted.
    pub(super) repaint: bool,
}

impl Overlay {
    pub(super) fn new(shows_panels: bool) -> Self {
        Self {
            egui: None,
            panels: Panels::default(),
            textures: Textures::default(),
            times: FrameTimes::default(),
            build_times: FrameTimes::default(),
            last_build_time: None,
            shows_panels,
            shows_help: false,
            progress: None,
            is_drawn: false,
            has_input: true,
            is_pointed_at: false,
            pointer: PhysicalPosition::new(-1.0, -1.0),
            made: None,
            laid_out: None,
            repaint_at: None,
            refresh_at: None,
            is_refreshing: false,
            edits_text: String::new(),
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        self.shows_panels || self.shows_help || self.progress.is_some()
    }

    pub(super) const fn switch_panels(&mut self) {
        self.shows_panels = !self.shows_panels;
        self.has_input = true;
    }

    pub(super) const fn switch_help(&mut self) {
        self.shows_help = !self.shows_help;
        self.has_input = true;
    }

    /// Shows the progress of a long operation, or hides it. Returns whether that changes anything.
    pub(super) fn show_progress(&mut self, progress: Option<&Arc<Progress>>) -> bool {
        let is_shown = match (&self.progress, progress) {
            (Some((shown, _)), Some(progress)) => Arc::ptr_eq(shown, progress),
            (None, None) => true,
            _ => false,
        };
        if !is_shown {
            self.progress = progress.map(|progress| (Arc::clone(progress), Instant::now()));
            self.has_input = true;
        }
        !is_shown
    }

    /// Passes an event to the panels. While the mouse is captured, they get no event of the pointer
    /// and no key. Releases always reach the viewer too, so that no key or button stays pressed.
    pub(super) fn take_event(
        &mut self,
        window: &Window,
        event: &WindowEvent,
        is_captured: bool,
    ) -> EventResult {
        let is_release = |state: ElementState| state == ElementState::Released;
        match event {
            WindowEvent::KeyboardInput { event: key, .. } => {
                let is_theirs = !is_captured && self.key(window, event);
                let is_taken = is_theirs && !is_release(key.state);
                EventResult { is_taken, repaint: is_theirs }
            }
            WindowEvent::CursorMoved { .. }
            | WindowEvent::MouseInput { .. }
            | WindowEvent::MouseWheel { .. }
                if is_captured =>
            {
                EventResult::default()
            }
            WindowEvent::MouseInput { state, .. } if is_release(*state) => {
                EventResult { is_taken: false, ..self.event(window, event) }
            }
            WindowEvent::CursorMoved { .. }
            | WindowEvent::MouseInput { .. }
            | WindowEvent::MouseWheel { .. } => self.event(window, event),
            _ => EventResult { is_taken: false, ..self.event(window, event) },
        }
    }

    /// Whether the list of keys is shown.
    pub(super) const fn shows_help(&self) -> bool {
        self.shows_help
    }

    /// Notes that the renderer's overlay was cleared; its textures remain.
    pub(super) const fn cleared(&mut self) {
        (self.is_drawn, self.has_input) = (false, true);
    }

    /// Hides everything after the renderer failed to draw it, until it is opened again.
    pub(super) fn hide_all(&mut self) {
        (self.shows_panels, self.shows_help, self.progress) = (false, false, None);
        self.forget();
        self.is_drawn = false;
    }

    /// Resets the renderer's state after a change of renderer.
    pub(super) fn forget(&mut self) {
        self.textures.forget();
        self.laid_out = None;
        (self.is_drawn, self.has_input) = (false, true);
    }

    /// Passes a pointer or window event to the panels.
    fn event(&mut self, window: &Window, event: &WindowEvent) -> EventResult {
        let is_open = self.is_open();
        if let WindowEvent::CursorMoved { position, .. } = event {
            self.pointer = *position;
        }
        let Some(egui) = self.egui.as_mut().filter(|_| is_open) else {
            return EventResult::default();
        };
        // The panels may have changed under the pointer.
        let was_pointed_at = self.is_pointed_at;
        self.is_pointed_at = is_over(egui, self.pointer);
        if let WindowEvent::MouseInput { device_id, .. } = event {
            // egui may have missed the pointer's position while it was closed.
            let (device_id, position) = (*device_id, self.pointer);
            let moved = WindowEvent::CursorMoved { device_id, position };
            let _ = egui.on_window_event(window, &moved);
        }
        let response = egui.on_window_event(window, event);
        let is_elsewhere = matches!(event, WindowEvent::CursorMoved { .. })
            && !(was_pointed_at || self.is_pointed_at || response.consumed);
        let is_own = matches!(event, WindowEvent::RedrawRequested);
        let repaint = response.repaint && !is_elsewhere && !is_own;
        self.has_input |= repaint;
        // egui's answer on presses is from its last pass; the pointer may have left since.
        let is_held = egui.egui_ctx().egui_is_using_pointer();
        EventResult { is_taken: is_held || self.is_pointed_at, repaint }
    }

    /// Passes a key to the panels while a text field has the focus. Returns whether the key was
    /// used.
    fn key(&mut self, window: &Window, event: &WindowEvent) -> bool {
        let is_open = self.is_open();
        let Some(egui) = self.egui.as_mut().filter(|_| is_open) else { return false };
        if !egui.egui_ctx().text_edit_focused() {
            return false;
        }
        let _ = egui.on_window_event(window, event);
        self.has_input = true;
        true
    }

    /// Closes open lists of the panels. Returns whether there were any.
    pub(super) fn close_lists(&mut self) -> bool {
        let is_open = self.egui.as_ref().is_some_and(|egui| panels::close_lists(egui.egui_ctx()));
        self.has_input |= is_open;
        is_open
    }

    /// Removes the pointer from the panels while the scene has it captured.
    pub(super) fn lose_pointer(&mut self) {
        if let Some(egui) = &mut self.egui {
            egui.egui_input_mut().events.push(egui::Event::PointerGone);
            self.has_input = true;
        }
    }

    /// Whether the panels have to be rebuilt or removed for the next frame.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let is_old = self.made.is_none_or(|made| now.duration_since(made) >= REFRESH);
        let is_requested = self.repaint_at.is_some_and(|at| at <= now) || self.laid_out.is_some();
        if self.is_open() { is_old || is_requested || self.has_input } else { self.is_drawn }
    }

    /// Returns when the panels need a frame without input.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        let laid_out = self.made.filter(|_| self.laid_out.is_some());
        let times = self.repaint_at.into_iter().chain(self.refresh_at).chain(laid_out);
        times.min().filter(|_| self.is_open())
    }

    /// Whether that time has come; also begins a due refresh.
    pub(super) fn wakes(&mut self, now: Instant) -> bool {
        if self.wakes_at().is_none_or(|at| at > now) {
            return false;
        }
        if self.refresh_at.take_if(|at| *at <= now).is_some() {
            (self.is_refreshing, self.has_input) = (true, true);
        }
        true
    }

    /// Records a frame. Its statistics are shown a little later, unless another rebuild comes
    /// first.
    pub(super) fn frame_ended(&mut self, now: Instant, time: Duration) {
        self.times.push(time);
        let is_own = std::mem::replace(&mut self.is_refreshing, false);
        if !is_own && self.is_open() {
            self.refresh_at = Some(now + REFRESH);
        }
    }

    /// Records the time of building the panels and setting the overlay.
    pub(super) fn built_in(&mut self, time: Duration) {
        self.build_times.push(time);
        self.last_build_time = Some(time);
    }

    /// Takes the time of the last build.
    pub(super) const fn take_build_time(&mut self) -> Option<Duration> {
        self.last_build_time.take()
    }

    /// Sets the text on edits; returns whether the panels have to be rebuilt for it.
    pub(super) fn set_edits_text(&mut self, edits: &str) -> bool {
        if !self.shows_panels || self.edits_text == edits {
            return false;
        }
        edits.clone_into(&mut self.edits_text);
        self.has_input = true;
        true
    }

    /// Builds the panels from `facts` and adds the user's actions to `actions`. Returns the new
    /// overlay, or `None` if it does not change. `cursor` is the cursor icon over the scene, `None`
    /// if hidden.
    ///
    /// After input, layout and tessellation happen in one frame. For a refresh of statistics they
    /// are split over two frames, so that no frame takes the time of both.
    pub(super) fn make(
        &mut self,
        window: &Window,
        facts: Option<&Facts<'_>>,
        cursor: Option<CursorIcon>,
        actions: &mut Vec<Action>,
    ) -> Option<Triangles> {
        let now = Instant::now();
        let has_changed = self.has_input || !self.is_drawn;
        (self.made, self.is_drawn) = (Some(now), self.is_open());
        if !self.is_drawn {
            self.laid_out = None;
            return Some(Triangles::default());
        }
        self.lay_out(window, facts, cursor, actions);
        if has_changed {
            return self.paint();
        }
        None
    }

    /// Whether a layout waits to be tessellated and no input has come since.
    pub(super) const fn is_laid_out(&self) -> bool {
        self.laid_out.is_some() && !self.has_input
    }

    /// Tessellates the waiting layout; `None` if there is none.
    pub(super) fn paint(&mut self) -> Option<Triangles> {
        let LaidOut { shapes, pixels_per_point, freed } = self.laid_out.take()?;
        let context = self.egui.as_ref()?.egui_ctx();
        let primitives = context.tessellate(shapes, pixels_per_point);
        Some(Triangles { freed, ..self.textures.overlay(&primitives, pixels_per_point) })
    }

    fn lay_out(
        &mut self,
        window: &Window,
        facts: Option<&Facts<'_>>,
        cursor: Option<CursorIcon>,
        actions: &mut Vec<Action>,
    ) {
        let egui = self.egui.get_or_insert_with(|| state(window));
        let input = egui.take_egui_input(window);
        let context = egui.egui_ctx().clone();
        let mut is_help_open = self.shows_help;
        let (panels, times) = (&mut self.panels, [&self.times, &self.build_times]);
        let progress = &self.progress;
        let output = context.run_pass(input, |context| {
            if let Some(facts) = facts {
                panels.show(context, facts, times, actions);
            }
            help::show(context, &mut is_help_open);
            if let Some((progress, since)) = progress {
                progress::show(context, progress, since.elapsed());
            }
        });
        if let Some(icon) = cursor {
            let mut platform = output.platform_output;
            platform.cursor_icon = if self.is_pointed_at { platform.cursor_icon } else { icon };
            egui.handle_platform_output(window, platform);
        }
        // An older layout may never be painted; its unused textures are freed anyway.
        let mut freed = self.laid_out.take().map_or_else(Vec::new, |it| it.freed);
        freed.extend(self.textures.free());
        self.textures.take(output.textures_delta);
        let (shapes, pixels_per_point) = (output.shapes, output.pixels_per_point);
        self.laid_out = Some(LaidOut { shapes, pixels_per_point, freed });
        let delays = output.viewport_output.values().map(|viewport| viewport.repaint_delay);
        self.repaint_at = delays.min().and_then(|delay| Instant::now().checked_add(delay));
        // Actions change what the panels show.
        self.has_input = !actions.is_empty() || self.shows_help != is_help_open;
        self.shows_help = is_help_open;
    }

    /// Whether the panels need the ranges of the pool for the next build.
    pub(super) fn needs_ranges(&self) -> bool {
        self.shows_panels && self.panels.needs_ranges(Instant::now())
    }

    /// Whether panels are shown, not only help.
    pub(super) const fn shows_panels(&self) -> bool {
        self.shows_panels
    }
}

/// Creates egui's state for the window: dark theme, no animations.
fn state(window: &Window) -> State {
    let context = egui::Context::default();
    context.set_theme(egui::Theme::Dark);
    context.all_styles_mut(|style| {
        style.animation_time = 0.0;
        // Statistics change too fast to copy; non-selectable labels are cheaper.
        style.interaction.selectable_labels = false;
        style.visuals.window_shadow = egui::Shadow::NONE;
        style.visuals.popup_shadow = egui::Shadow::NONE;
        let fill = style.visuals.window_fill;
        style.visuals.window_fill = fill.gamma_multiply(0.92);
    });
    let (id, scale) = (context.viewport_id(), window.scale_factor() as f32);
    let side = drystone_render::Overlay::MAX_TEXTURE_SIDE as usize;
    State::new(context, id, window, Some(scale), window.theme(), Some(side))
}

/// Whether the pointer is over a panel.
fn is_over(egui: &State, at: PhysicalPosition<f64>) -> bool {
    let context = egui.egui_ctx();
    let scale = context.pixels_per_point();
    let at = egui::pos2(at.x as f32 / scale, at.y as f32 / scale);
    context.layer_id_at(at).is_some_and(|layer| layer.order != egui::Order::Background)
}
