//! Benchmark of frame times with and without panels, in alternating rows of frames.

use std::time::{Duration, Instant};

use drystone::Action;
use serde_json::{Value, json};

use super::overlay::{Overlay, Percentiles};

/// Frames per row. Panels are rebuilt ten times a second, so a few times per row.
const ROW: u32 = 16;
/// Pixels of mouse movement that the camera turns by in each frame.
const TURN: f64 = 2.0;

/// Running benchmark of frames.
pub(super) struct FrameBenchmark {
    left: u32,
    count: u32,
    /// Time when the previous frame ended, or the first one started.
    ended: Option<Instant>,
    started: Clock,
    /// Times of whole frames, from the end of one to the end of the next.
    wall: Times,
    /// CPU times of this thread in frames.
    thread: Times,
    /// CPU times of building panels; layout and tessellation count separately.
    panels: Vec<f32>,
    /// CPU times of frames that draw existing panels.
    unchanged: Vec<f32>,
}

/// Frame times in milliseconds, with and without panels.
#[derive(Default)]
struct Times {
    without: Vec<f32>,
    with: Vec<f32>,
    /// Frames in which panels appear and are built at once, as after input.
    opening: Vec<f32>,
}

impl Times {
    /// Adds a frame. The first one of a row shows or hides panels, which takes extra time.
    fn note(&mut self, has_panels: bool, is_first: bool, ms: f32) {
        match (has_panels, is_first) {
            (true, true) => self.opening.push(ms),
            (true, false) => self.with.push(ms),
            (false, true) => {}
            (false, false) => self.without.push(ms),
        }
    }
}

/// CPU time of this thread. Software drivers draw on threads of their own.
#[cfg(unix)]
#[derive(Clone, Copy)]
pub(super) struct Clock(Duration);

/// Wall time: there is no clock of the thread's CPU time here.
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

impl FrameBenchmark {
    pub(super) fn new(count: u32) -> Self {
        Self {
            left: count,
            count,
            ended: None,
            started: Clock::now(),
            wall: Times::default(),
            thread: Times::default(),
            panels: Vec::new(),
            unchanged: Vec::new(),
        }
    }

    /// Whether the next frame has panels.
    const fn has_panels(&self) -> bool {
        (self.count - self.left) / ROW % 2 == 1
    }

    /// Shows or hides panels for the next frame, and starts the clock. Returns the turn of the
    /// camera.
    pub(super) fn begin_frame(&mut self, overlay: &mut Overlay) -> Action {
        if self.has_panels() != overlay.shows_panels() {
            overlay.switch_panels();
        }
        self.ended.get_or_insert_with(Instant::now);
        self.started = Clock::now();
        Action::Turn([TURN, 0.0])
    }

    /// Records a frame, and the time of building panels, if they were built. Returns the report
    /// after the last frame.
    pub(super) fn end_frame(&mut self, made: Option<Duration>) -> Option<Value> {
        let (now, thread) = (Instant::now(), self.started.elapsed());
        let before = self.ended.replace(now).unwrap_or(now);
        self.note(now - before, thread, made).then(|| self.to_json())
    }

    /// Adds a frame: wall time, CPU time of this thread, and the time of building panels, if they
    /// were built. Returns whether it was the last one.
    fn note(&mut self, wall: Duration, thread: Duration, made: Option<Duration>) -> bool {
        let ms = |time: Duration| time.as_secs_f32() * 1e3;
        let has_panels = self.has_panels();
        let is_first = (self.count - self.left).is_multiple_of(ROW);
        self.wall.note(has_panels, is_first, ms(wall));
        self.thread.note(has_panels, is_first, ms(thread));
        match made {
            _ if is_first || !has_panels => {}
            Some(made) => self.panels.push(ms(made)),
            None => self.unchanged.push(ms(thread)),
        }
        self.left -= 1;
        self.left == 0
    }

    /// Returns the report. `wall_ms` is the time of whole frames. `thread_ms` is the CPU time of
    /// the window's thread, without waiting, other threads and the GPU.
    fn to_json(&self) -> Value {
        let Self { wall, thread, .. } = self;
        json!({
            "frames": self.count,
            "wall_ms": {
                "without_panels": summary(&wall.without),
                "with_panels": summary(&wall.with),
                "opening_panels": summary(&wall.opening),
            },
            "thread_ms": {
                "without_panels": summary(&thread.without),
                "with_panels": summary(&thread.with),
                "opening_panels": summary(&thread.opening),
                "with_panels_as_they_are": summary(&self.unchanged),
                "making_panels": summary(&self.panels),
            },
        })
    }
}

/// Returns median, 99th percentile and mean.
fn summary(ms: &[f32]) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of a driver's or renderer's threads count in wall time, though the window's thread
    /// only waits.
    #[test]
    fn frames_are_timed_by_the_clock_and_by_the_thread() {
        let mut benchmark = FrameBenchmark::new(2 * ROW);
        for frame in 0..2 * ROW {
            let made = (frame % 3 == 0).then_some(Duration::from_millis(2));
            let [wall, thread] = [40, 5].map(|ms| Duration::from_millis(ms + u64::from(frame)));
            assert_eq!(benchmark.note(wall, thread, made), frame == 2 * ROW - 1);
        }
        let json = benchmark.to_json();
        assert_eq!(json["frames"], 2 * ROW);
        for (kind, min_ms) in [("wall_ms", 40.0), ("thread_ms", 5.0)] {
            let of = |panels: &str| {
                let times = &json[kind][panels];
                (times["count"].as_u64().unwrap(), times["mean"].as_f64().unwrap())
            };
            // The first frame of each row is counted separately.
            let row = u64::from(ROW);
            assert_eq!(of("without_panels"), (row - 1, min_ms + 8.0), "{kind}");
            assert_eq!(of("opening_panels"), (1, min_ms + 16.0), "{kind}");
            assert_eq!(of("with_panels"), (row - 1, min_ms + 24.0), "{kind}");
        }
        assert_eq!(json["thread_ms"]["making_panels"]["mean"], 2.0);
    }
}
