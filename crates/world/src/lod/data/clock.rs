#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use web_time::Instant;

/// Time since the start. In tests, time passes only when a test advances it.
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

    /// Returns only the time that the test has let pass.
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
