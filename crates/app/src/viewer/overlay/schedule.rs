//! Times at which panels are rebuilt.

use std::time::{Duration, Instant};

/// Interval of rebuilds while frames are drawn; short enough to read along.
const REFRESH: Duration = Duration::from_millis(100);

/// Times at which the panels are rebuilt: after input, when egui requests it, and every
/// [`REFRESH`] while frames are drawn.
pub(super) struct Schedule {
    /// Whether there was input since the last build.
    has_input: bool,
    built_at: Option<Instant>,
    /// Time of the repaint that egui requested.
    repaint_at: Option<Instant>,
    /// Time to refresh statistics that are behind the last frames.
    refresh_at: Option<Instant>,
    /// Whether the next frame is drawn only for that refresh.
    is_refreshing: bool,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            has_input: true,
            built_at: None,
            repaint_at: None,
            refresh_at: None,
            is_refreshing: false,
        }
    }
}

impl Schedule {
    /// Requests a rebuild for the next frame, because of input or a change of what is shown.
    pub(super) const fn request(&mut self) {
        self.has_input = true;
    }

    /// Records the start of a build. Returns whether it was requested by input.
    pub(super) const fn begin_build(&mut self, now: Instant) -> bool {
        self.built_at = Some(now);
        self.has_input
    }

    /// Records the end of a build: whether another one is due at once, and the time of the repaint
    /// that egui requested.
    pub(super) const fn end_build(&mut self, has_input: bool, repaint_at: Option<Instant>) {
        (self.has_input, self.repaint_at) = (has_input, repaint_at);
    }

    /// Records a frame. Its statistics are shown a little later if panels are open, unless another
    /// rebuild comes first. A frame that was drawn for a refresh needs none.
    pub(super) fn frame_ended(&mut self, now: Instant, is_open: bool) {
        let is_own = std::mem::replace(&mut self.is_refreshing, false);
        if !is_own && is_open {
            self.refresh_at = Some(now + REFRESH);
        }
    }

    /// Begins a refresh that is due.
    pub(super) fn wake(&mut self, now: Instant) {
        if self.refresh_at.take_if(|at| *at <= now).is_some() {
            (self.is_refreshing, self.has_input) = (true, true);
        }
    }

    /// Returns the time of the last build.
    pub(super) const fn built_at(&self) -> Option<Instant> {
        self.built_at
    }

    /// Whether a rebuild was requested since the last build.
    pub(super) const fn has_input(&self) -> bool {
        self.has_input
    }

    /// Whether open panels have to be rebuilt for the next frame.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let is_old = self.built_at.is_none_or(|at| now.duration_since(at) >= REFRESH);
        is_old || self.has_input || self.repaint_at.is_some_and(|at| at <= now)
    }

    /// Returns when a frame is needed without input.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        self.repaint_at.into_iter().chain(self.refresh_at).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_are_rebuilt_after_input_on_request_and_at_intervals() {
        let (mut schedule, now) = (Schedule::default(), Instant::now());
        assert!(schedule.is_due(now) && schedule.begin_build(now));
        schedule.end_build(false, None);
        assert!(!schedule.is_due(now) && schedule.is_due(now + REFRESH));
        schedule.request();
        assert!(schedule.is_due(now) && schedule.begin_build(now));
        let repaint_at = now + REFRESH / 4;
        schedule.end_build(false, Some(repaint_at));
        assert_eq!(schedule.wakes_at(), Some(repaint_at));
        assert!(!schedule.is_due(now) && schedule.is_due(repaint_at));
    }

    /// Otherwise each refresh would cause the next one, and panels would keep drawing.
    #[test]
    fn a_frame_for_a_refresh_causes_no_refresh() {
        let (mut schedule, now) = (Schedule::default(), Instant::now());
        schedule.begin_build(now);
        schedule.end_build(false, None);
        schedule.frame_ended(now, false);
        assert_eq!(schedule.wakes_at(), None, "closed panels have no statistics");
        schedule.frame_ended(now, true);
        assert_eq!(schedule.wakes_at(), Some(now + REFRESH));
        schedule.wake(now);
        assert!(!schedule.has_input(), "not due yet");
        schedule.wake(now + REFRESH);
        assert!(schedule.begin_build(now + REFRESH));
        schedule.end_build(false, None);
        schedule.frame_ended(now + REFRESH, true);
        assert_eq!(schedule.wakes_at(), None);
        schedule.frame_ended(now + REFRESH, true);
        assert_eq!(schedule.wakes_at(), Some(now + 2 * REFRESH));
    }
}
