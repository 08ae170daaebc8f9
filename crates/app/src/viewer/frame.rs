//! One picture after another, and what becomes of a device that fails.

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

/// When to look again at what cannot be done now.
const LATER: Duration = Duration::from_millis(260);

/// What a frame spends on a change that is not done: half of what the last one took, so that frames
/// take twice as long at most, but no less and no more than this.
const CHANGE_TIMES: [Duration; 2] = [Duration::from_millis(8), Duration::from_millis(250)];

/// How often in a row the device may fail and be opened again before the viewer gives up.
const REOPEN_ATTEMPTS: u32 = 3;

/// Names what was found damaged since so many were named; returns how many there are.
fn note_new_faults(screen: &Screen, noted: usize) -> usize {
    let Some((data, _)) = screen.levels() else { return noted };
    let faults = data.faults();
    commands::note_faults(data.source().name(), faults.get(noted..).unwrap_or_default());
    faults.len()
}

impl Viewer {
    /// Draws one frame; what moves asks for the next.
    pub(super) fn frame(&mut self, event_loop: &ActiveEventLoop) {
        let now = Instant::now();
        self.travel(now - self.last_frame);
        self.is_haze_moving = self.follow_haze(now - self.last_frame);
        self.start_tried_frame();
        self.go_on_editing();
        if !self.show_panels(event_loop) {
            return;
        }
        let (Some(window), Some(screen)) = (&self.window, &mut self.screen) else { return };
        self.last_frame = now;
        let size = window.inner_size();
        if size.width == 0 || size.height == 0 {
            return self.go_on_saving(event_loop);
        }
        let (min, max) = self.editing.grown(self.framed.corners());
        scene::reach(&mut self.view.camera, min, max);
        let PhysicalSize { width, height } = size;
        let [least, most] = CHANGE_TIMES;
        let time = (self.frame_time / 2).clamp(least, most);
        let followed = screen.follow(&self.view, Size { width, height }, time);
        if let Err(error) = followed.and_then(|part| self.go_on(part)) {
            return self.give_up_change(event_loop, error);
        }
        let Some(screen) = &mut self.screen else { return };
        match screen.draw(&self.view) {
            Ok(stats) => self.drawn(event_loop, now.elapsed(), stats),
            Err(error) => self.recover(event_loop, error),
        }
    }

    /// What follows a frame: damage that was found is named, and what moves asks for the next.
    fn drawn(&mut self, event_loop: &ActiveEventLoop, time: Duration, stats: DrawStats) {
        let Some(screen) = &self.screen else { return };
        self.reopened = 0;
        self.editing.focus.frame_ended(Instant::now());
        let lags = screen.levels().is_some_and(|(_, lags)| lags);
        self.heals_at = screen.is_broken().then(|| Instant::now() + LodData::RETRY_AFTER);
        if self.lags && !lags {
            self.faults_noted = note_new_faults(screen, self.faults_noted);
        }
        (self.lags, self.is_hidden) = (lags, !stats.shown);
        self.status.frame(time, stats);
        self.frame_time = time;
        self.overlay.frame_ended(Instant::now(), time);
        self.look_after(event_loop);
        self.end_tried_frame(event_loop);
        let changes = self.change.is_some() || self.editing.editor.is_busy();
        let goes_on = self.is_haze_moving || changes || lags;
        if stats.shown && (goes_on || self.flight.is_moving() || self.is_falling()) {
            self.redraw();
        }
    }

    /// Tries again to save what failed to be, where no frame may be drawn, and looks again later.
    pub(super) fn go_on_saving(&mut self, event_loop: &ActiveEventLoop) {
        self.editing.look_after(&self.save);
        if self.editing.is_saving() {
            event_loop.set_control_flow(ControlFlow::WaitUntil(Instant::now() + LATER));
        }
    }

    /// What time brings without a frame: saving that is tried again, and a title that says so.
    pub(super) fn look_after(&mut self, event_loop: &ActiveEventLoop) {
        self.editing.look_after(&self.save);
        let (Some(window), Some(screen)) = (&self.window, &mut self.screen) else { return };
        let walks = if self.walk.is_some() { "walking | " } else { "" };
        let edits = walks.to_owned() + &self.editing.title(screen.materials());
        if self.status.is_due(&edits) {
            let title = self.status.title(screen.held(), &edits);
            let first = self.loading.as_ref().filter(|_| self.awaits_first);
            window.set_title(&first.map_or(title, |name| format!("drystone | reading {name}")));
        }
        // Hidden or changing, or the title is behind: once more, a bit later.
        let is_behind = self.is_hidden || self.status.is_stale(&edits) || self.editing.is_saving();
        let later = is_behind.then(|| Instant::now() + LATER);
        if self.overlay.tells(&edits) {
            self.redraw();
        }
        let wakes = [later, self.heals_at, self.editing.wakes_at(), self.overlay.wakes_at()];
        if let Some(next) = wakes.into_iter().flatten().min() {
            event_loop.set_control_flow(ControlFlow::WaitUntil(next));
        }
    }

    /// A lost device takes its meshes along, not the world: it is opened again, a few
    /// times.
    pub(super) fn recover(&mut self, event_loop: &ActiveEventLoop, error: RenderError) {
        let lost = matches!(error, RenderError::Lost { .. } | RenderError::Device { .. });
        if !lost || self.reopened >= REOPEN_ATTEMPTS {
            return self.stop(event_loop, error.into());
        }
        output::note(&format!("{error}; opening the device again"));
        self.reopened += 1;
        self.reopen(event_loop);
    }

    /// Shows the same on a device that is opened anew.
    pub(super) fn reopen(&mut self, event_loop: &ActiveEventLoop) {
        // Voxels need no device: no half of an edit is left if none opens.
        self.finish_editing();
        self.content = self.screen.take().map(Screen::into_content);
        let Some(window) = self.window.clone() else { return };
        if let Err(error) = self.open_screen(event_loop, window) {
            self.stop(event_loop, error);
        }
    }
}
