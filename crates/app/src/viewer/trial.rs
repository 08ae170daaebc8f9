//! The times of frames, and what panels take of them: as many frames with panels as without, in
//! turn.

use std::time::{Duration, Instant};

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
    /// When the frame before ended, or the first one started.
    ended: Option<Instant>,
    started: Clock,
    /// Whole frames: from the end of one to the end of the next.
    wall: Times,
    /// This thread's own time in frames.
    thread: Times,
    /// What making panels took of this thread's time, laying out and painting each for itself.
    panels: Vec<f32>,
    /// This thread's time in frames that only draw the panels that there are.
    unmade: Vec<f32>,
}

/// Milliseconds of frames, by whether they have panels.
#[derive(Default)]
struct Times {
    without: Vec<f32>,
    with: Vec<f32>,
    /// The frames in which panels come: they are made all at once, as after any input.
    opening: Vec<f32>,
}

impl Times {
    /// Notes a frame; the first one of a row shows or hides panels, which takes time too.
    fn note(&mut self, has_panels: bool, is_first: bool, ms: f32) {
        match (has_panels, is_first) {
            (true, true) => self.opening.push(ms),
            (true, false) => self.with.push(ms),
            (false, true) => {}
            (false, false) => self.without.push(ms),
        }
    }
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
        Self {
            left: count,
            count,
            ended: None,
            started: Clock::now(),
            wall: Times::default(),
            thread: Times::default(),
            panels: Vec::new(),
            unmade: Vec::new(),
        }
    }

    /// Whether the next frame has panels.
    const fn has_panels(&self) -> bool {
        (self.count - self.left) / ROW % 2 == 1
    }

    /// Notes a frame: what all of it took, what it took of this thread, and what making panels
    /// took, if they were made. Whether it was the last one.
    fn note(&mut self, wall: Duration, thread: Duration, made: Option<Duration>) -> bool {
        let ms = |time: Duration| time.as_secs_f32() * 1e3;
        let has_panels = self.has_panels();
        let is_first = (self.count - self.left).is_multiple_of(ROW);
        self.wall.note(has_panels, is_first, ms(wall));
        self.thread.note(has_panels, is_first, ms(thread));
        match made {
            _ if is_first || !has_panels => {}
            Some(made) => self.panels.push(ms(made)),
            None => self.unmade.push(ms(thread)),
        }
        self.left -= 1;
        self.left == 0
    }

    /// `wall_ms` is the time of whole frames; `thread_ms` is the part of it that the window's
    /// thread computed, without waiting and without what other threads and the GPU did.
    fn to_json(&self) -> Value {
        let Self { wall, thread, .. } = self;
        json!({
            "frames": self.count,
            "wall_ms": {
                "without_panels": told(&wall.without),
                "with_panels": told(&wall.with),
                "opening_panels": told(&wall.opening),
            },
            "thread_ms": {
                "without_panels": told(&thread.without),
                "with_panels": told(&thread.with),
                "opening_panels": told(&thread.opening),
                "with_panels_as_they_are": told(&self.unmade),
                "making_panels": told(&self.panels),
            },
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
        trial.ended.get_or_insert_with(Instant::now);
        trial.started = Clock::now();
    }

    /// Notes what a frame took; after the last one, says it and ends.
    pub(super) fn end_tried_frame(&mut self, event_loop: &ActiveEventLoop) {
        let Some(trial) = self.trial.as_mut().filter(|_| !self.awaits_first) else { return };
        let (now, thread) = (Instant::now(), trial.started.elapsed());
        let before = trial.ended.replace(now).unwrap_or(now);
        if !trial.note(now - before, thread, self.overlay.take_made()) {
            return self.redraw();
        }
        let line = format!("{}\n", trial.to_json());
        if let Err(error) = output::print(&line) {
            self.fail(error);
        }
        event_loop.exit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What threads of a driver or a renderer take is part of a frame's time, though the window's
    /// thread only waits for it.
    #[test]
    fn frames_are_timed_by_the_clock_and_by_the_thread() {
        let mut trial = Trial::new(2 * ROW);
        for frame in 0..2 * ROW {
            let made = (frame % 3 == 0).then_some(Duration::from_millis(2));
            let [wall, thread] = [40, 5].map(|ms| Duration::from_millis(ms + u64::from(frame)));
            assert_eq!(trial.note(wall, thread, made), frame == 2 * ROW - 1);
        }
        let json = trial.to_json();
        assert_eq!(json["frames"], 2 * ROW);
        for (kind, least) in [("wall_ms", 40.0), ("thread_ms", 5.0)] {
            let of = |panels: &str| {
                let told = &json[kind][panels];
                (told["count"].as_u64().unwrap(), told["mean"].as_f64().unwrap())
            };
            // The first frame of each row is one of its own kind.
            let row = u64::from(ROW);
            assert_eq!(of("without_panels"), (row - 1, least + 8.0), "{kind}");
            assert_eq!(of("opening_panels"), (1, least + 16.0), "{kind}");
            assert_eq!(of("with_panels"), (row - 1, least + 24.0), "{kind}");
        }
        assert_eq!(json["thread_ms"]["making_panels"]["mean"], 2.0);
    }
}
