//! The panels over the scene: statistics, switches, help, messages. Hidden, they cost nothing.
//!
//! ```text
//!  window events ─► Input ─┐                      Schedule: when
//!  Facts of the viewer ────┴► Contents ─► Actions ─► executed by the viewer
//!                                │
//!                                └► Canvas ─► triangles ─► Output::set_overlay
//! ```
//! Panels are rebuilt on input, when egui requests it, and a few times a second while frames are
//! drawn. In between, the same triangles are drawn again.

mod contents;
mod frame_times;
mod input;
mod keys_window;
mod marks;
mod mesh;
mod message;
mod panels;
mod pool_map;
mod schedule;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drystone::{Action, Message, Progress};
use drystone_render::Overlay as Triangles;
use egui::CursorIcon;
use winit::{
    event::{KeyEvent, WindowEvent},
    window::Window,
};

use contents::Contents;
pub(super) use frame_times::Percentiles;
use frame_times::Times;
pub(super) use input::EventResult;
use input::Input;
pub(super) use marks::Marks;
use mesh::Canvas;
pub(crate) use mesh::Textures;
pub(super) use panels::{EditFacts, Facts, LISTED};
use schedule::Schedule;

/// Panels over the scene.
pub(super) struct Overlay {
    contents: Contents,
    input: Input,
    schedule: Schedule,
    canvas: Canvas,
    times: Times,
}

impl Overlay {
    pub(super) fn new(shows_panels: bool, text_scale: f32) -> Self {
        Self {
            contents: Contents::new(shows_panels),
            input: Input::new(text_scale),
            schedule: Schedule::default(),
            canvas: Canvas::default(),
            times: Times::default(),
        }
    }

    pub(super) const fn switch_panels(&mut self) {
        self.contents.switch_panels();
        self.schedule.request();
    }

    /// Sets the scale of text and panels.
    pub(super) const fn set_text_scale(&mut self, scale: f32) {
        self.input.set_text_scale(scale);
        self.schedule.request();
    }

    pub(super) const fn switch_help(&mut self) {
        self.contents.switch_help();
        self.schedule.request();
    }

    /// Shows the progress of a long operation, or hides it. Returns whether that changes anything.
    pub(super) fn show_progress(&mut self, progress: Option<&Arc<Progress>>) -> bool {
        let is_new = self.contents.set_progress(progress);
        self.request_if(is_new)
    }

    /// Shows a message, or hides it. Returns whether that changes anything.
    pub(super) fn show_message(&mut self, message: Option<&Message>) -> bool {
        let is_new = self.contents.set_message(message);
        self.request_if(is_new)
    }

    /// Sets the marks over the scene; returns whether they differ from the last ones. After a failure
    /// to draw them, there are none until something is opened.
    pub(super) fn set_marks(&mut self, marks: Marks) -> bool {
        !self.contents.has_failed() && self.canvas.set_marks(marks)
    }

    /// Returns the overlay of new panels with the marks below them. Without new panels, it repeats
    /// the last ones if the marks are new, and is `None` otherwise.
    pub(super) fn with_marks(&mut self, panels: Option<Triangles>) -> Option<Triangles> {
        self.canvas.with_marks(panels)
    }

    /// Whether the pointer is over a panel.
    pub(super) const fn is_pointed_at(&self) -> bool {
        self.contents.takes_input() && self.input.is_pointed_at()
    }

    /// Sets the text on edits; returns whether the panels have to be rebuilt for it.
    pub(super) fn set_edits_text(&mut self, edits: &str) -> bool {
        let is_new = self.contents.set_edits_text(edits);
        self.request_if(is_new)
    }

    /// Passes an event to the panels. While the mouse is captured, they get no event of the pointer
    /// and no key.
    pub(super) fn take_event(
        &mut self,
        window: &Window,
        event: &WindowEvent,
        is_captured: bool,
    ) -> EventResult {
        if is_captured && input::is_of_keys_or_pointer(event) {
            return EventResult::default();
        }
        self.input.track(event);
        if !self.contents.takes_input() {
            return EventResult::default();
        }
        let result = self.input.take_event(window, event);
        self.request_if(result.repaint);
        result
    }

    /// Takes the keys that were pressed right after a click on the panels, once it is known that no text
    /// field takes them.
    pub(super) fn take_held_keys(&mut self) -> Vec<KeyEvent> {
        self.input.take_held_keys()
    }

    /// Closes open lists of the panels. Returns whether there were any.
    pub(super) fn close_lists(&mut self) -> bool {
        let is_open = self.input.close_lists();
        self.request_if(is_open)
    }

