//! Numbers of the submitted and the completed frames.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Counts frames. wgpu reports completed frames through callbacks while it is polled.
#[derive(Default)]
pub(super) struct FrameCounter {
    submitted: u64,
    completed: Arc<AtomicU64>,
}

impl FrameCounter {
    /// Counts a frame that was just submitted to this queue.
    pub(super) fn count(&mut self, queue: &wgpu::Queue) {
        self.submitted += 1;
        let (frame, completed) = (self.submitted, Arc::clone(&self.completed));
        queue.on_submitted_work_done(move || {
            completed.fetch_max(frame, Relaxed);
        });
    }

    pub(super) const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// The last frame known to be complete, as of the last poll.
    pub(super) fn completed(&self) -> u64 {
        self.completed.load(Relaxed)
    }
}
