use std::time::{Duration, Instant};

use drystone_render::{DrawStats, HeldStats};

/// What the title says: frame time, commands, bytes, backend.
pub(super) struct Status {
    name: String,
    backend: String,
    drawn: DrawStats,
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
            times: Vec::new(),
            shown: None,
        }
    }

    pub(super) fn set_backend(&mut self, backend: String) {
        self.backend = backend;
    }

    pub(super) fn frame(&mut self, time: Duration, drawn: DrawStats) {
        self.times.push(time);
        self.drawn = drawn;
    }

    /// Whether frames were drawn that the title does not tell of.
    pub(super) fn is_stale(&self) -> bool {
        !self.times.is_empty()
    }

    /// Whether it is time for a new title.
    pub(super) fn is_due(&self) -> bool {
        self.is_stale() && self.shown.is_none_or(|shown| shown.elapsed() >= TITLE_INTERVAL)
    }

    /// A new title, of the frames since the last; `edits` says what is edited.
    pub(super) fn title(&mut self, held: HeldStats, edits: &str) -> String {
        self.shown = Some(Instant::now());
        self.times.sort_unstable();
        let ms = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
        let middle = ms(self.times.get(self.times.len() / 2));
        let worst = ms(self.times.last());
        self.times.clear();
        let bytes = held.used_bytes as f64 / f64::from(1 << 20);
        format!(
            "drystone | {} | {edits}frame {middle:.1} ms (worst {worst:.1}) | {} commands for {} of {} \
             meshes | {bytes:.1} MiB of vertices | {}",
            self.name, self.drawn.commands, self.drawn.meshes, held.meshes, self.backend,
        )
    }
}
