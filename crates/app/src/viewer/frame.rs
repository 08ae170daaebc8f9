//! Drawing of frames, and recovery of a lost device.

use std::time::{Duration, Instant};

use drystone::{
    Action, CameraKind, ChangeTarget, Changed, Session,
    scene::{BackendKind, SaveState, Size},
};
use drystone_render::{Cull, DrawStats, RenderError, View};
use drystone_world::LodData;
use egui::CursorIcon;
use winit::{
    dpi::{LogicalSize, PhysicalSize},
    event_loop::{ActiveEventLoop, ControlFlow},
};

use super::{
    Viewer,
    facts::facts,
    frame_benchmark::Clock,
    overlay::Marks,
    status::{Feedback, Rest},
};
use crate::{AppError, cli::DrawingArgs, output};

/// Delay until a check that cannot be done now.
const CHECK_INTERVAL: Duration = Duration::from_millis(260);

/// Time that a frame spends on a change in progress: half of the last frame's time, within these
/// limits. Frames so take at most twice as long.
const CHANGE_TIMES: [Duration; 2] = [Duration::from_millis(8), Duration::from_millis(250)];

/// Consecutive attempts to reopen a failing device.
const REOPEN_ATTEMPTS: u32 = 3;

impl Viewer {
    /// Draws one frame; requests the next one while anything moves.
    pub(super) fn frame(&mut self, event_loop: &ActiveEventLoop) {
        let now = Instant::now();
        self.screen.begin_frame();
        self.end_rest();
        self.session.advance(now);
        if let Some(benchmark) = self.benchmark.as_mut().filter(|_| !self.reader.awaits_first) {
            let turn = benchmark.begin_frame(&mut self.overlay);
            self.act(event_loop, turn);
        }
        self.show_message(now);
        self.update_marks();
        if !self.show_panels(event_loop) || self.session.stage().is_none() {
            return;
        }
        let Some(size) = self.screen.size() else { return self.retry_saving(event_loop) };
        self.session.set_size(size);
        let [min_time, max_time] = CHANGE_TIMES;
        let time = (self.session.frame_time() / 2).clamp(min_time, max_time);
        match self.session.follow(time) {
            Ok(changed) => changed.into_iter().for_each(|changed| self.changed(changed)),
            Err(error) => return self.recover(event_loop, error),
        }
        match self.screen.draw(&mut self.session) {
            Ok(stats) => self.drawn(event_loop, now.elapsed(), stats),
            Err(error) => return self.recover(event_loop, error),
        }
        if let Err(error) = self.session.measure_round() {
            self.recover(event_loop, error);
        }
    }

    /// Records a finished change of renderer or meshing in the settings.
    fn changed(&mut self, changed: Changed) {
        let settings = &mut self.preferences.settings;
        match changed.to {
            ChangeTarget::Renderer(kind) => settings.renderer = kind,
            ChangeTarget::Occlusion(occlusion) => settings.ambient_occlusion = occlusion,
            ChangeTarget::Levels(_) => {}
        }
        if self.options.verbose {
            output::note(&changed.report);
        }
    }

    /// Finishes a frame: prints new faults and requests the next frame while anything moves.
    fn drawn(&mut self, event_loop: &ActiveEventLoop, time: Duration, stats: DrawStats) {
        let now = Instant::now();
        // A device without memory for all meshes may be lost only when most of them are there.
        if !self.session.lags() {
            self.screen.reopened = 0;
        }
        self.pointer.focus.frame_ended(now);
        let is_broken = self.session.stage().is_some_and(|stage| stage.is_broken());
        self.status.retry_at = is_broken.then(|| now + LodData::RETRY_AFTER);
        self.status.note_faults(&self.session);
        self.screen.is_hidden = !stats.shown;
        self.status.frame(time, stats);
        self.session.frame_ended(time);
        self.overlay.frame_ended(now, time);
        self.update_status(event_loop);
        if let Some(benchmark) = self.benchmark.as_mut().filter(|_| !self.reader.awaits_first) {
            match benchmark.end_frame(self.overlay.take_build_time()) {
                None => self.screen.redraw(),
                Some(report) => {
                    if let Err(error) = output::print(&format!("{report}\n")) {
                        self.ending.fail(error);
                    }
                    event_loop.exit();
                }
            }
        }
        if stats.shown && self.session.is_active() {
            self.screen.redraw();
        }
    }

