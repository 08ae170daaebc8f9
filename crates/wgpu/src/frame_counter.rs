use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Numbers of the submitted frames and of the last completed one. wgpu reports completed frames
/// while work is submitted or the device is polled, so that nothing waits.
#[derive(Debug, Default)]
pub struct FrameCounter {
    submitted: u64,
    completed: Arc<AtomicU64>,
}

impl FrameCounter {
    /// Counts a frame that was just submitted to this queue. Returns its number, 1 for the first.
    pub fn count(&mut self, queue: &wgpu::Queue) -> u64 {
        self.submitted += 1;
        let (frame, completed) = (self.submitted, Arc::clone(&self.completed));
        queue.on_submitted_work_done(move || {
            completed.fetch_max(frame, Relaxed);
        });
        self.submitted
    }

    /// Number of the last submitted frame.
    pub const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Number of the last frame known to be complete.
    pub fn completed(&self) -> u64 {
        self.completed.load(Relaxed)
    }
}
