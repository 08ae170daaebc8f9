//! Drawing of frames, and recovery of a lost device.

use std::time::{Duration, Instant};

use drystone::scene::{self, Size};
use drystone_render::{DrawStats, RenderError};
use drystone_world::LodData;
use winit::{
    dpi::PhysicalSize,
    event_loop::{ActiveEventLoop, ControlFlow},
};

use super::{Viewer, screen::Screen};
use crate::{commands, output};

/// Delay until a check that cannot be done now.
const CHECK_INTERVAL: Duration = Duration::from_millis(260);

/// Time that a frame spends on a change in progress: half of the last frame's time, within these
/// limits. Frames so take at most twice as long.
const CHANGE_TIMES: [Duration; 2] = [Duration::from_millis(8), Duration::from_millis(250)];

/// Consecutive attempts to reopen a failing device.
const REOPEN_ATTEMPTS: u32 = 3;

/// Prints faults found since the first `noted`; returns their number.
fn note_new_faults(screen: &Screen, noted: usize) -> usize {
    let Some((data, _)) = screen.levels() else { return noted };
    let faults = data.faults();
    commands::note_faults(data.source().name(), faults.get(noted..).unwrap_or_default());
    faults.len()
}

impl Viewer {
    /// Draws one frame; requests the next one while anything moves.
    pub(super) fn frame(&mut self, event_loop: &ActiveEventLoop) {
        let now = Instant::now();
        self.travel(now - self.last_frame);
        self.is_haze_moving = self.follow_haze(now - self.last_frame);
        self.start_benchmark_frame();
        self.continue_editing();
        if !self.show_panels(event_loop) {
            return;
        }
        let (Some(window), Some(screen)) = (&self.window, &mut self.screen) else { return };
        self.last_frame = now;
        let size = window.inner_size();
        if size.width == 0 || size.height == 0 {
            return self.retry_saving(event_loop);
        }
        let (min, max) = self.editing.grown(self.framed.corners());
        scene::reach(&mut self.view.camera, min, max);
        let PhysicalSize { width, height } = size;
        let [min_time, max_time] = CHANGE_TIMES;
        let time = (self.frame_time / 2).clamp(min_time, max_time);
        let followed = screen.follow(&self.view, Size { width, height }, time);
        if let Err(error) = followed.and_then(|part| self.continue_change(part)) {
            return self.abort_change(event_loop, error);
        }
        let Some(screen) = &mut self.screen else { return };
        match screen.draw(&self.view) {
            Ok(stats) => self.drawn(event_loop, now.elapsed(), stats),
            Err(error) => self.recover(event_loop, error),
        }
    }

    /// Finishes a frame: prints new faults and requests the next frame while anything moves.
    fn drawn(&mut self, event_loop: &ActiveEventLoop, time: Duration, stats: DrawStats) {
        let Some(screen) = &self.screen else { return };
        self.reopened = 0;
        self.editing.focus.frame_ended(Instant::now());
        let lags = screen.levels().is_some_and(|(_, lags)| lags);
        self.retry_at = screen.is_broken().then(|| Instant::now() + LodData::RETRY_AFTER);
        if self.lags && !lags {
            self.faults_noted = note_new_faults(screen, self.faults_noted);
        }
        (self.lags, self.is_hidden) = (lags, !stats.shown);
        self.status.frame(time, stats);
        self.frame_time = time;
        self.overlay.frame_ended(Instant::now(), time);
        self.update_status(event_loop);
        self.end_benchmark_frame(event_loop);
        let changes = self.change.is_some() || self.editing.editor.is_busy();
        let is_changing = self.is_haze_moving || changes || lags;
        if stats.shown && (is_changing || self.flight.is_moving() || self.is_falling()) {
            self.redraw();
        }
    }

    /// Retries a failed save without drawing a frame, and schedules the next check.
    pub(super) fn retry_saving(&mut self, event_loop: &ActiveEventLoop) {
        self.editing.update(&self.save);
        if self.editing.is_saving() {
            event_loop.set_control_flow(ControlFlow::WaitUntil(Instant::now() + CHECK_INTERVAL));
        }
    }

    /// Does periodic work without a frame: retries of saving, and the title.
    pub(super) fn update_status(&mut self, event_loop: &ActiveEventLoop) {
        self.editing.update(&self.save);
        let (Some(window), Some(screen)) = (&self.window, &mut self.screen) else { return };
        let walks = if self.walk.is_some() { "walking | " } else { "" };
        let edits = walks.to_owned() + &self.editing.title(screen.materials());
        if self.status.is_due(&edits) {
            let title = self.status.title(screen.held(), &edits);
            let first = self.loading.as_ref().filter(|_| self.awaits_first);
            window.set_title(&first.map_or(title, |name| format!("drystone | reading {name}")));
        }
        // Hidden, changing, or with an outdated title: check again a bit later.
        let is_behind = self.is_hidden || self.status.is_stale(&edits) || self.editing.is_saving();
        let later = is_behind.then(|| Instant::now() + CHECK_INTERVAL);
        if self.overlay.set_edits_text(&edits) {
            self.redraw();
        }
        let wakes = [later, self.retry_at, self.editing.wakes_at(), self.overlay.wakes_at()];
        if let Some(next) = wakes.into_iter().flatten().min() {
            event_loop.set_control_flow(ControlFlow::WaitUntil(next));
        }
    }

    /// Reopens a lost device, a limited number of times. Its meshes are lost, the world is not.
    pub(super) fn recover(&mut self, event_loop: &ActiveEventLoop, error: RenderError) {
        let lost = matches!(error, RenderError::Lost { .. } | RenderError::Device { .. });
        if !lost || self.reopened >= REOPEN_ATTEMPTS {
            return self.stop(event_loop, error.into());
        }
        output::note(&format!("{error}; opening the device again"));
        self.reopened += 1;
        self.reopen(event_loop);
    }

    /// Opens the device again and shows the content on it.
    pub(super) fn reopen(&mut self, event_loop: &ActiveEventLoop) {
        // Edits are finished first, since they need no device and must not be left half done.
        self.finish_editing();
        self.content = self.screen.take().map(Screen::into_content);
        let Some(window) = self.window.clone() else { return };
        if let Err(error) = self.open_screen(event_loop, window) {
            self.stop(event_loop, error);
        }
    }
}