    /// Retries a failed save without drawing a frame, and schedules the next check.
    pub(super) fn retry_saving(&mut self, event_loop: &ActiveEventLoop) {
        self.update_saving();
        if super::saving::is_saving(&self.session) {
            event_loop.set_control_flow(ControlFlow::WaitUntil(Instant::now() + CHECK_INTERVAL));
        }
    }

    /// Does periodic work without a frame: retries of saving, the title, and the progress bar.
    pub(super) fn update_status(&mut self, event_loop: &ActiveEventLoop) {
        self.update_saving();
        self.after_action();
        let progress = self.reader.progress().or(self.session.progress());
        if self.overlay.show_progress(progress) {
            self.screen.redraw();
        }
        if self.show_message(Instant::now()) {
            self.screen.redraw();
        }
        let edits = self.edits_text();
        if self.overlay.set_edits_text(&edits) {
            self.screen.redraw();
        }
        let text = (edits.as_str(), self.rest());
        let (Some(window), Some(stage)) = (self.screen.window(), self.session.stage()) else {
            return;
        };
        if self.status.is_due(text) {
            let title = self.status.title(stage.renderer().held(), text);
            let first = self.reader.loading().filter(|_| self.reader.awaits_first);
            let title = match self.preferences.feedback {
                Feedback::Title => {
                    Some(first.map_or(title, |name| format!("drystone | reading {name}")))
                }
                Feedback::Screen => {
                    let state = self.session.editing().editor().save_state();
                    let is_unsaved = !matches!(state, SaveState::Saved | SaveState::Unedited);
                    self.status.short_title(first.unwrap_or(self.session.name()), is_unsaved)
                }
            };
            title.iter().for_each(|title| window.set_title(title));
        }
        // Hidden, changing, or with an outdated title: check again a bit later.
        let is_saving = super::saving::is_saving(&self.session);
        let is_behind = self.screen.is_hidden || self.status.is_stale(text) || is_saving;
        let later = is_behind.then(|| Instant::now() + CHECK_INTERVAL);
        let clicks_at = self.pointer.focus.takes_clicks_at();
        let is_editing = self.session.editing().is_on();
        let clicks_at = clicks_at.filter(|at| is_editing && *at > Instant::now());
        let wakes = [later, self.status.retry_at, clicks_at, self.overlay.wakes_at()];
        if let Some(next) = wakes.into_iter().flatten().min() {
            event_loop.set_control_flow(ControlFlow::WaitUntil(next));
        }
    }

    /// Removes the state of rest from a title with statistics, without the delay of other changes.
    fn end_rest(&mut self) {
        if self.preferences.feedback == Feedback::Title
            && let (Some(title), Some(window)) = (self.status.end_rest(), self.screen.window())
        {
            window.set_title(title);
        }
    }

    fn rest(&self) -> Rest {
        let is_busy = self.session.is_active() || self.reader.loading().is_some();
        let awaits_frame = self.screen.awaits_frame() || self.overlay.wakes_at().is_some();
        let retries = self.screen.is_hidden || self.status.retry_at.is_some();
        match is_busy || awaits_frame || retries || self.benchmark.is_some() {
            true => Rest::Drawing,
            false => Rest::AtRest,
        }
    }

    /// Shows the message of the session on the picture, or removes it once it has faded. Returns
    /// whether that changes anything.
    fn show_message(&mut self, now: Instant) -> bool {
        let message = self.session.messages().line(now);
        let on_screen = self.preferences.feedback == Feedback::Screen;
        self.overlay.show_message(message.filter(|_| on_screen))
    }

    /// Marks the middle of the picture while the mouse is captured, and what a click would edit.
    /// Returns whether that changes anything.
    pub(super) fn update_marks(&mut self) -> bool {
        let (Some(size), Some(window)) = (self.screen.size(), self.screen.window()) else {
            return false;
        };
        let scale = window.scale_factor() as f32;
        let middle = [size.width, size.height].map(|side| side as f32 / 2.0);
        let crosshair = self.pointer.is_captured.then_some(middle);
        let is_free = crosshair.is_none() && !self.overlay.is_pointed_at();
        let at = self.pointer.place_inside().filter(|_| is_free);
        let lines = self.session.outline(at);
        self.overlay.set_marks(Marks { crosshair, lines, scale })
    }

