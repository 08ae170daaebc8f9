//! What lies over the scene: figures, switches, help. Hidden, it costs nothing.
//!
//! ```text
//!  window's events ─► egui's input ─┐
//!  Facts of the viewer ─────────────┴► panels ─► Actions ─► the viewer does them
//!                                        └► triangles ─► Renderer::set_overlay
//! ```
//! Panels are made anew when there is input, when egui wants it, and a few times a second while
//! frames are drawn; in between, pictures show the same triangles again.

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

use drystone_render::Overlay as Triangles;
use egui::{CursorIcon, epaint::ClippedShape};
use egui_winit::State;
use winit::{dpi::PhysicalPosition, event::WindowEvent, window::Window};

use crate::progress::Progress;
pub(super) use frame_times::{FrameTimes, Percentiles};
pub(crate) use mesh::Textures;
use panels::Panels;
pub(super) use panels::{Action, EditFacts, Facts};

/// Panels over the scene.
pub(super) struct Overlay {
    /// Once they were shown.
    egui: Option<State>,
    panels: Panels,
    textures: Textures,
    pub(super) times: FrameTimes,
    /// What making the panels took, of the last times that they were.
    own_times: FrameTimes,
    /// The same of the last time, until it is asked for.
    last_made: Option<Duration>,
    shows_panels: bool,
    shows_help: bool,
    /// What takes long, and since when it does.
    progress: Option<(Arc<Progress>, Instant)>,
    /// Whether the renderer has something to draw over pictures.
    is_drawn: bool,
    /// Whether there was input since the panels were made.
    has_input: bool,
    is_pointed_at: bool,
    /// Where the pointer was last, in pixels.
    pointer: PhysicalPosition<f64>,
    made: Option<Instant>,
    /// What is laid out, to be painted by the next frame.
    laid_out: Option<LaidOut>,
    /// When egui wants to be asked again.
    wants_at: Option<Instant>,
    /// When figures are to be told that are behind, since frames were drawn after them.
    refresh_at: Option<Instant>,
    /// Whether the next frame is for that alone.
    is_refreshing: bool,
    /// What was told of edits.
    told: String,
}

/// While frames are drawn, panels are made anew this often: faster than eyes read.
const REFRESH: Duration = Duration::from_millis(100);

/// Panels as shapes.
struct LaidOut {
    shapes: Vec<ClippedShape>,
    pixels_per_point: f32,
    /// Textures that they need no more.
    freed: Vec<u64>,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// Whether it was meant for the panels alone.
    pub(super) is_taken: bool,
    /// Whether they look different now.
    pub(super) repaint: bool,
}

