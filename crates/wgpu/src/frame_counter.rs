use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Numbers of frames, which are counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameNumbers {
    /// Number of the last submitted frame.
    pub submitted: u64,
    /// Number of the last frame known to be complete.
    pub completed: u64,
}

/// Counter of submitted and completed frames. wgpu reports completed frames
/// while work is submitted or the device is polled, so that nothing waits.
#[derive(Debug, Default)]
pub struct FrameCounter {
    submitted: u64,
    completed: Arc<AtomicU64>,
}

impl FrameCounter {
    /// Counts a frame that was just submitted to this queue. Returns its number, 1 for the first.
    pub fn count(&mut self, queue: &wgpu::Queue) -> u64 {
        queue.on_submitted_work_done(self.next());
        self.submitted
    }

    /// Counts a frame that is the last so far in an encoder, which is submitted later. Returns its
    /// number. It completes with the encoder's commands, or with a later frame.
    pub fn count_encoded(&mut self, encoder: &wgpu::CommandEncoder) -> u64 {
        encoder.on_submitted_work_done(self.next());
        self.submitted
    }

    /// Counts a frame. Returns what reports its completion.
    fn next(&mut self) -> impl FnOnce() + Send + use<> {
        self.submitted += 1;
        let (frame, completed) = (self.submitted, Arc::clone(&self.completed));
        move || {
            completed.fetch_max(frame, Relaxed);
        }
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