    /// Returns the state of moving and editing for the title; names the brush once clicks edit.
    fn edits_text(&mut self) -> String {
        let mut words = self.session.camera().movement_text();
        let edits =
            self.session.editing().is_on() && self.pointer.focus.takes_click(Instant::now());
        let brush = self.session.editing().editor().brush;
        if let (true, Some(materials)) = (edits, self.session.materials()) {
            words += &format!("edit: {} | ", brush.describe(materials));
        }
        if !self.session.message().is_empty() {
            words += &format!("{} | ", self.session.message());
        }
        words + &self.saving.title(self.session.saver())
    }

    /// Reopens a lost device, a limited number of times. Its meshes are lost, the world is not.
    pub(super) fn recover(&mut self, event_loop: &ActiveEventLoop, error: RenderError) {
        let lost = matches!(error, RenderError::Lost { .. } | RenderError::Device { .. });
        if !lost || self.screen.reopened >= REOPEN_ATTEMPTS {
            return self.stop(event_loop, error.into());
        }
        output::note(&format!("{error}; opening the device again"));
        self.screen.reopened += 1;
        self.session.detach();
        if let Err(error) = self.open_device(event_loop) {
            self.stop(event_loop, error);
        }
    }

    /// Opens a device and shows the session on it.
    pub(super) fn open_device(&mut self, event_loop: &ActiveEventLoop) -> Result<(), AppError> {
        self.screen.open_device(event_loop, &mut self.session, self.options.drawing.backend)?;
        let Some(stage) = self.session.stage() else { return Ok(()) };
        let output = stage.renderer().output();
        let (backend, is_software) = (output.describe(), output.info().is_software);
        // A frame on the CPU has no time for shadows and sky light.
        let (View { shadows, sky_light, .. }, air) =
            (self.session.camera().view(), &self.options.air);
        let switches = [
            (*shadows, air.shadows.is_none(), Action::Shadows),
            (*sky_light, air.sky_light.is_none(), Action::SkyLight),
        ];
        for (is_on, is_default, action) in switches {
            if is_default && is_on == is_software {
                self.session.execute(action)?;
            }
        }
        if self.options.verbose {
            output::note(&format!("drawing on {backend}"));
        }
        self.status.set_backend(backend);
        self.overlay.forget();
        self.after_action();
        Ok(())
    }

    /// Opens the window: as large as on the command line or at its last end, in pixels, or else of
    /// the default size, scaled as the screen's text.
    pub(super) fn open_window(&mut self, event_loop: &ActiveEventLoop) -> Result<(), AppError> {
        let Size { width, height } = self.options.camera.size;
        let view = &self.preferences.settings.view;
        let is_chosen = self.options.camera.is_size_explicit || view.has_window();
        let size = match is_chosen {
            true => PhysicalSize::new(width, height).into(),
            false => LogicalSize::new(width, height).into(),
        };
        let is_maximized = view.is_maximized && !self.options.camera.is_size_explicit;
        self.screen.open_window(event_loop, size, is_maximized)?;
        self.screen.size().into_iter().for_each(|size| self.session.set_size(size));
        Ok(())
    }

    /// Opens a device for a new window. If the remembered backend fails, for instance on another
    /// screen, another one is chosen and the failure is reported.
    pub(super) fn open_first_device(
        &mut self,
        event_loop: &ActiveEventLoop,
    ) -> Result<(), AppError> {
        let DrawingArgs { backend, is_backend_explicit, .. } = self.options.drawing;
        let opened = self.open_device(event_loop);
        let is_remembered = backend != BackendKind::Auto && !is_backend_explicit;
        match opened {
            Err(error) if is_remembered && self.session.has_content() => {
                self.options.drawing.backend = BackendKind::Auto;
                self.preferences.settings.view.backend = BackendKind::Auto;
                self.open_device(event_loop)?;
                let [_, now] = self.status.names();
                let name = backend.name();
                self.session.say(format!("{name}, used last time, failed: {error}; using {now}"));
                Ok(())
            }
            opened => opened,
        }
        .map(|()| self.restore_camera())
    }

