//! A ring buffer: each frame allocates ranges, and frees all of them when it is complete.

use std::{collections::VecDeque, ops::Range};

/// Allocator of ranges in a ring buffer.
///
/// ```text
/// 0   tail     head   capacity
/// │ free │ in use  │ free │      both only rise; offsets are modulo capacity
/// ```
pub(super) struct Ring {
    capacity: u64,
    /// Number of bytes ever allocated, including those skipped at the end of a round.
    head: u64,
    /// Number of those bytes that are free again.
    tail: u64,
    /// Frames with allocated ranges: their number, and `head` at their end.
    frames: VecDeque<(u64, u64)>,
}

impl Ring {
    pub(super) const fn new(capacity: u64) -> Self {
        Self { capacity, head: 0, tail: 0, frames: VecDeque::new() }
    }

    /// Allocates a range of `size_bytes` at a multiple of `alignment` and returns its offset, or
    /// `None` when it is not free now.
    pub(super) fn allocate(&mut self, size_bytes: u64, alignment: u64) -> Option<u64> {
        let round = self.head - self.head % self.capacity;
        let offset = (self.head - round).next_multiple_of(alignment);
        let (start, offset) = match offset.checked_add(size_bytes)? <= self.capacity {
            true => (round + offset, offset),
            false => (round + self.capacity, 0),
        };
        let end = start.checked_add(size_bytes)?;
        if size_bytes > self.capacity || end - self.tail > self.capacity {
            return None;
        }
        self.head = end;
        Some(offset)
    }

    /// Free bytes from the next offset on, without wrapping.
    pub(super) fn free_range(&self) -> Range<u64> {
        let start = self.head % self.capacity;
        let free = self.capacity - (self.head - self.tail);
        start..(start + free).min(self.capacity)
    }

    /// Assigns all ranges allocated since the last call to `frame`.
    pub(super) fn end_frame(&mut self, frame: u64) {
        let before = self.frames.back().map_or(self.tail, |&(_, head)| head);
        if before != self.head {
            self.frames.push_back((frame, self.head));
        }
    }

    /// Frees the ranges of the frames up to `frame`.
    pub(super) fn complete(&mut self, frame: u64) {
        while let Some(&(_, head)) = self.frames.front().filter(|(number, _)| *number <= frame) {
            self.tail = head;
            self.frames.pop_front();
        }
        if self.tail == self.head {
            // No bytes are in use: begin a round, so that the longest range fits.
            let round = self.head.next_multiple_of(self.capacity);
            (self.head, self.tail) = (round, round);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_are_freed_when_their_frame_is_complete() {
        let mut ring = Ring::new(100);
        assert_eq!(ring.allocate(40, 1), Some(0));
        ring.end_frame(1);
        assert_eq!(ring.allocate(40, 16), Some(48));
        ring.end_frame(2);
        assert_eq!(ring.allocate(20, 1), None);
        assert_eq!(ring.free_range(), 88..100);
        ring.complete(1);
        // Not enough at the end: the next round begins.
        assert_eq!(ring.allocate(20, 1), Some(0));
        assert_eq!(ring.allocate(21, 1), None);
        ring.complete(2);
        ring.end_frame(3);
        assert_eq!(ring.allocate(81, 1), None);
        ring.complete(3);
        assert_eq!(ring.allocate(101, 1), None);
        assert_eq!(ring.allocate(u64::MAX, 1), None);
        assert_eq!(ring.allocate(100, 1), Some(0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// Bytes of unfinished frames are never allocated again.
        #[test]
        fn places_in_use_do_not_overlap(
            capacity in 1_u64..200,
            steps in prop::collection::vec((0_u64..90, 0_u32..5, 0_u64..4), 1..60),
        ) {
            let mut ring = Ring::new(capacity);
            let mut used: Vec<(u64, Range<u64>)> = Vec::new();
            let mut frame = 1;
            for (size, shift, lag) in steps {
                let alignment = 1_u64 << shift;
                if let Some(offset) = ring.allocate(size, alignment) {
                    prop_assert!(offset % alignment == 0 && offset + size <= capacity);
                    let range = offset..offset + size;
                    for (_, other) in &used {
                        prop_assert!(range.end <= other.start || other.end <= range.start
                            || range.is_empty() || other.is_empty());
                    }
                    used.push((frame, range));
                }
                let free = ring.free_range();
                prop_assert!(free.end <= capacity);
                for (_, other) in &used {
                    prop_assert!(free.end <= other.start || other.end <= free.start
                        || free.is_empty() || other.is_empty());
                }
                if size % 3 == 0 {
                    ring.end_frame(frame);
                    frame += 1;
                    let done = frame.saturating_sub(lag + 1);
                    ring.complete(done);
                    used.retain(|(number, _)| *number > done);
                }
            }
        }
    }
}
