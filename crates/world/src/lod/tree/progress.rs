use web_time::Instant;

use crate::lod::config::LodConfig;

/// What the last update spent of its budget, and what it left for the next one.
pub(super) struct Progress {
    /// Number of updates.
    frame: u64,
    start: Instant,
    /// Size of the meshes that it showed.
    pub(super) spent_bytes: usize,
    pub(super) change_count: u32,
    pub(super) merge_count: u32,
    /// Whether it left changes.
    pub(super) has_more: bool,
    /// Whether the sink refused a change.
    pub(super) was_refused: bool,
    splits: Splits,
}

/// Whether splits are applied. They are suspended after a root was refused, until every root shows
/// something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Splits {
    Applied,
    /// A root was refused in this update.
    HeldNext,
    Held,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            frame: 0,
            start: Instant::now(),
            spent_bytes: 0,
            change_count: 0,
            merge_count: 0,
            has_more: false,
            was_refused: false,
            splits: Splits::Applied,
        }
    }

    /// Begins an update. `is_whole`: every root shows something.
    pub(super) fn begin(&mut self, is_whole: bool) {
        let splits = match self.splits {
            Splits::Applied => Splits::Applied,
            _ if is_whole => Splits::Applied,
            Splits::Held | Splits::HeldNext => Splits::Held,
        };
        *self = Self { frame: self.frame + 1, splits, ..Self::new() };
    }

    /// Begins to apply changes. Even after a slow plan, half of the time budget is left for them.
    pub(super) fn begin_changes(&mut self, config: &LodConfig) {
        let used = self.start.elapsed().min(config.frame_time / 2);
        self.start = Instant::now().checked_sub(used).unwrap_or(self.start);
    }

    /// Whether this share of the budget is left, or no change was applied yet.
    pub(super) fn has_budget(&mut self, config: &LodConfig, share: f64) -> bool {
        let is_left = (self.spent_bytes as f64) < config.frame_bytes as f64 * share
            && self.start.elapsed().as_secs_f64() < config.frame_time.as_secs_f64() * share;
        let is_first = self.change_count == 0;
        self.has_more |= !is_left && !is_first;
        is_left || is_first
    }

    /// Records that the sink refused the mesh of a root that shows nothing.
    pub(super) fn refuse_root(&mut self) {
        if self.splits == Splits::Applied {
            self.splits = Splits::HeldNext;
        }
    }

    pub(super) const fn frame(&self) -> u64 {
        self.frame
    }

    pub(super) fn are_splits_held(&self) -> bool {
        self.splits == Splits::Held
    }

    /// Whether there was an update, and it left nothing to do.
    pub(super) const fn is_settled(&self) -> bool {
        self.frame > 0 && !self.has_more && !self.was_refused
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_change_may_exceed_the_budget() {
        let config = LodConfig {
            frame_bytes: 100,
            frame_time: Duration::from_secs(3600),
            ..LodConfig::default()
        };
        let mut progress = Progress::new();
        progress.begin(true);
        progress.spent_bytes = 80;
        assert!(progress.has_budget(&config, 0.75) && !progress.has_more, "no change yet");
        progress.change_count = 1;
        assert!(progress.has_budget(&config, 1.0) && !progress.has_more);
        assert!(!progress.has_budget(&config, 0.75) && progress.has_more);
    }

    #[test]
    fn splits_are_held_after_a_refused_root_until_every_root_shows_something() {
        let mut progress = Progress::new();
        progress.begin(false);
        progress.refuse_root();
        assert!(!progress.are_splits_held(), "only from the next update on");
        for is_whole in [false, false, true, false] {
            progress.begin(is_whole);
            assert_eq!(progress.are_splits_held(), !is_whole && progress.frame() < 4);
        }
    }
}
