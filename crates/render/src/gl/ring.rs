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
mod tests;
