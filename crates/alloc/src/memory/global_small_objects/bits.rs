use core::sync::atomic::{AtomicU64, Ordering};

#[cfg(all(test, feature = "std"))]
mod tests;

/// Slots of one word.
pub(super) const WORD_BITS: usize = u64::BITS as usize;
const ALL_USED: u64 = u64::MAX;

/// A word that threads share: an atomic of the machine, or that of a model checker.
pub(super) trait Word {
    fn load(&self, order: Ordering) -> u64;
    fn set(&self, bits: u64, order: Ordering) -> u64;
    fn clear(&self, bits: u64, order: Ordering) -> u64;
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
}

/// Which slots of a class are taken, for many threads at once and without a lock.
///
/// ```text
///  full    0 0 1 0 …                         bit = every slot of the word is taken
///  words   [0010…] [0000…] [1111…] [0…] …    bit = slot is taken
/// ```
/// A slot belongs to the thread whose `fetch_or` turned its bit from 0 to 1, until a
/// `fetch_and` turns it back; so no two threads ever own one. Taking is an *acquire* and
/// giving back a *release*: what the last owner did to the slot has happened before the
/// next one gets it.
///
/// The bits of `full` only spare a search. The rule is that a word which is full may lack
/// its bit, but one that stays open may not keep it, or its slots would be lost. Whoever
/// fills a word sets the bit and then looks again whether the word is still full; whoever
/// opens a full word clears the bit. If the clearing comes before the setting, the setter
/// has read the clearer's write and sees the open word when it looks again; if it comes
/// after, the bit ends up clear. The model checker of the tests goes through all of it.
#[derive(Clone, Copy)]
pub(super) struct SlotBits<'a, W> {
    /// A bit a slot. What is beyond the last slot counts as taken.
    words: &'a [W],
    /// A bit a word. What is beyond the last word counts as full.
    full: &'a [W],
}

/// Slots of one word that were taken at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) word: usize,
    /// The bits of the slots; never none.
    pub(super) slots: u64,
}

/// How much of a word to take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// Its lowest free slot.
    Lowest,
    /// All its free slots.
    All,
}

impl<'a, W: Word> SlotBits<'a, W> {
    /// Over words that are all 0, of which only the first `slots` bits are slots.
    pub(super) fn new(words: &'a [W], full: &'a [W], slots: usize) -> Self {
        mark_from(words, slots);
        mark_from(full, words.len());
        Self { words, full }
    }

    /// Words of the summary: where a search may start.
    pub(super) fn start_count(&self) -> usize {
        self.full.len()
    }

    /// The word of the summary that a slot's word stands in.
    pub(super) fn start_of(word: usize) -> usize {
        word / WORD_BITS
    }

    /// Takes free slots of the first word that has any, searching from word `start` of the
    /// summary and, past the end, from 0 on. `None` if no slot was free where it looked, at
    /// the time when it looked.
    pub(super) fn claim(&self, share: Share, start: usize) -> Option<Claim> {
        let count = self.start_count();
        (0..count).find_map(|step| {
            let index = (start + step) % count;
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

    /// The slots of one word that we could take.
    fn take(&self, word: usize, share: Share) -> u64 {
        let free = !self.words[word].load(Ordering::Relaxed);
        let wanted = if share == Share::All { free } else { free & free.wrapping_neg() };
        let before =
            if wanted == 0 { ALL_USED } else { self.words[word].set(wanted, Ordering::Acquire) };
        if before | wanted == ALL_USED {
            self.note_full(word);
        }
        wanted & !before
    }

    fn note_full(&self, word: usize) {
        let (full, bit) = (&self.full[word / WORD_BITS], 1 << (word % WORD_BITS));
        full.set(bit, Ordering::AcqRel);
        if self.words[word].load(Ordering::Relaxed) != ALL_USED {
            full.clear(bit, Ordering::AcqRel);
        }
    }

    /// Gives slots of a word back; `true` if the word was full. `Err` with those that were
    /// free, if any: somebody gave them back before.
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

/// Sets all bits from `first` on.
fn mark_from<W: Word>(words: &[W], first: usize) {
    for (index, word) in words.iter().enumerate() {
        let below = first.saturating_sub(index * WORD_BITS);
        if below < WORD_BITS {
            word.set(ALL_USED << below, Ordering::Relaxed);
        }
    }
}
