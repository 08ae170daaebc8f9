use core::slice;

use super::{Handle, Slot};
use crate::bit_tree::WORD_BITS;

/// The numbers of the set bits, in rising order.
#[derive(Clone, Debug)]
struct SetBits<'a> {
    words: slice::Iter<'a, u64>,
    /// What is left of the word that the bits come from.
    word: u64,
    /// The number of that word's first bit.
    base: usize,
}

impl<'a> SetBits<'a> {
    fn new(words: &'a [u64]) -> Self {
        Self { words: words.iter(), word: 0, base: 0usize.wrapping_sub(WORD_BITS) }
    }

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.word = *self.words.next()?;
            self.base = self.base.wrapping_add(WORD_BITS);
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(self.base + bit)
    }
}

/// The live values of a [`Slots`](super::Slots) with their handles, by slot number.
#[derive(Clone, Debug)]
pub struct SlotIter<'a, T> {
    slots: &'a [Slot<T>],
    used: SetBits<'a>,
    left: u32,
}

impl<'a, T> SlotIter<'a, T> {
    pub(super) fn new(slots: &'a [Slot<T>], used: &'a [u64], len: u32) -> Self {
        Self { slots, used: SetBits::new(used), left: len }
    }
}

impl<'a, T> Iterator for SlotIter<'a, T> {
    type Item = (Handle<T>, &'a T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.used.next()?;
        self.left = self.left.saturating_sub(1);
        match self.slots.get(index)? {
            Slot::Live { generation, value } => {
                Some((Handle::new(index as u32, *generation), value))
            }
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
    /// From slot `next_slot` on.
    slots: slice::IterMut<'a, Slot<T>>,
    next_slot: usize,
    used: SetBits<'a>,
    left: u32,
}

impl<'a, T> SlotIterMut<'a, T> {
    pub(super) fn new(slots: &'a mut [Slot<T>], used: &'a [u64], len: u32) -> Self {
        Self { slots: slots.iter_mut(), next_slot: 0, used: SetBits::new(used), left: len }
    }
}

impl<'a, T> Iterator for SlotIterMut<'a, T> {
    type Item = (Handle<T>, &'a mut T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.used.next()?;
        let slot = self.slots.nth(index - self.next_slot)?;
        self.next_slot = index + 1;
        self.left = self.left.saturating_sub(1);
        match slot {
            Slot::Live { generation, value } => {
                Some((Handle::new(index as u32, *generation), value))
            }
            Slot::Free { .. } => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<T> ExactSizeIterator for SlotIterMut<'_, T> {}
