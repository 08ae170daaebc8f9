//! Memory of free slots that is returned to the system.

use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::bits::{Claim, SlotBits, WORD_BITS};
use super::misuse::freed_twice;
use super::pages;

/// Bytes of free slots that make a class trim itself.
const EXCESSIVE_BYTES: usize = 1 << 20;
/// Limits of what a class trims at once by itself, so that no free takes long: bytes, and words of the
/// summary.
const TRIMMED_BYTES: usize = 4 << 20;
const TRIMMED_GROUPS: usize = 16;

/// Words of slots that are *touched*: their memory may be resident. A word is touched from the first
/// claim of one of its slots until it is trimmed: until the pages that it shares with no used slots are
/// returned to the system.
///
/// A thread that trims first takes all slots of a free word, as a claim would. So no other thread
/// owns one of them while the system takes their pages.
///
/// # Limits
/// The words below one word of the summary are trimmed together. Where the system has pages of 64 KiB, a
/// page that is also below the next one stays resident.
pub(super) struct Touched {
    /// One bit per word of slots.
    words: &'static [AtomicU64],
    /// Most slots that were claimed at once since a trim began.
    high: AtomicUsize,
    /// Word of the summary where a trim continues; 0 if none has begun.
    next: AtomicUsize,
    /// Whether a thread is trimming.
    is_busy: AtomicBool,
}

/// Slots of a class that may be trimmed.
pub(super) struct Slots<'a> {
    pub(super) bits: &'a SlotBits<'static, AtomicU64>,
    /// First slot, at the start of a page.
    pub(super) start: NonNull<u8>,
    pub(super) slot_bytes: usize,
    /// Number of words of the summary, from the first one on.
    pub(super) groups: &'a AtomicUsize,
    /// Number of claimed slots.
    pub(super) claimed: &'a AtomicUsize,
}

/// Part of a class that is trimmed at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// A few words of the summary, from the one on where the last trim ended.
    Few,
}

impl Touched {
    /// Creates it from words that are all zero.
    pub(super) fn new(words: &'static [AtomicU64]) -> Self {
        Self {
            words,
            high: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            is_busy: AtomicBool::new(false),
        }
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

    /// Whether a trim has begun, or less than half of the slots that were claimed since the last one
    /// still are, and the rest is worth a search.
    #[inline]
    pub(super) fn is_excessive(&self, claimed: usize, slot_bytes: usize) -> bool {
        let high = self.high.load(Ordering::Relaxed);
        let is_much = claimed < high / 2 && (high - claimed) * slot_bytes >= EXCESSIVE_BYTES;
        is_much || self.next.load(Ordering::Relaxed) != 0
    }

    /// Returns pages of free slots to the system. Returns the number of their bytes; `None` if another
    /// thread is trimming.
    pub(super) fn trim(&self, slots: &Slots<'_>, part: Part) -> Option<usize> {
        if self.is_busy.swap(true, Ordering::Acquire) {
            return None;
        }
        let group_bytes = WORD_BITS * WORD_BITS * slots.slot_bytes;
        let (start, count) = match part {
            Part::All => (0, usize::MAX),
            Part::Few => (
                self.next.load(Ordering::Relaxed),
                (TRIMMED_BYTES / group_bytes).clamp(1, TRIMMED_GROUPS),
            ),
        };
        if start == 0 {
            self.high.store(slots.claimed.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        let page_bytes = pages::page_bytes();
        let mut groups = start..slots.groups.load(Ordering::Relaxed);
        let is_touched = |group: &usize| self.words[*group].load(Ordering::Relaxed) != 0;
        let touched = groups.by_ref().filter(is_touched).take(count);
        let bytes = touched.map(|group| self.trim_group(slots, group, page_bytes)).sum();
        let next = if groups.is_empty() { 0 } else { groups.start };
        self.next.store(next, Ordering::Relaxed);
        self.is_busy.store(false, Ordering::Release);
        Some(bytes)
    }

    fn trim_group(&self, slots: &Slots<'_>, group: usize, page_bytes: usize) -> usize {
        let word_bytes = WORD_BITS * slots.slot_bytes;
        // Touched words, and those that share a page with one.
        let beside = page_bytes.div_ceil(word_bytes).min(WORD_BITS - 1);
        let touched = self.words[group].load(Ordering::Relaxed);
        let words = (0..beside).fold(touched, |words, _| words | words << 1 | words >> 1);
        let free = slots.bits.take_free_words(group, words);
        let touched = self.words[group].load(Ordering::Relaxed);
        let bytes_of = |words: Range<usize>| {
            let first = group * WORD_BITS;
            (first + words.start) * word_bytes..(first + words.end) * word_bytes
        };
        let mut returned_bytes = 0;
        for run in runs(free) {
            let mut whole = pages_within(bytes_of(run.clone()), page_bytes);
            for words in runs(touched & mask(&run)) {
                let Range { start, end } = pages_around(bytes_of(words.clone()), page_bytes);
                let bytes = start.max(whole.start)..end.min(whole.end);
                // SAFETY: the pages are whole ones of the section, which begins with a page of
                // `pages::reserve`. They belong to slots that this thread has taken.
                let is_returned = bytes.is_empty()
                    || unsafe { pages::release(slots.start.add(bytes.start), bytes.len()) };
                if is_returned {
                    // A page that is shared with a used word is returned with that word.
                    self.words[group].fetch_and(!mask(&words), Ordering::Relaxed);
                    returned_bytes += bytes.len();
                    whole.start = whole.start.max(bytes.end);
                }
            }
        }
        for bit in (0..WORD_BITS).filter(|bit| free & (1 << bit) != 0) {
            let word = group * WORD_BITS + bit;
            if slots.bits.release(Claim { word, slots: u64::MAX }).is_err() {
                freed_twice(slots.slot_bytes);
            }
        }
        returned_bytes
    }
}

/// Returns the bytes of the whole pages in a range.
fn pages_within(bytes: Range<usize>, page_bytes: usize) -> Range<usize> {
    bytes.start.next_multiple_of(page_bytes)..bytes.end / page_bytes * page_bytes
}

/// Returns the bytes of the pages that a range is in.
fn pages_around(bytes: Range<usize>, page_bytes: usize) -> Range<usize> {
    bytes.start / page_bytes * page_bytes..bytes.end.next_multiple_of(page_bytes)
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

/// Returns a word with the bits of a range, which is not empty.
fn mask(bits: &Range<usize>) -> u64 {
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
    }

    #[test]
    fn pages_of_a_range_are_whole() {
        let kib = |[start, end]: [usize; 2]| start << 10..end << 10;
        for (bytes, page_kib, within, around) in [
            ([0, 4], 4, [0, 4], [0, 4]),
            ([1, 9], 4, [4, 8], [0, 12]),
            // Within no whole page.
            ([1, 3], 4, [4, 0], [0, 4]),
            ([24, 96], 16, [32, 96], [16, 96]),
            ([32, 64], 64, [64, 64], [0, 64]),
            ([32, 200], 64, [64, 192], [0, 256]),
        ] {
            let page_bytes = page_kib << 10;
            assert_eq!(pages_within(kib(bytes), page_bytes), kib(within));
            assert_eq!(pages_around(kib(bytes), page_bytes), kib(around));
        }
    }
}