    /// Forgets what concerned the content before.
    pub(super) fn content_changed(&mut self) {
        self.contents.content_changed();
    }

    /// Removes the pointer from the panels while the scene has it captured.
    pub(super) fn lose_pointer(&mut self) {
        self.input.lose_pointer();
        self.schedule.request();
    }

    /// Notes that the renderer's overlay was cleared; its textures remain.
    pub(super) const fn cleared(&mut self) {
        self.canvas.clear();
        self.schedule.request();
    }

    /// Resets the renderer's state after a change of renderer.
    pub(super) fn forget(&mut self) {
        self.canvas.forget();
        self.schedule.request();
    }

    /// Hides everything after the renderer failed to draw it, until it is opened again.
    pub(super) fn hide_all(&mut self) {
        self.contents.hide_all();
        self.forget();
        self.canvas.drop_marks();
    }

    /// Records a frame. Its statistics are shown a little later, unless another rebuild comes
    /// first.
    pub(super) fn frame_ended(&mut self, now: Instant, time: Duration) {
        self.times.frames.push(time);
        self.schedule.frame_ended(now, self.contents.takes_input());
    }

    /// Records the time of building the panels and setting the overlay.
    pub(super) fn built_in(&mut self, time: Duration) {
        self.times.push_build(time);
    }

    /// Takes the time of the last build.
    pub(super) const fn take_build_time(&mut self) -> Option<Duration> {
        self.times.last_build.take()
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
        let has_changed = self.schedule.begin_build(Instant::now()) || !self.canvas.is_drawn;
        if !self.contents.is_open() {
            self.canvas.close();
            return Some(Triangles::default());
        }
        let (contents, times) = (&mut self.contents, &self.times);
        let mut was_help_closed = false;
        let output = self.input.pass(window, cursor, |context| {
            was_help_closed = contents.show(context, facts, times, actions);
        });
        let delays = output.viewport_output.values().map(|viewport| viewport.repaint_delay);
        let now = Instant::now();
        let repaint_at = delays.min().and_then(|delay| now.checked_add(delay));
        let repaint_at = repaint_at.into_iter().chain(self.contents.message_changes_at(now)).min();
        self.canvas.lay_out(output.textures_delta, output.shapes, output.pixels_per_point);
        // Actions change what the panels show.
        self.schedule.end_build(!actions.is_empty() || was_help_closed, repaint_at);
        if has_changed { self.paint() } else { None }
    }

    /// Tessellates the waiting layout; `None` if there is none.
    pub(super) fn paint(&mut self) -> Option<Triangles> {
        self.canvas.paint(self.input.context()?)
    }

    /// Begins a refresh that is due. Returns whether the panels need a frame now.
    pub(super) fn wakes(&mut self, now: Instant) -> bool {
        let wakes = self.wakes_at().is_some_and(|at| at <= now);
        if wakes {
            self.schedule.wake(now);
        }
        wakes
    }

    /// Returns when the panels need a frame without input.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        let laid_out = self.schedule.built_at().filter(|_| self.canvas.has_layout());
        let times = self.schedule.wakes_at().into_iter().chain(laid_out);
        times.min().filter(|_| self.contents.is_open())
    }

    /// Whether the marks changed since the last overlay.
    pub(super) const fn has_new_marks(&self) -> bool {
        self.canvas.has_new_marks()
    }

    /// Whether the panels have to be rebuilt or removed for the next frame.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        match self.contents.is_open() {
            true => self.schedule.is_due(now) || self.canvas.has_layout(),
            false => self.canvas.is_drawn,
        }
    }

    /// Whether a layout of open panels waits to be tessellated and no input has come since.
    pub(super) const fn is_laid_out(&self) -> bool {
        self.contents.is_open() && self.canvas.has_layout() && !self.schedule.has_input()
    }

    /// Whether the panels need the ranges of the pool for the next build.
    pub(super) fn needs_ranges(&self) -> bool {
        self.contents.needs_ranges(Instant::now())
    }

    /// Whether panels are shown, not only help.
    pub(super) const fn shows_panels(&self) -> bool {
        self.contents.shows_panels()
    }

    /// Whether the list of keys is shown.
    pub(super) const fn shows_help(&self) -> bool {
        self.contents.shows_help()
    }

    /// Requests a rebuild if `is_new`, and returns that.
    const fn request_if(&mut self, is_new: bool) -> bool {
        if is_new {
            self.schedule.request();
        }
        is_new
    }
}
