use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytemuck::Pod;

use crate::{Backend, VertexPool};

/// Which frames were submitted, which are done, and whether the one being built reads
/// anything yet.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    submitted: u64,
    completed: u64,
    /// Whether commands were handed out since the last frame was submitted.
    commands_taken: AtomicBool,
    /// How many those were.
    commands: AtomicU64,
    /// Whether the GPU was told to copy elements since then.
    has_copies: bool,
}

impl Frames {
    /// The frame being built.
    #[inline]
    pub(crate) const fn current(&self) -> u64 {
        self.submitted + 1
    }

    #[inline]
    pub(crate) const fn completed(&self) -> u64 {
        self.completed
    }

    /// The last frame that could read a place that is freed now. Commands that were handed
    /// out may still be drawn, and copies may still write: then it is the one being built.
    #[inline]
    pub(crate) fn last_reader(&self) -> u64 {
        let is_read = self.has_copies || self.commands_taken.load(Ordering::Relaxed);
        self.submitted + u64::from(is_read)
    }

    #[inline]
    pub(crate) fn note_commands_taken(&self, count: usize) {
        self.commands_taken.store(true, Ordering::Relaxed);
        self.commands.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) const fn note_copy(&mut self) {
        self.has_copies = true;
    }
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Notes that frame `frame` was submitted: all that was written and all commands that
    /// were taken before it belong to it. Numbers rise by one; a lower one than before
    /// changes nothing.
    pub fn frame_submitted(&mut self, frame: u64) {
        if frame <= self.frames.submitted {
            return;
        }
        self.frames.submitted = frame;
        self.frames.has_copies = false;
        *self.frames.commands_taken.get_mut() = false;
        let commands = core::mem::take(self.frames.commands.get_mut());
        self.traffic.end_frame(commands);
    }

    /// Notes that the GPU is done with all frames up to `frame`: places that only they
    /// could read are free, and buffers that have been empty for a while are given back.
    /// Poll, and call this before a frame is built; nothing here waits.
    pub fn frames_completed(&mut self, frame: u64, backend: &mut impl Backend) {
        let frame = frame.min(self.frames.submitted);
        self.frames.completed = self.frames.completed.max(frame);
        self.buffers.release(self.frames.completed);
        let spare_frames = self.config.spare_frames;
        self.buffers.return_empty(
            self.frames.submitted,
            self.frames.completed,
            spare_frames,
            backend,
        );
    }
}
