use std::time::{Duration, Instant};

use drystone_render::{DrawStats, HeldStats};

/// What the title says: frame time, commands, bytes, backend.
pub(super) struct Status {
    name: String,
    backend: String,
    drawn: DrawStats,
    /// Since the last title.
    times: Vec<Duration>,
    /// The middle one and the longest of those before the last title, in milliseconds.
    told_ms: [f64; 2],
    /// What the last title said of edits.
    edits: String,
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
            told_ms: [0.0; 2],
            edits: String::new(),
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

    /// What the last frame took and drew.
    pub(super) const fn drawn(&self) -> DrawStats {
        self.drawn
    }

    /// What is shown, and on what.
    pub(super) fn names(&self) -> [&str; 2] {
        [&self.name, &self.backend]
    }

    /// Whether there were frames, or is something to say of edits, that the title does not tell.
    pub(super) fn is_stale(&self, edits: &str) -> bool {
        !self.times.is_empty() || self.edits != edits
    }

    /// Whether it is time for a new title.
    pub(super) fn is_due(&self, edits: &str) -> bool {
        self.is_stale(edits) && self.shown.is_none_or(|shown| shown.elapsed() >= TITLE_INTERVAL)
    }

    /// A new title, of the frames since the last; `edits` says what is edited.
    pub(super) fn title(&mut self, held: HeldStats, edits: &str) -> String {
        self.shown = Some(Instant::now());
        edits.clone_into(&mut self.edits);
        self.times.sort_unstable();
        if let (Some(middle), Some(worst)) =
            (self.times.get(self.times.len() / 2), self.times.last())
        {
            self.told_ms = [middle, worst].map(|time| time.as_secs_f64() * 1e3);
        }
        self.times.clear();
        let [middle, worst] = self.told_ms;
        let bytes = held.used_bytes as f64 / f64::from(1 << 20);
        format!(
            "drystone | {} | {edits}frame {middle:.1} ms (worst {worst:.1}) | {} commands for {} of {} \
             meshes | {bytes:.1} MiB of vertices | {}",
            self.name, self.drawn.commands, self.drawn.meshes, held.meshes, self.backend,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_without_frames_tells_of_the_last_ones() {
        let mut status = Status::new("world");
        assert!(!status.is_stale(""));
        status.frame(Duration::from_millis(8), DrawStats::default());
        assert!(status.is_due(""));
        let first = status.title(HeldStats::default(), "");
        assert!(first.contains("frame 8.0 ms"), "{first}");
        assert!(!status.is_stale("") && status.is_stale("saved | "));
        let second = status.title(HeldStats::default(), "saved | ");
        assert_eq!(second, first.replace("frame 8.0", "saved | frame 8.0"));
        assert!(!status.is_stale("saved | "));
    }
}