impl Overlay {
    pub(super) fn new(shows_panels: bool) -> Self {
        Self {
            egui: None,
            panels: Panels::default(),
            textures: Textures::default(),
            times: FrameTimes::default(),
            own_times: FrameTimes::default(),
            last_made: None,
            shows_panels,
            shows_help: false,
            progress: None,
            is_drawn: false,
            has_input: true,
            is_pointed_at: false,
            pointer: PhysicalPosition::new(-1.0, -1.0),
            made: None,
            laid_out: None,
            wants_at: None,
            refresh_at: None,
            is_refreshing: false,
            told: String::new(),
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

    /// Shows how far something is that takes long, or nothing.
    pub(super) fn set_progress(&mut self, progress: Option<Arc<Progress>>) {
        self.progress = progress.map(|progress| (progress, Instant::now()));
        self.has_input = true;
    }

    /// Whether the card of keys is shown.
    pub(super) const fn shows_help(&self) -> bool {
        self.shows_help
    }

    /// The renderer draws nothing over pictures any more, but knows the textures.
    pub(super) const fn cleared(&mut self) {
        (self.is_drawn, self.has_input) = (false, true);
    }

    /// The renderer cannot draw them: none are shown until they are asked for again.
    pub(super) fn give_up(&mut self) {
        (self.shows_panels, self.shows_help, self.progress) = (false, false, None);
        self.forget();
        self.is_drawn = false;
    }

    /// The renderer is another, which has nothing to draw yet.
    pub(super) fn forget(&mut self) {
        self.textures.forget();
        self.laid_out = None;
        (self.is_drawn, self.has_input) = (false, true);
    }

    /// Hands an event of the pointer or the window to the panels. Whether it is theirs alone,
    /// and whether they are to be drawn anew.
    pub(super) fn event(&mut self, window: &Window, event: &WindowEvent) -> Taken {
        let is_open = self.is_open();
        if let WindowEvent::CursorMoved { position, .. } = event {
            self.pointer = *position;
        }
        let Some(egui) = self.egui.as_mut().filter(|_| is_open) else { return Taken::default() };
        // Where panels lie may have changed since the pointer last moved.
        let was_pointed_at = self.is_pointed_at;
        self.is_pointed_at = is_over(egui, self.pointer);
        if let WindowEvent::MouseInput { device_id, .. } = event {
            // They may not have been open when it did.
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
        // What egui says of presses is of its last pass: the pointer may have left it since.
        let is_held = egui.egui_ctx().egui_is_using_pointer();
        Taken { is_taken: is_held || self.is_pointed_at, repaint }
    }

    /// Hands a key to the panels if a text of theirs is being written; whether it is theirs.
    pub(super) fn key(&mut self, window: &Window, event: &WindowEvent) -> bool {
        let is_open = self.is_open();
        let Some(egui) = self.egui.as_mut().filter(|_| is_open) else { return false };
        if !egui.egui_ctx().text_edit_focused() {
            return false;
        }
        let _ = egui.on_window_event(window, event);
        self.has_input = true;
        true
    }

    /// Closes the lists of panels that are open; whether there were some.
    pub(super) fn close_lists(&mut self) -> bool {
        let is_open = self.egui.as_ref().is_some_and(|egui| panels::close_lists(egui.egui_ctx()));
        self.has_input |= is_open;
        is_open
    }

    /// The pointer is the scene's now, wherever it is.
    pub(super) fn lose_pointer(&mut self) {
        if let Some(egui) = &mut self.egui {
            egui.egui_input_mut().events.push(egui::Event::PointerGone);
            self.has_input = true;
        }
    }

    /// Whether the panels are to be made anew for the next frame, or to go.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let is_old = self.made.is_none_or(|made| now.duration_since(made) >= REFRESH);
        let is_wanted = self.wants_at.is_some_and(|at| at <= now) || self.laid_out.is_some();
        if self.is_open() { is_old || is_wanted || self.has_input } else { self.is_drawn }
    }

    /// When the panels want a frame although nothing happens.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        let laid_out = self.made.filter(|_| self.laid_out.is_some());
        let times = self.wants_at.into_iter().chain(self.refresh_at).chain(laid_out);
        times.min().filter(|_| self.is_open())
    }

    /// Whether that is now.
    pub(super) fn wakes(&mut self, now: Instant) -> bool {
        if self.wakes_at().is_none_or(|at| at > now) {
            return false;
        }
        if self.refresh_at.take_if(|at| *at <= now).is_some() {
            (self.is_refreshing, self.has_input) = (true, true);
        }
        true
    }

    /// Notes a frame. Its figures are told a little later, if no other tells them before.
    pub(super) fn frame_ended(&mut self, now: Instant, time: Duration) {
        self.times.push(time);
        let is_own = std::mem::replace(&mut self.is_refreshing, false);
        if !is_own && self.is_open() {
            self.refresh_at = Some(now + REFRESH);
        }
    }

    /// Notes what making the panels took, with handing them to the renderer.
    pub(super) fn made_in(&mut self, time: Duration) {
        self.own_times.push(time);
        self.last_made = Some(time);
    }

    /// What it took the last time, if they were made since this was asked.
    pub(super) const fn take_made(&mut self) -> Option<Duration> {
        self.last_made.take()
    }

    /// Whether the panels have something else to tell of edits than before.
    pub(super) fn tells(&mut self, edits: &str) -> bool {
        if !self.shows_panels || self.told == edits {
            return false;
        }
        edits.clone_into(&mut self.told);
        self.has_input = true;
        true
    }

    /// Makes the panels, which tell `facts` where they are shown, and adds to `actions` what was
    /// done with them. Returns what is drawn over pictures from now on; `None` where that is what
    /// it was. `cursor` is the pointer's look over the scene; `None` where there is none.
    ///
    /// What follows from input is there at once. Where only figures are told anew, one frame lays
    /// out and the next one paints, so that none takes the time of both.
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

    /// Whether panels were laid out that are not painted, and nothing has happened since.
    pub(super) const fn is_laid_out(&self) -> bool {
        self.laid_out.is_some() && !self.has_input
    }

    /// Makes triangles of what was laid out; `None` where that is nothing new.
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
        let (panels, times) = (&mut self.panels, [&self.times, &self.own_times]);
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
            let mut wishes = output.platform_output;
            wishes.cursor_icon = if self.is_pointed_at { wishes.cursor_icon } else { icon };
            egui.handle_platform_output(window, wishes);
        }
        // What was laid out before may never be painted; what it needs no more goes all the same.
        let mut freed = self.laid_out.take().map_or_else(Vec::new, |it| it.freed);
        freed.extend(self.textures.free());
        self.textures.take(output.textures_delta);
        let (shapes, pixels_per_point) = (output.shapes, output.pixels_per_point);
        self.laid_out = Some(LaidOut { shapes, pixels_per_point, freed });
        let delays = output.viewport_output.values().map(|viewport| viewport.repaint_delay);
        self.wants_at = delays.min().and_then(|delay| Instant::now().checked_add(delay));
        // What was done with them shows in them.
        self.has_input = !actions.is_empty() || self.shows_help != is_help_open;
        self.shows_help = is_help_open;
    }

    /// Whether the panels will want to know what lies where in the pool.
    pub(super) fn wants_places(&self) -> bool {
        self.shows_panels && self.panels.wants_places(Instant::now())
    }

    /// Whether panels are shown, and not just help.
    pub(super) const fn shows_panels(&self) -> bool {
        self.shows_panels
    }
}

/// egui's side of the window, in the dark and without anything that moves by itself.
fn state(window: &Window) -> State {
    let context = egui::Context::default();
    context.set_theme(egui::Theme::Dark);
    context.all_styles_mut(|style| {
        style.animation_time = 0.0;
        // Nobody copies figures that change; and labels need not listen.
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
