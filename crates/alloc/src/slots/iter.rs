use core::slice;

use super::{Handle, Slot, Slots};
use crate::bit_tree::WORD_BITS;

/// Returns the bits of the live slots among up to 64. No branch depends on a slot.
#[inline]
fn live_bits<T>(slots: &[Slot<T>]) -> u64 {
    let bit = |(at, slot): (usize, &Slot<T>)| u64::from(matches!(slot, Slot::Live { .. })) << at;
    slots.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit)
}

/// Iterator over the live values of a [`Slots`](super::Slots) with their handles, sorted by slot.
#[derive(Clone, Debug)]
pub struct SlotIter<'a, T> {
    /// Slots of the current word, and the slots after them.
    chunk: &'a [Slot<T>],
    rest: &'a [Slot<T>],
    /// Slots of `chunk` that are still to be visited.
    word: u64,
    left: u32,
}

impl<'a, T> SlotIter<'a, T> {
    pub(super) fn new(slots: &'a [Slot<T>], len: u32) -> Self {
        Self { chunk: &[], rest: slots, word: 0, left: len }
    }

    /// Moves to the next 64 slots.
    fn next_word(&mut self) -> Option<()> {
        if self.rest.is_empty() {
            return None;
        }
        (self.chunk, self.rest) = self.rest.split_at(self.rest.len().min(WORD_BITS));
        self.word = live_bits(self.chunk);
        Some(())
    }
}

impl<'a, T> Iterator for SlotIter<'a, T> {
    type Item = (Handle<T>, &'a T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.word == 0 {
            self.next_word()?;
        }
        let at = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        self.left = self.left.saturating_sub(1);
        match self.chunk.get(at)? {
            Slot::Live { handle, value } => Some((*handle, value)),
            Slot::Free { .. } => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<T> ExactSizeIterator for SlotIter<'_, T> {}

/// Mutable iterator over the live values of a [`Slots`](super::Slots) with their handles, sorted by
/// slot.
#[derive(Debug)]
pub struct SlotIterMut<'a, T> {
    /// Remaining slots of the current word.
    chunk: slice::IterMut<'a, Slot<T>>,
    chunks: slice::ChunksMut<'a, Slot<T>>,
    /// Slots of `chunk` that are still to be visited. Bit 0 is its next slot.
    word: u64,
    left: u32,
}

impl<'a, T> SlotIterMut<'a, T> {
    pub(super) fn new(slots: &'a mut [Slot<T>], len: u32) -> Self {
        let chunks = slots.chunks_mut(WORD_BITS);
        Self { chunk: [].iter_mut(), chunks, word: 0, left: len }
    }
}

impl<'a, T> Iterator for SlotIterMut<'a, T> {
    type Item = (Handle<T>, &'a mut T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.word == 0 {
            let chunk = self.chunks.next()?;
            self.word = live_bits(chunk);
            self.chunk = chunk.iter_mut();
        }
        let skipped = self.word.trailing_zeros() as usize;
        let slot = self.chunk.nth(skipped)?;
        // Two shifts, because the sum may be 64.
        self.word = self.word >> skipped >> 1;
        self.left = self.left.saturating_sub(1);
        match slot {
            Slot::Live { handle, value } => Some((*handle, value)),
            Slot::Free { .. } => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<T> ExactSizeIterator for SlotIterMut<'_, T> {}

/// Iterator that removes all values of a [`Slots`](super::Slots), sorted by slot.
#[derive(Debug)]
pub struct SlotDrain<'a, T> {
    slots: &'a mut Slots<T>,
    /// Index of the next slot to be visited.
    at: usize,
}

impl<'a, T> SlotDrain<'a, T> {
    pub(super) fn new(slots: &'a mut Slots<T>) -> Self {
        Self { slots, at: 0 }
    }
}

impl<T> Iterator for SlotDrain<'_, T> {
    type Item = (Handle<T>, T);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let slot = self.slots.slots.get(self.at)?;
            self.at += 1;
            if let Slot::Live { handle, .. } = *slot {
                return Some((handle, self.slots.remove(handle)?));
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.slots.len as usize, Some(self.slots.len as usize))
    }
}

impl<T> ExactSizeIterator for SlotDrain<'_, T> {}

impl<T> Drop for SlotDrain<'_, T> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}