    /// Moves the camera as in the last window, unless the command line places it.
    pub(super) fn restore_camera(&mut self) {
        let (view, camera) = (&self.preferences.settings.view, self.options.camera);
        if self.benchmark.is_some() || self.reader.awaits_first {
            return;
        }
        let kind = view.camera(self.session.camera().default_kind());
        let kind = kind.filter(|_| camera.eye.is_none() && camera.from.is_none());
        self.restore_flight(kind);
    }

    /// Sets the last speed of flight, and a kind of camera.
    pub(super) fn restore_flight(&mut self, kind: Option<CameraKind>) {
        let speed = self.preferences.settings.view.speed();
        for action in [Some(Action::Speed(speed)), kind.map(Action::Camera)] {
            // A lost device is noticed by the next frame.
            let _ = action.map(|action| self.session.execute(action));
        }
    }

    /// Changes the backend at once, or reports an error and keeps the current one.
    pub(super) fn switch_backend(&mut self, event_loop: &ActiveEventLoop, backend: BackendKind) {
        if self.session.is_changing() {
            return self.session.say(Session::BUSY);
        }
        let before = (self.options.drawing.backend, self.session.cull());
        // Only wgpu culls on the GPU.
        let cull = if backend == BackendKind::Wgpu { before.1 } else { Cull::Cpu };
        // The old device is closed first: a window has one device at a time.
        self.session.detach();
        self.options.drawing.backend = backend;
        self.session.set_cull(cull);
        let Err(error) = self.open_device(event_loop) else {
            self.preferences.settings.view.backend = backend;
            let [_, backend] = self.status.names();
            return self.session.set_message(format!("switched to {backend}"));
        };
        if !self.session.has_content() {
            // The content was lost with the failed device; edits are saved as the window closes.
            return self.stop(event_loop, error);
        }
        self.options.drawing.backend = before.0;
        self.session.set_cull(before.1);
        self.session.say(format!("{error}; the previous backend stays in use"));
        if let Err(error) = self.open_device(event_loop) {
            self.stop(event_loop, error);
        }
    }

    /// Rebuilds the panels if due, and executes the user's actions. Returns false if the device was
    /// lost or recreated.
    fn show_panels(&mut self, event_loop: &ActiveEventLoop) -> bool {
        let Some(window) = self.screen.window().cloned() else { return true };
        let is_due = self.overlay.is_due(Instant::now());
        if !is_due && !self.overlay.has_new_marks() {
            return true;
        }
        if self.session.stage().is_none() {
            return false;
        }
        let (clock, mut actions) = (Clock::now(), Vec::new());
        let triangles = match self.overlay.is_laid_out() {
            _ if !is_due => None,
            true => self.overlay.paint(),
            false => {
                let cursor = match self.session.editing().is_on() {
                    _ if self.pointer.is_captured => None,
                    true => Some(CursorIcon::Crosshair),
                    false => Some(CursorIcon::Default),
                };
                let save_text = self.save_text();
                let backend = self.screen.concrete(self.options.drawing.backend);
                let facts = self.overlay.shows_panels().then(|| {
                    let settings = &self.preferences.settings;
                    let needs_ranges = self.overlay.needs_ranges();
                    facts(
                        &mut self.session,
                        (&self.status, settings),
                        (backend, save_text),
                        needs_ranges,
                    )
                });
                self.overlay.make(&window, facts.flatten().as_ref(), cursor, &mut actions)
            }
        };
        let triangles = self.overlay.with_marks(triangles);
        let Some(stage) = self.session.stage() else { return false };
        let set =
            triangles.map_or(Ok(()), |triangles| stage.renderer().output().set_overlay(&triangles));
        self.overlay.built_in(clock.elapsed());
        match set {
            Ok(()) => {}
            Err(error @ RenderError::Lost { .. }) => {
                self.recover(event_loop, error);
                return false;
            }
            // The scene is drawn without panels.
            Err(error) => {
                self.overlay.hide_all();
                self.session.say(format!("cannot draw the panels: {error}"));
            }
        }
        if !actions.is_empty() {
            self.screen.redraw();
        }
        actions.into_iter().for_each(|action| self.act(event_loop, action));
        for key in self.overlay.take_held_keys() {
            let action = self.pointer.key(&key);
            self.act_and_redraw(event_loop, action);
        }
        true
    }

    /// Returns the state of saving. Results of actions are on the picture.
    fn save_text(&mut self) -> String {
        self.saving.title(self.session.saver()).trim_matches([' ', '|']).to_owned()
    }
}
