use std::time::{Duration, Instant};

use drystone_render::{DrawStats, HeldStats};

/// What the title says: frame time, commands, bytes, backend.
pub(super) struct Status {
    name: String,
    backend: String,
    drawn: DrawStats,
    held: HeldStats,
    /// Since the last title.
    times: Vec<Duration>,
    shown: Option<Instant>,
}

/// A title changes no more often than eyes can follow.
const TITLE_INTERVAL: Duration = Duration::from_millis(250);

impl Status {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            backend: String::new(),
            drawn: DrawStats::default(),
            held: HeldStats::default(),
            times: Vec::new(),
            shown: None,
        }
    }

    pub(super) fn set_backend(&mut self, backend: String) {
        self.backend = backend;
    }

    pub(super) fn frame(&mut self, time: Duration, drawn: DrawStats, held: HeldStats) {
        self.times.push(time);
        self.drawn = drawn;
        self.held = held;
    }

    /// A new title, when it is time for one.
    pub(super) fn title(&mut self) -> Option<String> {
        if self.shown.is_some_and(|shown| shown.elapsed() < TITLE_INTERVAL) {
            return None;
        }
        self.shown = Some(Instant::now());
        self.times.sort_unstable();
        let middle = self.times.get(self.times.len() / 2)?.as_secs_f64() * 1e3;
        let worst = self.times.last()?.as_secs_f64() * 1e3;
        self.times.clear();
        let bytes = self.held.used_bytes as f64 / f64::from(1 << 20);
        Some(format!(
            "drystone | {} | frame {middle:.1} ms (worst {worst:.1}) | {} commands, {} of {} meshes | \
             {bytes:.1} MiB of vertices | {}",
            self.name, self.drawn.commands, self.drawn.meshes, self.held.meshes, self.backend,
        ))
    }
}
