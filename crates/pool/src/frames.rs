use alloc::collections::VecDeque;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::stats::FrameTraffic;

/// Frames in flight that are stored one by one. Beyond that, the newest entry stands for all
/// later frames, which then complete together: the queue stays short where completion is
/// never reported.
const MAX_STORED_FRAMES: usize = 64;

/// Submitted and completed frames of a pool, whether the frame being built reads memory yet, and
/// what was written for it.
///
/// The pool counts its own frames: frame 1 is the first that was reported to it, whatever
/// number the device gave that frame. Device numbers are only compared with device numbers,
/// so a pool may be created late, and may miss frames of other pools.
///
/// ```text
///  device   1  2  3  4  5  6  7       4 and 6 belong to another pool
///  pool           1     2     3       completed(5) ─► frame 2 of the pool has completed
/// ```
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// Frames of this pool that were submitted.
    submitted: u64,
    /// Frames of this pool that have completed.
    completed: u64,
    /// The device's number of the last frame of this pool.
    device_number: u64,
    /// Frames of this pool that have not completed, oldest first.
    in_flight: VecDeque<InFlight>,
    /// Whether commands were returned since the last submission.
    commands_returned: AtomicBool,
    /// Number of commands returned since the last submission.
    commands: AtomicUsize,
    /// Whether copies were encoded since the last submission.
    has_copies: bool,
    /// Traffic of the frame being built, and of the last submitted frame.
    traffic: [FrameTraffic; 2],
}

/// Frame that the GPU may not have finished.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    /// The pool's number.
    frame: u64,
    /// The device's number.
    device_number: u64,
}

impl Frames {
    /// Records that commands were returned for drawing, whether new or reused. Memory that is freed
    /// afterwards may be read by the frame being built.
    #[inline]
    pub(crate) fn note_commands_returned(&self, count: usize) {
        self.commands_returned.store(true, Ordering::Relaxed);
        self.commands.fetch_add(count, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) const fn note_uploaded(&mut self, bytes: usize) {
        self.traffic[0].uploaded_bytes += bytes as u64;
    }

    /// Records that a copy of elements was encoded.
    pub(crate) const fn note_moved(&mut self, bytes: u64) {
        self.has_copies = true;
        self.traffic[0].moved_bytes += bytes;
        self.traffic[0].moves += 1;
    }

    /// Records the submission of the frame being built, as frame `device_number` of the device.
    /// Ignores a `device_number` that is not higher than the last.
    pub(crate) fn submit(&mut self, device_number: u64) {
        if device_number <= self.device_number {
            return;
        }
        self.device_number = device_number;
        self.submitted += 1;
        if self.in_flight.len() >= MAX_STORED_FRAMES {
            self.in_flight.pop_back();
        }
        self.in_flight.push_back(InFlight { frame: self.submitted, device_number });
        self.has_copies = false;
        *self.commands_returned.get_mut() = false;
        let commands = core::mem::take(self.commands.get_mut()) as u64;
        let [current, last] = &mut self.traffic;
        *last = FrameTraffic { commands, ..core::mem::take(current) };
    }

    /// Records that the device has completed its frames up to `device_number`.
    pub(crate) fn complete(&mut self, device_number: u64) {
        while let Some(done) =
            self.in_flight.front().filter(|frame| frame.device_number <= device_number)
        {
            self.completed = done.frame;
            self.in_flight.pop_front();
        }
    }

    /// Returns the frame being built.
    #[inline]
    pub(crate) const fn current(&self) -> u64 {
        self.submitted + 1
    }

    pub(crate) const fn submitted(&self) -> u64 {
        self.submitted
    }

    #[inline]
    pub(crate) const fn completed(&self) -> u64 {
        self.completed
    }

    /// Returns the last frame that can read memory that is freed now. If commands were returned or
    /// copies were encoded, this is the frame being built.
    #[inline]
    pub(crate) fn last_reader(&self) -> u64 {
        let is_read = self.has_copies || self.commands_returned.load(Ordering::Relaxed);
        self.submitted + u64::from(is_read)
    }

    /// Traffic of the last submitted frame.
    pub(crate) const fn last_traffic(&self) -> FrameTraffic {
        self.traffic[1]
    }

    /// Returns whether the number of stored frames is within its limit.
    #[cfg(test)]
    pub(crate) fn is_short(&self) -> bool {
        self.in_flight.len() <= MAX_STORED_FRAMES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_device_are_mapped_to_frames_of_the_pool() {
        let mut frames = Frames::default();
        [4, 6, 6, 9].into_iter().for_each(|number| frames.submit(number));
        assert_eq!((frames.submitted(), frames.completed()), (3, 0));
        frames.complete(8);
        assert_eq!((frames.completed(), frames.last_reader()), (2, 3));
        frames.note_commands_returned(5);
        assert_eq!(frames.last_reader(), 4, "the frame being built reads memory now");
        frames.submit(10);
        assert_eq!((frames.last_reader(), frames.last_traffic().commands), (4, 5));
    }
}
