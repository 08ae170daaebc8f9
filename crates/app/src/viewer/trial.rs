//! What panels take of a frame: as many frames with them as without, in turn.

use std::time::Duration;
#[cfg(not(unix))]
use std::time::Instant;

use serde_json::{Value, json};
use winit::event_loop::ActiveEventLoop;

use super::{Viewer, overlay::Percentiles};
use crate::output;

/// Frames in a row with panels, or without: panels that are made anew ten times a second are so
/// a few times in each such row.
const ROW: u32 = 16;
/// Pixels that the mouse would turn the eye by in a frame.
const TURN: f64 = 2.0;

/// Frames that are counted and timed.
pub(super) struct Trial {
    left: u32,
    count: u32,
    started: Clock,
    /// Without panels, and with them, but for the first of each row.
    times: [Vec<f32>; 2],
    /// The frames in which panels come: they are made all at once, as after any input.
    opening: Vec<f32>,
    /// What making panels took, laying out and painting each for itself.
    panels: Vec<f32>,
    /// Frames that only draw the panels that there are.
    unmade: Vec<f32>,
}

/// This thread's time: drivers that draw on the CPU do so on threads of their own.
#[cfg(unix)]
#[derive(Clone, Copy)]
pub(super) struct Clock(Duration);

/// The time: threads have none of their own here.
#[cfg(not(unix))]
#[derive(Clone, Copy)]
pub(super) struct Clock(Instant);

#[cfg(unix)]
impl Clock {
    pub(super) fn now() -> Self {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Self(Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32))
    }

    pub(super) fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}

#[cfg(not(unix))]
impl Clock {
    pub(super) fn now() -> Self {
        Self(Instant::now())
    }

    pub(super) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

impl Trial {
    pub(super) fn new(count: u32) -> Self {
        let times = [Vec::new(), Vec::new()];
        let [opening, panels, unmade] = [const { Vec::new() }; 3];
        Self { left: count, count, started: Clock::now(), times, opening, panels, unmade }
    }

    /// Whether the next frame has panels.
    const fn has_panels(&self) -> bool {
        (self.count - self.left) / ROW % 2 == 1
    }

    fn to_json(&self) -> Value {
        let [without, with] = &self.times;
        json!({
            "frames": self.count,
            "without_panels_ms": told(without),
            "with_panels_ms": told(with),
            "opening_panels_ms": told(&self.opening),
            "with_panels_as_they_are_ms": told(&self.unmade),
            "making_panels_ms": told(&self.panels),
        })
    }
}

/// The middle, the one that 99 of 100 stay below, the mean.
fn told(ms: &[f32]) -> Value {
    let percentiles = Percentiles::of(ms.iter().copied());
    let mean = ms.iter().sum::<f32>() / ms.len().max(1) as f32;
    let rounded = |ms: f32| (f64::from(ms) * 1e3).round() / 1e3;
    json!({
        "p50": rounded(percentiles.p50),
        "p99": rounded(percentiles.p99),
        "mean": rounded(mean),
        "count": ms.len(),
    })
}

impl Viewer {
    /// Shows or hides panels as the next frame that is tried wants it, and starts the clock.
    pub(super) fn start_tried_frame(&mut self) {
        let Some(trial) = self.trial.as_mut().filter(|_| !self.awaits_first) else { return };
        if trial.has_panels() != self.overlay.shows_panels() {
            self.overlay.switch_panels();
        }
        self.flight.turn(&mut self.view.camera, [TURN, 0.0]);
        trial.started = Clock::now();
    }

    /// Notes what a frame took; after the last one, says it and ends.
    pub(super) fn end_tried_frame(&mut self, event_loop: &ActiveEventLoop) {
        let Some(trial) = self.trial.as_mut().filter(|_| !self.awaits_first) else { return };
        let ms = trial.started.elapsed().as_secs_f32() * 1e3;
        let made = self.overlay.take_made();
        let is_first = (trial.count - trial.left).is_multiple_of(ROW);
        match (trial.has_panels(), is_first) {
            (true, true) => trial.opening.push(ms),
            // That they go takes time, too.
            (false, true) => {}
            (has_panels, false) => trial.times[usize::from(has_panels)].push(ms),
        }
        match made {
            _ if is_first || !trial.has_panels() => {}
            Some(made) => trial.panels.push(made.as_secs_f32() * 1e3),
            None => trial.unmade.push(ms),
        }
        trial.left -= 1;
        if trial.left > 0 {
            return self.redraw();
        }
        let line = format!("{}\n", trial.to_json());
        if let Err(error) = output::print(&line) {
            self.fail(error);
        }
        event_loop.exit();
    }
}
