#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use web_time::Instant;

/// Time since it was started. Tests let it pass.
pub(in crate::lod) struct Clock {
    start: Instant,
    #[cfg(test)]
    skipped_s: AtomicU64,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            start: Instant::now(),
            #[cfg(test)]
            skipped_s: AtomicU64::new(0),
        }
    }

    #[cfg(not(test))]
    pub(in crate::lod) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// As if the first seconds took no time: what a test does not let pass does not.
    #[cfg(test)]
    pub(in crate::lod) fn now(&self) -> Duration {
        let _ = self.start;
        Duration::from_secs(self.skipped_s.load(Ordering::Relaxed))
    }

    #[cfg(test)]
    pub(in crate::lod) fn pass(&self, time: Duration) {
        self.skipped_s.fetch_add(time.as_secs(), Ordering::Relaxed);
    }
}
