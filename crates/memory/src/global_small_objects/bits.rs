use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

#[cfg(all(test, feature = "std"))]
mod tests;

/// Number of slots of one word.
pub(super) const WORD_BITS: usize = u64::BITS as usize;
const ALL_USED: u64 = u64::MAX;

/// Word shared by threads: a machine atomic, or that of a model checker.
pub(super) trait Word {
    fn load(&self, order: Ordering) -> u64;
    fn set(&self, bits: u64, order: Ordering) -> u64;
    fn clear(&self, bits: u64, order: Ordering) -> u64;
    /// Sets all bits if none is set. Returns whether it did.
    #[cfg(any(feature = "pages", all(test, feature = "std")))]
    fn fill_if_empty(&self, order: Ordering) -> bool;
}

impl Word for AtomicU64 {
    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    #[inline]
    fn set(&self, bits: u64, order: Ordering) -> u64 {
        self.fetch_or(bits, order)
    }

    #[inline]
    fn clear(&self, bits: u64, order: Ordering) -> u64 {
        self.fetch_and(!bits, order)
    }

    #[cfg(any(feature = "pages", all(test, feature = "std")))]
    #[inline]
    fn fill_if_empty(&self, order: Ordering) -> bool {
        self.compare_exchange(0, ALL_USED, order, Ordering::Relaxed).is_ok()
    }
}

/// Bits of the used slots of a class, for many threads at once and without a lock.
///
/// ```text
///  full    0 0 1 0 …                         bit = all slots of the word are taken
///  words   [0010…] [0000…] [1111…] [0…] …    bit = slot is taken
/// ```
/// A slot belongs to the thread whose `fetch_or` changed its bit from 0 to 1, until a `fetch_and`
/// changes it back. No two threads ever own one slot. Taking is an *acquire* and releasing a
/// *release*: all writes of the last owner happen before the next owner gets the slot.
///
/// The bits of `full` only shorten the search. A full word may lack its bit, but an open word must
/// not keep it, or its slots would be lost. A thread that fills a word sets the bit and then checks
/// again whether the word is still full. A thread that opens a full word clears the bit. If the
/// clearing comes before the setting, the setter has read that write and its second check finds the
/// open word. If it comes after, the bit ends up clear. The tests verify all interleavings with a
/// model checker.
#[derive(Clone, Copy)]
pub(super) struct SlotBits<'a, W> {
    /// One bit per slot. Bits beyond the last slot are set.
    words: &'a [W],
    /// One bit per word. Bits beyond the last word are set.
    full: &'a [W],
}

/// Slots of one word that were taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) word: usize,
    /// Bits of the slots; never 0.
    pub(super) slots: u64,
}

/// Number of slots to take from a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// The lowest free slot.
    Lowest,
    /// All free slots.
    All,
}

impl<'a, W: Word> SlotBits<'a, W> {
    /// Creates the bits from words that are all 0. Only the first `slots` bits are slots.
    pub(super) fn new(words: &'a [W], full: &'a [W], slots: usize) -> Self {
        mark_from(words, slots);
        mark_from(full, words.len());
        Self { words, full }
    }

    /// Number of words of the summary. A search may start at any of them.
    pub(super) fn start_count(&self) -> usize {
        self.full.len()
    }

    /// Returns the word of the summary with the bit of `word`.
    pub(super) fn start_of(word: usize) -> usize {
        word / WORD_BITS
    }

    /// Takes free slots of the first word that has any. Searches the words of the summary in `likely`,
    /// then those before it, then those behind it. `None` if the search found no free slot.
    pub(super) fn claim(&self, share: Share, likely: Range<usize>) -> Option<Claim> {
        let Range { start, end } = likely;
        (start..end).chain(0..start).chain(end..self.start_count()).find_map(|index| {
            let mut open = !self.full[index].load(Ordering::Relaxed);
            while open != 0 {
                let word = index * WORD_BITS + open.trailing_zeros() as usize;
                let slots = self.take(word, share);
                if slots != 0 {
                    return Some(Claim { word, slots });
                }
                open &= open - 1;
            }
            None
        })
    }

    /// Takes all slots of those of `words` below word `index` of the summary that have none in use, and
    /// returns these words. To be released like the slots of a claim.
    #[cfg(any(feature = "pages", all(test, feature = "std")))]
    pub(super) fn take_free_words(&self, index: usize, words: u64) -> u64 {
        let is_free =
            |word: &W| word.load(Ordering::Relaxed) == 0 && word.fill_if_empty(Ordering::Acquire);
        let all = self.words[index * WORD_BITS..].iter().take(WORD_BITS).enumerate();
        all.filter(|(bit, word)| words & (1 << bit) != 0 && is_free(word))
            .fold(0, |taken, (bit, _)| taken | 1 << bit)
    }

    /// Takes slots of one word, and returns those that were free.
    fn take(&self, word: usize, share: Share) -> u64 {
        let free = !self.words[word].load(Ordering::Relaxed);
        let requested = if share == Share::All { free } else { free & free.wrapping_neg() };
        let before = if requested == 0 {
            ALL_USED
        } else {
            self.words[word].set(requested, Ordering::Acquire)
        };
        if before | requested == ALL_USED {
            self.mark_full(word);
        }
        requested & !before
    }

    fn mark_full(&self, word: usize) {
        let (full, bit) = (&self.full[word / WORD_BITS], 1 << (word % WORD_BITS));
        full.set(bit, Ordering::AcqRel);
        if self.words[word].load(Ordering::Relaxed) != ALL_USED {
            full.clear(bit, Ordering::AcqRel);
        }
    }

    /// Releases slots of a word. Returns whether the word was full. `Err` has the slots that were
    /// already free: a double free.
    pub(super) fn release(&self, claim: Claim) -> Result<bool, u64> {
        let Claim { word, slots } = claim;
        let before = self.words[word].clear(slots, Ordering::AcqRel);
        if before & slots != slots {
            return Err(slots & !before);
        }
        if before == ALL_USED {
            let (full, bit) = (&self.full[word / WORD_BITS], 1 << (word % WORD_BITS));
            full.clear(bit, Ordering::AcqRel);
        }
        Ok(before == ALL_USED)
    }
}

/// Sets all bits from `first` on. Only writes to words with such bits.
fn mark_from<W: Word>(words: &[W], first: usize) {
    let index = (first / WORD_BITS).min(words.len());
    let mut bits = ALL_USED << (first % WORD_BITS);
    for word in &words[index..] {
        word.set(bits, Ordering::Relaxed);
        bits = ALL_USED;
    }
}
