//! Memory of free slots that is returned to the system.

use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::bits::{Claim, SlotBits, WORD_BITS};
use super::pages;

/// Number of bytes of free slots from which on a class is trimmed without a request.
const EXCESSIVE_BYTES: usize = 1 << 20;

/// Words of slots that are *touched*: their memory may be resident. A word is touched from the first
/// claim of one of its slots until its memory is returned to the system.
///
/// A thread that trims first takes all slots of a free word, as a claim would. So no other thread
/// owns one of them while the system takes their pages.
pub(super) struct Touched {
    /// One bit per word of slots.
    words: &'static [AtomicU64],
    /// Most slots that were claimed at once since the class was last trimmed.
    high: AtomicUsize,
    /// Whether a thread is trimming.
    is_busy: AtomicBool,
}

impl Touched {
    /// Creates it from words that are all zero.
    pub(super) fn new(words: &'static [AtomicU64]) -> Self {
        Self { words, high: AtomicUsize::new(0), is_busy: AtomicBool::new(false) }
    }

    /// Marks a word before its slots are used. `claimed` is the number of claimed slots of the class.
    #[inline]
    pub(super) fn note_claim(&self, word: usize, claimed: usize) {
        let (words, bit) = (&self.words[word / WORD_BITS], 1 << (word % WORD_BITS));
        // The claim is an acquire: if the word was trimmed, this load finds the bit clear.
        if words.load(Ordering::Relaxed) & bit == 0 {
            words.fetch_or(bit, Ordering::Relaxed);
        }
        if claimed > self.high.load(Ordering::Relaxed) {
            self.high.fetch_max(claimed, Ordering::Relaxed);
        }
    }

    /// Whether less than half of the memory that was used since the last trim is still in use, and the
    /// rest is worth a search.
    #[inline]
    pub(super) fn is_excessive(&self, used_bytes: usize, slot_bytes: usize) -> bool {
        let high_bytes = self.high.load(Ordering::Relaxed) * slot_bytes;
        used_bytes < high_bytes / 2 && high_bytes - used_bytes >= EXCESSIVE_BYTES
    }

    /// Returns the pages of touched words without used slots, among those below the first `end`
    /// words of the summary. `slots` are the start of the slots and their size. Returns the number of
    /// bytes; 0 if another thread is doing the same.
    pub(super) fn trim(
        &self,
        bits: &SlotBits<'_, AtomicU64>,
        slots: (NonNull<u8>, usize),
        end: usize,
        claimed: usize,
    ) -> usize {
        if self.is_busy.swap(true, Ordering::Acquire) {
            return 0;
        }
        self.high.store(claimed, Ordering::Relaxed);
        let page_bytes = pages::page_bytes();
        let bytes = (0..end)
            .filter(|group| self.words[*group].load(Ordering::Relaxed) != 0)
            .map(|group| self.trim_group(bits, slots, group, page_bytes))
            .sum();
        self.is_busy.store(false, Ordering::Release);
        bytes
    }

    fn trim_group(
        &self,
        bits: &SlotBits<'_, AtomicU64>,
        (start, slot_bytes): (NonNull<u8>, usize),
        group: usize,
        page_bytes: usize,
    ) -> usize {
        let free = bits.take_free_words(group);
        let touched = self.words[group].load(Ordering::Relaxed);
        let word_bytes = WORD_BITS * slot_bytes;
        let group_start = group * WORD_BITS * word_bytes;
        let mut bytes = 0;
        for run in runs(free).filter(|run| mask(run) & touched != 0) {
            let from = (run.start * word_bytes).next_multiple_of(page_bytes);
            let to = run.end * word_bytes / page_bytes * page_bytes;
            if from >= to {
                continue;
            }
            // SAFETY: the bytes are in the section, and belong to slots that this thread has taken.
            // The section's memory is from `pages::reserve`, and starts with a page.
            let is_released = unsafe { pages::release(start.add(group_start + from), to - from) };
            if is_released {
                let whole = from.div_ceil(word_bytes)..to / word_bytes;
                self.words[group].fetch_and(!mask(&whole), Ordering::Relaxed);
                bytes += to - from;
            }
        }
        for bit in (0..WORD_BITS).filter(|bit| free & (1 << bit) != 0) {
            let word = group * WORD_BITS + bit;
            let is_full = bits.release(Claim { word, slots: u64::MAX });
            debug_assert_eq!(is_full, Ok(true));
        }
        bytes
    }
}

/// Iterates over the ranges of consecutive bits.
fn runs(mut bits: u64) -> impl Iterator<Item = Range<usize>> {
    core::iter::from_fn(move || {
        let start = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        let run = start..start + (bits >> start).trailing_ones() as usize;
        bits &= !mask(&run);
        Some(run)
    })
}

/// Returns a word with the bits of a range, which may be empty.
fn mask(bits: &Range<usize>) -> u64 {
    if bits.is_empty() {
        return 0;
    }
    (u64::MAX >> (WORD_BITS - bits.len())) << bits.start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_ranges_of_set_bits() {
        for bits in [0, 1, u64::MAX, 1 << 63, 0xF0F0_0000_0000_000F, !1, u64::MAX >> 1] {
            let mut rest = bits;
            let mut end = 0;
            for run in runs(bits) {
                assert!(!run.is_empty() && (run.start > end || run.start == 0), "{bits:x} {run:?}");
                assert!(run.end == 64 || bits & (1 << run.end) == 0);
                end = run.end;
                assert_eq!(rest & mask(&run), mask(&run));
                rest &= !mask(&run);
            }
            assert_eq!(rest, 0, "{bits:x}");
        }
        assert_eq!(mask(&(3..3)), 0);
    }
}
