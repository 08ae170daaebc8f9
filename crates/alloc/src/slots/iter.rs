use core::slice;

use super::{Handle, Slot};
use crate::bit_tree::WORD_BITS;

/// The bits of up to 64 slots that are in use. No branch depends on a slot.
#[inline]
fn live_bits<T>(slots: &[Slot<T>]) -> u64 {
    let bit = |(at, slot): (usize, &Slot<T>)| u64::from(matches!(slot, Slot::Live { .. })) << at;
    slots.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit)
}

/// The live values of a [`Slots`](super::Slots) with their handles, by slot number.
#[derive(Clone, Debug)]
pub struct SlotIter<'a, T> {
    /// The slots of the word at hand, and after it.
    chunk: &'a [Slot<T>],
    rest: &'a [Slot<T>],
    /// Which slots of the chunk are still to come.
    word: u64,
    left: u32,
}

impl<'a, T> SlotIter<'a, T> {
    pub(super) fn new(slots: &'a [Slot<T>], len: u32) -> Self {
        Self { chunk: &[], rest: slots, word: 0, left: len }
    }

    /// Goes on to the next 64 slots.
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

/// The live values of a [`Slots`](super::Slots) with their handles, by slot number, to be
/// changed.
#[derive(Debug)]
pub struct SlotIterMut<'a, T> {
    /// What is left of the slots of the word at hand.
    chunk: slice::IterMut<'a, Slot<T>>,
    chunks: slice::ChunksMut<'a, Slot<T>>,
    /// Which slots of `chunk` are still to come: bit 0 is its next one.
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
        // Two shifts: all 64 bits may be done with.
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
