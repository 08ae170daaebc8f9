use core::ops::Range;

use crate::bit_tree::WORD_BITS;

/// Leaves of a space. In the leaves from `exact` on, which are not written yet, every slot below
/// the high-water mark is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaves<'a> {
    pub(super) words: &'a [u64],
    pub(super) exact: usize,
}

impl Leaves<'_> {
    /// Returns the free slots of a leaf, and possibly slots above the high-water mark.
    #[inline]
    fn get(&self, leaf: usize) -> Option<u64> {
        let word = *self.words.get(leaf)?;
        Some(if leaf < self.exact { word } else { 0 })
    }
}

/// Iterator over the used indices of an [`AddressSpace`](super::AddressSpace), in ascending order.
#[derive(Clone, Debug)]
pub struct UsedIndices<'a> {
    leaves: Leaves<'a>,
    end: u32,
    /// Current leaf, and its slots that are still to be visited.
    leaf: usize,
    word: u64,
}

impl<'a> UsedIndices<'a> {
    pub(super) fn new(leaves: Leaves<'a>, end: u32) -> Self {
        Self { leaves, end, leaf: 0, word: leaves.get(0).map_or(0, |free| !free) }
    }
}

impl Iterator for UsedIndices<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            self.leaf += 1;
            self.word = !self.leaves.get(self.leaf)?;
        }
        let index = (self.leaf * WORD_BITS) as u32 + self.word.trailing_zeros();
        self.word &= self.word - 1;
        // Slots beyond the limit count as used here, but they are above the high-water mark.
        (index < self.end).then_some(index)
    }
}

/// Iterator over the runs of free indices of an [`AddressSpace`](super::AddressSpace), in ascending
/// order.
#[derive(Clone, Debug)]
pub struct IndexGaps<'a> {
    leaves: Leaves<'a>,
    /// One past the highest used index.
    end: u32,
    at: u32,
}

impl<'a> IndexGaps<'a> {
    pub(super) const fn new(leaves: Leaves<'a>, end: u32) -> Self {
        Self { leaves, end, at: 0 }
    }

    /// Returns the first index from `at` on whose bit, after an XOR with `flip`, is set. Returns
    /// `end` if there is none below it.
    fn seek(&self, at: u32, flip: u64) -> u32 {
        let first = at as usize / WORD_BITS;
        let mut mask = u64::MAX << (at as usize % WORD_BITS);
        for leaf in first..self.leaves.words.len() {
            let found = (self.leaves.get(leaf).unwrap_or(0) ^ flip) & mask;
            if found != 0 {
                return ((leaf * WORD_BITS) as u32 + found.trailing_zeros()).min(self.end);
            }
            mask = u64::MAX;
        }
        self.end
    }
}

impl Iterator for IndexGaps<'_> {
    type Item = Range<u32>;

    fn next(&mut self) -> Option<Range<u32>> {
        let start = self.seek(self.at, 0);
        if start >= self.end {
            return None;
        }
        let end = self.seek(start, u64::MAX);
        self.at = end;
        Some(start..end)
    }
}
