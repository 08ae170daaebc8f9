use web_time::Instant;

use crate::lod::config::LodConfig;

/// Part of its budget that the last update spent, and work that it left for the next one.
pub(super) struct Progress {
    /// Number of updates.
    pub(super) frame: u64,
    start: Instant,
    /// Bytes that had been received over a network when it began.
    pub(super) received_bytes: u64,
    /// Size of the meshes that it showed.
    pub(super) spent_bytes: usize,
    pub(super) change_count: u32,
    pub(super) merge_count: u32,
    /// Whether it left changes.
    pub(super) has_more: bool,
    /// Whether the sink refused a change.
    pub(super) was_refused: bool,
    /// First update in which the sink refused a root, while some root still shows nothing. Splits
    /// are suspended after it, until every root shows something.
    root_refused_frame: Option<u64>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            frame: 0,
            start: Instant::now(),
            received_bytes: 0,
            spent_bytes: 0,
            change_count: 0,
            merge_count: 0,
            has_more: false,
            was_refused: false,
            root_refused_frame: None,
        }
    }

    /// Begins an update. `is_whole`: every root shows something.
    pub(super) fn begin(&mut self, is_whole: bool) {
        let root_refused_frame = self.root_refused_frame.filter(|_| !is_whole);
        *self = Self { frame: self.frame + 1, root_refused_frame, ..Self::new() };
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
        self.root_refused_frame.get_or_insert(self.frame);
    }

    pub(super) fn are_splits_held(&self) -> bool {
        self.root_refused_frame.is_some_and(|frame| frame < self.frame)
    }

    /// Whether there was an update, and it left nothing to do.
    pub(super) const fn is_settled(&self) -> bool {
        self.frame > 0 && !self.has_more && !self.was_refused
    }
}
